package copilot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// reducer is what is known of one session. Its exported fields are the checkpoint; the
// stretches are read again from the log. A hook is only noted: the log is read when the
// drainer says that it grew, for then every hook that ran before a visible line has been
// heard.
type reducer struct {
	Session string `json:"session,omitempty"`
	Log     string `json:"log,omitempty"`

	Since  int64   `json:"since,omitempty"` // turns from then on are ours; 0: nothing was heard of yet
	Back   bool    `json:"back,omitempty"`  // and so is the one that was on then
	Told   int64   `json:"told,omitempty"`  // the last hook that was heard of
	Shown  int64   `json:"shown,omitempty"` // the last hook that the log shows
	Ending bool    `json:"ending,omitempty"`
	Heard  []heard `json:"heard,omitempty"` // prompts that the log does not show yet
	Heads  []head  `json:"heads,omitempty"` // where HEAD was, as it moved

	Place  place             `json:"place,omitzero"`
	From   int64             `json:"from,omitempty"`   // lines before it have been looked at
	Mark   *mark             `json:"mark,omitempty"`   // the last of these
	Prompt int64             `json:"prompt,omitempty"` // a prompt's hook that the log shows, whose message it does not
	Notice int64             `json:"notice,omitempty"` // one more than the offset of what may have woken the agent
	Count  int               `json:"count,omitempty"`  // turns so far
	Turn   *turn             `json:"turn,omitempty"`
	Last   *closed           `json:"last,omitempty"`
	Agents map[string]*agent `json:"agents,omitempty"`
	Ended  bool              `json:"ended,omitempty"`
	More   bool              `json:"more,omitempty"` // something was held back

	options  integrations.Options
	reader   *reader
	history  []runtypes.Message // before the turn that begins at recalled
	recalled int64
}

// Bounds of the checkpoint.
const (
	maxHeard = 8
	maxHeads = 32
)

// maxOps bounds the bytes of runs that one event gives, but for the turn that exceeds
// it: a drainer that comes late may find a log of any size.
const maxOps = 4 << 20

func newReducer(o integrations.Options) *reducer { return &reducer{options: o} }

// Apply implements integrations.Reducer.
func (r *reducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	if r.Agents == nil {
		r.Agents = map[string]*agent{}
	}
	switch e.Kind {
	case integrations.Grew:
		return r.advance(src, false)
	case integrations.Idle:
		return r.idle(src)
	case integrations.Dead:
		return r.dead(src)
	}
	var d data
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, fmt.Errorf("copilot: %s: %w", e.Kind, err)
	}
	if d.Session != "" && d.Log != "" {
		r.Session, r.Log = d.Session, d.Log
	}
	r.Session = cmp.Or(r.Session, d.Session)
	if d.Agent == "" && isID(r.Session) {
		r.hear(e, &d)
	}
	return nil, nil
}

// Status implements integrations.Reducer.
func (r *reducer) Status() integrations.Status {
	s := integrations.Status{Ended: r.Ended, More: r.More, Waiting: r.More || r.Told > r.Shown}
	if r.Turn != nil || r.Prompt > 0 || len(r.Heard) > 0 {
		s.Open++
	}
	if r.Turn != nil && r.Turn.Ending {
		s.Waiting = true
	}
	for _, a := range r.Agents {
		if a.Busy {
			s.Open++
		}
	}
	if (s.Open > 0 || s.Waiting) && r.Log != "" {
		s.Watch = []string{r.Log}
	}
	return s
}

// hear notes what a hook of the session's own says.
func (r *reducer) hear(e integrations.Event, d *data) {
	stamp := d.Stamp
	if stamp == 0 {
		stamp = e.At.UnixMilli()
	}
	if r.Since == 0 {
		r.Since = stamp
		switch {
		case e.Kind == sessionStart && d.Source != "resume":
			r.Since = 1
		case e.Kind == sessionStart, e.Kind == userPrompt:
		default:
			r.Back = true
		}
	}
	r.Told = max(r.Told, stamp)
	if sha := e.Head.SHA; sha != "" && (len(r.Heads) == 0 || r.Heads[len(r.Heads)-1].SHA != sha) {
		r.Heads = append(r.Heads, head{stamp, sha})
		r.Heads = r.Heads[max(0, len(r.Heads)-maxHeads):]
	}
	switch e.Kind {
	case sessionEnd:
		r.Ended, r.Ending = true, true
	case agentStop:
		r.Ending = true
	case sessionStart, userPrompt:
		r.Ended = false
	}
	told := slices.ContainsFunc(r.Heard, func(h heard) bool { return h.Stamp == stamp })
	if e.Kind == userPrompt && !told { // two hooks of ours may tell of one prompt
		r.Heard = append(r.Heard, heard{stamp, e.CWD, e.Head.Branch, e.Head.SHA, d.Parent, d.Text})
		r.Heard = r.Heard[max(0, len(r.Heard)-maxHeard):]
	}
}

// advance reads on and emits what has become final. What is over is let go before more is
// read, so that of a long log one turn at a time is held.
func (r *reducer) advance(src integrations.Source, dead bool) ([]runtypes.Op, error) {
	r.More = false
	if r.Log == "" || r.Since == 0 {
		return nil, nil
	}
	ops, err := r.rewind(src)
	if err != nil {
		return ops, err
	}
	for {
		ended, err := r.read(src)
		if err != nil {
			return ops, err
		}
		if dead {
			r.lasted(r.reader.last)
		}
		before, err := r.recall(src)
		if err != nil {
			return ops, err
		}
		ops = append(ops, r.emitTurn(before, dead && !ended)...)
		ops = append(ops, r.advanceAgents(dead && !ended)...)
		if !ended {
			break
		}
		if sizeOf(ops) > maxOps {
			r.More = true
			break
		}
	}
	if r.Turn != nil && r.reader.root != nil {
		r.Turn.Ending = r.reader.root.ending()
	}
	r.forget()
	return ops, nil
}

func (r *reducer) emitTurn(before []runtypes.Message, dead bool) []runtypes.Op {
	if r.Turn == nil {
		return nil
	}
	ops, closed := r.advanceTurn(before, dead)
	if closed {
		r.Turn, r.reader.root, r.history, r.Ending = nil, nil, nil, false
	}
	return ops
}

// forget drops what the log has caught up with.
func (r *reducer) forget() {
	if r.From == 0 {
		return // there may never be a log
	}
	r.Heard = slices.DeleteFunc(r.Heard, func(h heard) bool {
		return h.Stamp <= r.Shown && h.Stamp != r.Prompt
	})
	if r.Turn == nil && len(r.Heads) > 1 {
		r.Heads = r.Heads[len(r.Heads)-1:]
	}
}

// idle ends the wait for what was promised: lines that a hook announced, what is written
// when other hooks have ended, or what may follow an error.
func (r *reducer) idle(src integrations.Source) ([]runtypes.Op, error) {
	ops, err := r.advance(src, false)
	if err != nil || r.More {
		return ops, err
	}
	late := r.Ending && r.Told > r.Shown // the log does not tell of its end any more
	r.Shown, r.Prompt = max(r.Shown, r.Told), 0
	if s := r.reader; s != nil && s.root != nil && (s.root.ending() || late) {
		s.root.cease()
		ops = append(ops, r.emitTurn(nil, false)...)
		ops = append(ops, r.advanceAgents(false)...)
	}
	r.forget()
	return ops, nil
}

// dead ends everything: the agent's process is gone.
func (r *reducer) dead(src integrations.Source) ([]runtypes.Op, error) {
	ops, err := r.advance(src, false)
	for err == nil && r.More { // nothing comes after it
		var more []runtypes.Op
		more, err = r.advance(src, false)
		ops = append(ops, more...)
	}
	if err == nil {
		var more []runtypes.Op
		more, err = r.advance(src, true)
		ops = append(ops, more...)
	}
	ops = append(ops, r.unlogged()...)
	r.Shown, r.Prompt, r.Heard, r.Ended = max(r.Shown, r.Told), 0, nil, true
	return ops, err
}

// unlogged tells of prompts to a session that never had a log: that they were, and no
// more.
func (r *reducer) unlogged() []runtypes.Op {
	if r.From > 0 {
		return nil
	}
	var ops []runtypes.Op
	for i, h := range r.Heard {
		if h.Text == "" || h.CWD == "" {
			continue
		}
		at := time.UnixMilli(h.Stamp).UTC()
		end := time.UnixMilli(r.Told).UTC()
		if i+1 < len(r.Heard) {
			end = time.UnixMilli(r.Heard[i+1].Stamp).UTC()
		}
		r.Count++
		id := fmt.Sprintf("prompt@%d", h.Stamp)
		root := agentkit.Top(h.Parent, r.id(at, id, "root", id), at, runtypes.Identity{
			Integration: Name, Runtime: runtimeName, ThreadID: r.Session, TurnID: id, TurnNumber: r.Count,
			Repo: runtypes.Repo{Branch: h.Branch, SHA: h.SHA}, WorkingDirectory: h.CWD,
		})
		root.Metadata = map[string]any{agentkit.MetaPartial: true}
		root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: h.Text})
		if r.Ending {
			runtypes.Finish(root, end)
		} else {
			runtypes.Interrupt(root, end, "Interrupted: the process ended")
		}
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: root})
	}
	return ops
}

func sizeOf(ops []runtypes.Op) int {
	n := 0
	for _, op := range ops {
		n += len(op.Run.Inputs) + len(op.Run.Outputs)
	}
	return n
}
