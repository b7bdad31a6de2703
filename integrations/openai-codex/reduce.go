package openaicodex

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// reducer is what is known of one session, which is a root thread. Its exported
// fields are the checkpoint; the stretches are read again from the rollouts.
type reducer struct {
	Session string `json:"session,omitempty"`
	Rollout string `json:"rollout,omitempty"`
	Home    string `json:"home,omitempty"`

	Thread  thread            `json:"thread,omitzero"`
	Begun   bool              `json:"begun,omitempty"` // from here on every turn is ours
	From    int64             `json:"from,omitempty"`  // lines before it have been looked at
	Count   int               `json:"count,omitempty"` // turns begun in this thread
	Total   *tokens           `json:"total,omitempty"` // its running total at From
	More    bool              `json:"more,omitempty"`  // something was held back
	Ended   bool              `json:"ended,omitempty"`
	Turns   []*turn           `json:"turns,omitempty"`   // open ones, oldest first
	Closed  []string          `json:"closed,omitempty"`  // the last turns that were closed
	Agents  map[string]*agent `json:"agents,omitempty"`  // by thread
	Parents []parent          `json:"parents,omitempty"` // the last turns that were emitted, of agents too

	Scripts []*script `json:"scripts,omitempty"` // that may outlive their turns

	options integrations.Options
	reader  *reader
	readers map[string]*reader // of subagents, by thread
	// strangers are rollouts that no thread of the session started.
	strangers map[string]bool
	lateOps   []runtypes.Op // of what was read last
	history   map[string][]runtypes.Message
}

// thread is what the first line of a rollout says, as far as runs repeat it.
type thread struct {
	Known    bool   `json:"known,omitempty"`
	Kind     string `json:"kind,omitempty"`   // of a subagent; "" of a root
	Parent   string `json:"parent,omitempty"` // of a subagent
	Name     string `json:"name,omitempty"`   // of a subagent
	CWD      string `json:"cwd,omitempty"`
	Version  string `json:"version,omitempty"`
	Surface  string `json:"surface,omitempty"`
	Provider string `json:"provider,omitempty"`
	Branch   string `json:"branch,omitempty"`
	SHA      string `json:"sha,omitempty"`
	URL      string `json:"url,omitempty"`
}

// Bounds of the checkpoint: what a session keeps of its past.
const (
	maxClosed  = 16
	maxParents = 16
	maxAgents  = 48
)

// maxOps bounds the bytes of runs that one event gives, but for the turn that exceeds
// it: a drainer that comes late may find a rollout of any size.
const maxOps = 4 << 20

// maxPiece bounds the bytes of a turn that are read at once: each call repeats what was
// said before it, so that they may give many times as many bytes of runs.
const maxPiece = 512 << 10

func sizeOf(ops []runtypes.Op) int {
	n := 0
	for _, op := range ops {
		n += len(op.Run.Inputs) + len(op.Run.Outputs)
	}
	return n
}

func newReducer(o integrations.Options) *reducer { return &reducer{options: o} }

// Apply implements integrations.Reducer.
func (r *reducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	r.init()
	switch e.Kind {
	case integrations.Grew:
		return r.advance(src, true)
	case integrations.Idle:
		return r.idle(src)
	case integrations.Dead:
		return r.dead(src)
	}
	var d data
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, fmt.Errorf("openaicodex: %s: %w", e.Kind, err)
	}
	ops, err := r.place(src, &d)
	r.heard(src, e, &d)
	more, again := r.advance(src, false)
	return append(ops, more...), errors.Join(err, again)
}

// idle closes what waits for an end that is not coming, once all there is was read.
func (r *reducer) idle(src integrations.Source) ([]runtypes.Op, error) {
	ops, err := r.advance(src, true)
	if err != nil || r.More {
		return ops, err
	}
	for _, t := range r.Turns {
		t.Idle = t.Idle || t.waits()
	}
	r.releaseAgents(r.Ended)
	more, err := r.advance(src, true)
	return append(ops, more...), err
}

// dead closes whatever is open, once all there is was read: nothing comes after it.
func (r *reducer) dead(src integrations.Source) ([]runtypes.Op, error) {
	r.unprompted(src, "")
	var ops []runtypes.Op
	for {
		more, err := r.advance(src, true)
		ops = append(ops, more...)
		if err != nil {
			return ops, err
		}
		if r.More {
			continue
		}
		alive := slices.ContainsFunc(r.Turns, func(t *turn) bool { return !t.Dead }) || r.atWork()
		if !alive && len(more) == 0 {
			r.Ended = true
			return ops, nil
		}
		for _, t := range r.Turns {
			t.Dead = true
		}
		r.releaseAgents(true)
	}
}

// Status implements integrations.Reducer.
func (r *reducer) Status() integrations.Status {
	s := integrations.Status{Open: len(r.Turns), Waiting: r.More, Ended: r.Ended, More: r.More}
	for _, t := range r.Turns {
		s.Waiting = s.Waiting || t.waits()
	}
	for _, id := range agentkit.SortedKeys(r.Agents) {
		a := r.Agents[id]
		if a.quiet() {
			continue
		}
		s.Open++
		s.Waiting = s.Waiting || r.Ended
		if a.Path != "" {
			s.Watch = append(s.Watch, a.Path)
		}
	}
	if s.Open > 0 && r.Rollout != "" {
		s.Watch = append(s.Watch, r.Rollout)
	}
	return s
}

func (r *reducer) init() {
	if r.Agents == nil {
		r.Agents = map[string]*agent{}
	}
	if r.readers == nil {
		r.readers = map[string]*reader{}
		r.strangers = map[string]bool{}
		r.history = map[string][]runtypes.Message{}
	}
}

// place takes over where the session's rollout is. A hook of another thread names
// that thread's. After a rollback the thread goes on in another file.
func (r *reducer) place(src integrations.Source, d *data) ([]runtypes.Op, error) {
	if d.Session != "" {
		r.Session = d.Session
	}
	if d.Home != "" {
		r.Home = d.Home
	}
	path := d.Transcript
	switch {
	case d.Agent != "" || rolloutThread(path) != r.Session:
		if path != "" && r.Home == "" {
			r.Home = homeOf(path)
		}
		if r.Rollout == "" && r.Home != "" {
			r.Rollout = findRollout(src, r.Home, r.Session)
		}
		return nil, nil
	case path == r.Rollout, segmentTime(path).Before(segmentTime(r.Rollout)):
		return nil, nil // a hook that comes late does not lead back
	case r.Rollout == "":
		r.Rollout = path
		return nil, nil
	}
	for _, t := range r.Turns {
		t.Superseded, t.Idle = true, true
	}
	ops, err := r.advance(src, true)
	r.Rollout, r.From, r.reader, r.Thread = path, 0, nil, thread{}
	return ops, err
}

// heard takes what an event says of turns and of the session.
func (r *reducer) heard(src integrations.Source, e integrations.Event, d *data) {
	switch e.Kind {
	case "SessionStart":
		r.sessionStart(d)
		return
	case "SessionEnd":
		if !segmentTime(d.Transcript).Before(segmentTime(r.Rollout)) {
			r.sessionEnd(src)
		}
		return
	}
	if d.Turn == "" || d.Agent != "" || d.Transcript != "" && rolloutThread(d.Transcript) != r.Session {
		return // of another thread
	}
	r.unprompted(src, d.Turn)
	if t := r.turn(e, d); t != nil {
		t.hear(e, d)
	}
}

// sessionStart begins a process of the session. A compaction starts one in the middle
// of a turn; anything else means that what was open is over. A thread that is resumed
// and was not known before has a past that is not ours.
func (r *reducer) sessionStart(d *data) {
	if d.Source == "compact" {
		return
	}
	r.Ended = false
	r.Begun = r.Begun || d.Source != "resume"
	for _, t := range r.Turns {
		t.Superseded = true
	}
	r.releaseAgents(true)
}

// sessionEnd ends the session. One that was never heard of before may hold no more
// than commands the user typed, or a review: no hook tells of those.
func (r *reducer) sessionEnd(src integrations.Source) {
	r.unprompted(src, "")
	r.Ended = true
	for _, t := range r.Turns {
		t.Ended = true
	}
}

// unprompted takes a session for one of ours that no hook told of before a turn, or
// before it was over: it holds no more than commands the user typed.
func (r *reducer) unprompted(src integrations.Source, before string) {
	if !r.Begun && len(r.Turns) == 0 && len(r.Closed) == 0 && r.promptless(src, before) {
		r.Begun = true
	}
}

// turn finds the turn an event belongs to, or begins it. One that is closed stays
// closed.
func (r *reducer) turn(e integrations.Event, d *data) *turn {
	for _, t := range r.Turns {
		if t.ID == d.Turn {
			return t
		}
	}
	if slices.Contains(r.Closed, d.Turn) {
		return nil
	}
	if e.Kind == notified && r.Rollout == "" {
		return nil // a thread without a rollout is Codex's own affair, such as finding a title
	}
	t := &turn{ID: d.Turn, Line: -1}
	r.Turns = append(r.Turns, t)
	return t
}

// advance emits what has become final. hard says that every hook which ran before a
// visible line was written has been heard. What is over is let go before more is
// read, so that of a long rollout one turn at a time is held.
func (r *reducer) advance(src integrations.Source, hard bool) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	var errs []error
	r.More = false
	for {
		more, halted := false, r.halted()
		if !halted {
			var err error
			more, err = r.read(src)
			errs = append(errs, err)
		}
		emitted, err := r.advanceTurns(src, hard)
		ops, errs = append(ops, emitted...), append(errs, err)
		if !more && !halted || r.halted() {
			break
		}
		if sizeOf(ops) > maxOps {
			r.More = true
			break
		}
	}
	emitted, err := r.advanceAgents(src)
	ops, r.lateOps = slices.Concat(ops, emitted, r.lateOps), nil
	return ops, errors.Join(append(errs, err)...)
}

// halted reports whether reading has to wait: a turn is over by the rollout and still
// waits for its hooks, or a long one waits for the first that names it.
func (r *reducer) halted() bool {
	for _, t := range r.Turns {
		if s := r.stretch(t); s != nil && (s.over() || s.bytes > maxOps && s.prompt != nil && !t.Posted) {
			return true
		}
	}
	return false
}

func (r *reducer) advanceTurns(src integrations.Source, hard bool) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	var errs []error
	open := r.Turns[:0:0]
	for _, t := range r.Turns {
		more, closed, err := r.advanceTurn(src, t, hard)
		ops, errs = append(ops, more...), append(errs, err)
		if closed {
			r.forget(t)
			continue
		}
		open = append(open, t)
	}
	r.Turns = open
	return ops, errors.Join(errs...)
}

// forget drops a closed turn, and remembers that it is closed.
func (r *reducer) forget(t *turn) {
	r.Closed = append(r.Closed, t.ID)
	if len(r.Closed) > maxClosed {
		r.Closed = r.Closed[len(r.Closed)-maxClosed:]
	}
	if r.reader != nil {
		delete(r.reader.stretches, t.ID)
	}
	delete(r.history, t.ID)
}

// followed reports whether a hook has named a later turn: Codex waits for its hooks,
// so none is still to come for this one.
func (r *reducer) followed(t *turn) bool {
	return slices.ContainsFunc(r.Turns, func(u *turn) bool {
		return u != t && u.Heard && (!u.located() || u.Line > t.Line)
	})
}
