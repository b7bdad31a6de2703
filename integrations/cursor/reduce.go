package cursor

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// reducer is what is known of one workspace: all its conversations, since only together
// they tell whose a subagent is. Content stays in the journal; its exported fields, which
// are the checkpoint, name the lines.
type reducer struct {
	Talks  []*talk  `json:"talks,omitempty"` // conversations, the one heard last at the end
	Turns  []*turn  `json:"turns,omitempty"` // not yet told to the end, oldest first
	Agents []*agent `json:"agents,omitempty"`
	Held   []held   `json:"held,omitempty"`
	Closed []string `json:"closed,omitempty"` // the last turns and subagents that were
	PID    int      `json:"pid,omitempty"`    // process of the last event
	Steady bool     `json:"steady,omitempty"` // and of the one before it
	More   bool     `json:"more,omitempty"`

	options integrations.Options
}

// turn is one generation of a conversation.
type turn struct {
	scope
	Talk       string    `json:"talk"`
	Generation string    `json:"generation"`
	Number     int       `json:"number,omitempty"`
	Start      time.Time `json:"start"`
	Last       time.Time `json:"last"`
	First      string    `json:"first"`              // the event it began with
	Hash       string    `json:"hash,omitempty"`     // of the prompt
	Blind      bool      `json:"blind,omitempty"`    // no hook told of the prompt: nothing is emitted before the end
	Posted     bool      `json:"posted,omitempty"`   // its root run
	Replaced   bool      `json:"replaced,omitempty"` // its prompt was submitted once more
	PID        int       `json:"pid,omitempty"`
	End        *ending   `json:"end,omitempty"`
	Sure       bool      `json:"sure,omitempty"`   // no event comes any more that tells how it ended
	Silent     bool      `json:"silent,omitempty"` // the session's end alone tells of it
	Idle       bool      `json:"idle,omitempty"`   // nothing more is waited for
	Row        int       `json:"row,omitempty"`    // of the transcript, and one; 0: none
	Closing    bool      `json:"closing,omitempty"`
}

// ending is how a turn or a subagent ended.
type ending struct {
	At     time.Time `json:"at"`
	Status string    `json:"status"`          // completed, aborted, error; else what it was stopped by
	Text   string    `json:"text,omitempty"`  // of the error
	Ref    string    `json:"ref,omitempty"`   // the event
	Loop   int       `json:"loop,omitempty"`  // how often a stop hook had it go on
	Quiet  bool      `json:"quiet,omitempty"` // no event said so
}

// Bounds of the checkpoint.
const (
	maxTalks  = 200
	maxClosed = 128
	maxTurns  = 32
	maxAgents = 48
	maxHeld   = 512
)

// maxSession bounds how long ago a session may have begun, in milliseconds: a day.
const maxSession = 24 * 60 * 60 * 1000

// maxOps bounds the bytes of runs that one event gives.
const maxOps = 4 << 20

func newReducer(o integrations.Options) *reducer { return &reducer{options: o} }

// Apply implements integrations.Reducer.
func (r *reducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	switch e.Kind {
	case integrations.Grew:
		return r.advance(src)
	case integrations.Idle:
		return r.settle(src, false)
	case integrations.Dead:
		return r.settle(src, true)
	}
	d := &data{}
	if err := json.Unmarshal(e.Data, d); err != nil {
		return nil, fmt.Errorf("cursor: %s: %w", e.Kind, err)
	}
	r.PID, r.Steady = d.PID, d.PID == r.PID
	ops, err := r.hear(src, e, d)
	more, again := r.advance(src)
	return append(ops, more...), errors.Join(err, again)
}

// Status implements integrations.Reducer.
func (r *reducer) Status() integrations.Status {
	s := integrations.Status{Open: len(r.Turns) + len(r.Agents), More: r.More}
	s.Ended = s.Open == 0 && len(r.Held) == 0
	watch := map[string]bool{}
	for _, t := range r.Turns {
		if t.End != nil {
			s.Waiting = true
			watch[r.talk(t.Talk).File] = true
		}
	}
	for _, a := range r.Agents {
		if a.End != nil {
			s.Waiting = true
			watch[a.file()] = true
		}
	}
	delete(watch, "")
	s.Watch = agentkit.SortedKeys(watch)
	return s
}

// release gives up waiting for what Cursor's files may still say.
func (r *reducer) release() {
	for _, t := range r.Turns {
		t.Idle = t.Idle || t.End != nil
	}
	for _, a := range r.Agents {
		a.Idle = a.Idle || a.End != nil
	}
}

// settle tells to its end all that is over, without waiting for Cursor's files. What a
// blind turn had begun comes to light only when that is told, so it goes round until
// nothing is left. dead says that the process of the last event is gone.
func (r *reducer) settle(src integrations.Source, dead bool) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	for {
		lost := dead && r.loseAll()
		r.release()
		more, err := r.advance(src)
		ops = append(ops, more...)
		if err != nil || len(more) == 0 && !lost || r.More && !dead {
			return ops, err
		}
	}
}

// loseAll ends what the process that is gone had begun, and reports whether there was
// anything. A process that sent a single event may have been a helper that lives no
// longer than a hook: its end says nothing.
func (r *reducer) loseAll() bool {
	if r.PID != 0 && !r.Steady {
		return false
	}
	lost := false
	for _, t := range r.Turns {
		if t.End == nil && t.PID == r.PID {
			t.lose("Cursor ended before the turn did")
			lost = true
		}
	}
	for _, a := range r.Agents {
		if a.End == nil && a.PID == r.PID {
			a.lose("Cursor ended before the subagent did")
			lost = true
		}
	}
	return lost
}

// superseded is why a turn ended whose prompt went to another model.
const superseded = "Superseded: the prompt was submitted again"

// lose ends a turn without an event that says so.
func (t *turn) lose(why string) {
	t.End = &ending{At: t.Last, Status: why, Quiet: true}
}

// hear takes an event of a conversation.
func (r *reducer) hear(src integrations.Source, e integrations.Event, d *data) ([]runtypes.Op, error) {
	c := r.talk(d.Conversation)
	if d.Transcript != "" {
		c.File = d.Transcript
	}
	if d.Model != "" && !strings.HasPrefix(e.Kind, "subagent") { // those name the subagent's
		c.Model = d.Model
	}
	r.assure(c, e, d)
	switch e.Kind {
	case "sessionStart":
		c.Main, c.Over = true, false
		if r.openIn(c.ID) == nil {
			c.Begun = e.At
		}
		return nil, nil
	case "sessionEnd":
		r.sessionEnd(c, e, d)
		r.silent(c, e, d)
		c.Over = true
		return nil, nil
	case "beforeSubmitPrompt":
		c.Main, c.Asked = true, true
		return nil, r.prompt(src, c, e, d)
	case "stop":
		c.Main = true
		r.stop(c, e, d)
		return nil, nil
	case "subagentStart":
		return r.agentStart(src, e, d)
	case "subagentStop":
		return r.agentStop(src, e, d)
	}
	return r.work(src, c, e, d)
}

// prompt begins a turn. What was open in the conversation is over, except that Cursor
// submits a prompt once more to ask another model: then the old turn's stop comes later.
func (r *reducer) prompt(src integrations.Source, c *talk, e integrations.Event, d *data) error {
	if r.turn(c.ID, d.Generation) != nil || slices.Contains(r.Closed, closedKey(c.ID, d.Generation)) {
		return nil
	}
	for _, t := range r.Turns {
		switch {
		case t.Talk != c.ID || t.End != nil:
		case t.Hash == d.Hash && t.Hash != "":
			t.Replaced = true
		default:
			t.lose("Cursor never told of the turn's end")
		}
	}
	for _, a := range r.Agents {
		if a.Talk == c.ID && a.End == nil && a.turnOver(r) {
			a.lose("Cursor never told of the subagent's end")
		}
	}
	t := r.begin(c, e, d)
	t.Hash, t.Start = d.Hash, e.At
	t.take(src, t.Start, e, d, "")
	return nil
}

// begin opens a turn. Where its prompt is not known it began with the session, unless
// that has had a turn.
func (r *reducer) begin(c *talk, e integrations.Event, d *data) *turn {
	t := &turn{Talk: c.ID, Generation: d.Generation, Start: e.At, Last: e.At, First: e.Ref, PID: d.PID}
	if !c.Begun.IsZero() && c.Begun.Before(t.Start) {
		t.Start = c.Begun
	}
	c.Begun = time.Time{}
	r.Turns = append(r.Turns, t)
	if over := len(r.Turns) - maxTurns; over > 0 && r.Turns[0].End == nil {
		r.Turns[0].lose("Cursor never told of the turn's end")
		r.Turns[0].Idle = true
	}
	return t
}

// stop ends a turn, and those before it whose prompt it repeats.
func (r *reducer) stop(c *talk, e integrations.Event, d *data) {
	t := r.turn(c.ID, d.Generation)
	if t == nil {
		if d.Status == "aborted" || slices.Contains(r.Closed, closedKey(c.ID, d.Generation)) {
			return
		}
		t = r.begin(c, e, d)
		t.Blind = true
	}
	if t.End != nil && !t.End.Quiet || t.Closing {
		return
	}
	t.Last = e.At
	t.End = &ending{At: e.At, Status: d.Status, Text: d.Error, Ref: e.Ref, Loop: d.Loop}
	if t.Replaced && d.Status == "aborted" {
		t.End.Status, t.End.Quiet = superseded, true // by Cursor, and not by the user
	}
	for _, before := range r.Turns {
		if before == t {
			break
		}
		if before.Talk == c.ID && before.Replaced && before.End == nil {
			before.lose(superseded)
		}
	}
}

// sessionEnd ends what is open in a conversation.
func (r *reducer) sessionEnd(c *talk, e integrations.Event, d *data) {
	for _, t := range r.Turns {
		if t.Talk != c.ID {
			continue
		}
		switch {
		case t.End != nil:
			if t.End.Status == "error" && t.End.Text == "" && !t.Closing {
				t.End.Text, t.Sure = d.Error, true
			}
		case t.Blind || d.Status == "error":
			t.Last = e.At
			t.End = &ending{At: e.At, Status: d.Status, Text: d.Error, Ref: e.Ref}
		default:
			t.lose("The session ended before the turn did")
		}
	}
	for _, a := range r.Agents {
		if a.Talk == c.ID && a.End == nil {
			a.lose("The session ended before the subagent did")
		}
	}
}

// silent begins the turn of print mode that used no tool, of which the session's end
// alone tells. Whether there was one the transcript says: it holds that turn and no other.
func (r *reducer) silent(c *talk, e integrations.Event, d *data) {
	if !c.fresh() || c.File == "" || d.Status != "completed" || r.openIn(c.ID) != nil {
		return
	}
	t := r.begin(c, e, d)
	if d.DurationMS != nil && *d.DurationMS > 0 && *d.DurationMS < maxSession && t.Start.Equal(e.At) {
		t.Start = e.At.Add(-time.Duration(*d.DurationMS * float64(time.Millisecond)))
	}
	t.Blind, t.Silent = true, true
	t.End = &ending{At: e.At, Status: d.Status, Ref: e.Ref}
}

// work takes an event from within a turn or a subagent.
func (r *reducer) work(src integrations.Source, c *talk, e integrations.Event, d *data) ([]runtypes.Op, error) {
	if a := r.agentOf(c.ID); a != nil && !r.goesOn(a, e) {
		return r.agentWork(src, a, e, d)
	}
	t := r.turn(c.ID, d.Generation)
	if open := r.openIn(c.ID); t == nil && open != nil && open.Blind && open.Generation == c.ID {
		t, open.Generation = open, d.Generation // it began with a subagent, which does not name it
	}
	if t == nil {
		if slices.Contains(r.Closed, closedKey(c.ID, d.Generation)) || r.late(c, e) {
			return nil, nil // of a turn or a subagent that was told to its end
		}
		if !c.Main && c.File == "" {
			known, ops := r.adopt(src, e, d)
			if a := r.agentOf(c.ID); a != nil && !r.goesOn(a, e) {
				return r.agentWork(src, a, e, d)
			}
			if known {
				return ops, nil
			}
		}
		t = r.begin(c, e, d)
		t.Blind = true
	}
	return r.turnWork(src, t, e, d)
}

// turnWork takes an event of a turn's own. Of a blind one nothing is emitted yet.
func (r *reducer) turnWork(src integrations.Source, t *turn, e integrations.Event, d *data) ([]runtypes.Op, error) {
	if t.Closing {
		return nil, nil
	}
	if e.At.After(t.Last) {
		t.Last = e.At
	}
	ended := t.take(src, t.Start, e, d, "")
	if t.Blind {
		return nil, nil
	}
	ops := r.post(src, t)
	if ended != nil {
		ops = append(ops, r.endTool(src, r.familyOf(src, t), ended, nil))
	}
	return ops, nil
}

// recall reads an event once more.
func recall(src integrations.Source, ref string) (integrations.Event, *data, error) {
	e, err := src.Recall(ref)
	if err != nil {
		return e, nil, err
	}
	d := &data{}
	if err := json.Unmarshal(e.Data, d); err != nil {
		return e, nil, fmt.Errorf("cursor: recall: %w", err)
	}
	return e, d, nil
}
