package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// reducer is what is known of one session. Its exported fields are the
// checkpoint; the threads are read again from the transcripts.
type reducer struct {
	Session    string                      `json:"session,omitempty"`
	Transcript string                      `json:"transcript,omitempty"`
	Started    time.Time                   `json:"started,omitzero"` // the last SessionStart
	Forked     bool                        `json:"forked,omitempty"`
	Cleared    bool                        `json:"cleared,omitempty"`   // it began with a /clear in another session
	Summaries  bool                        `json:"summaries,omitempty"` // this version writes stop_hook_summary
	Count      int                         `json:"count,omitempty"`     // turns begun in this thread
	From       int64                       `json:"from,omitempty"`      // where to look for the next turn's prompt
	Ended      bool                        `json:"ended,omitempty"`
	Queued     bool                        `json:"queued,omitempty"` // a prompt was typed while the last turn ran
	Model      string                      `json:"model,omitempty"`
	Turns      []*turn                     `json:"turns,omitempty"`      // open ones, oldest first
	Closed     []string                    `json:"closed,omitempty"`     // prompts of the last turns that were closed
	Tools      map[string]*timing          `json:"tools,omitempty"`      // by tool_use id, until its run is emitted
	Agents     map[string]*agent           `json:"agents,omitempty"`     // subagents not yet emitted
	Compacting *compaction                 `json:"compacting,omitempty"` // one the user asked for
	Anchors    map[string]*agentkit.Anchor `json:"anchors,omitempty"`    // runs that subagents may hang under
	AnchorAge  []string                    `json:"anchor_age,omitempty"`
	Rested     []*agent                    `json:"rested,omitempty"`   // the last subagents whose runs have gone out
	Messages   []sent                      `json:"messages,omitempty"` // the last that made subagents go on

	options integrations.Options
	threads map[string]*thread
	history map[string][]runtypes.Message // what was said before a turn, by prompt
}

// Bounds of the checkpoint: what a session keeps of its past.
const (
	maxClosed  = 16
	maxAnchors = 64
	maxTools   = 256
	maxRested  = 64
)

func newReducer(o integrations.Options) *reducer { return &reducer{options: o} }

// Apply implements integrations.Reducer.
func (r *reducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	r.init()
	switch e.Kind {
	case integrations.Grew:
		return r.advance(src, true)
	case integrations.Idle:
		for _, t := range r.Turns {
			t.Idle = t.Idle || r.waits(t)
		}
		r.releaseAgents(r.Ended)
		r.Compacting.release()
		return r.advance(src, true)
	case integrations.Dead:
		unread := r.dequeue(src, "")
		for _, t := range r.Turns {
			t.Dead = true
		}
		r.Ended = true
		r.releaseAgents(true)
		r.Compacting.release()
		ops, err := r.advance(src, true)
		return ops, errors.Join(unread, err)
	}
	var d data
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, fmt.Errorf("claudecode: %s: %w", e.Kind, err)
	}
	if d.Session != "" {
		r.Session = d.Session
	}
	if d.Transcript != "" {
		r.Transcript = d.Transcript
	}
	r.heardCompaction(e, &d)
	var unread error
	if r.idle(e, &d) {
		unread = r.dequeue(src, d.Prompt)
	}
	var ops []runtypes.Op
	if d.Agent != "" && d.AgentType+d.Tool != "" {
		r.heardAgent(e, &d)
	}
	r.heardTool(e, &d)
	ops = append(ops, r.heard(e, &d)...)
	more, err := r.advance(src, false)
	return append(ops, more...), errors.Join(unread, err)
}

// Status implements integrations.Reducer.
func (r *reducer) Status() integrations.Status {
	s := integrations.Status{Open: len(r.Turns) + len(r.Agents), Ended: r.Ended}
	for _, t := range r.Turns {
		s.Waiting = s.Waiting || r.waits(t)
	}
	for _, a := range r.Agents {
		s.Waiting = s.Waiting || a.Stops > 0 && !a.Waited || r.Ended
	}
	if r.Compacting != nil {
		s.Open++
		s.Waiting = s.Waiting || !r.Compacting.Post.IsZero() || r.Ended
	}
	if s.Open > 0 && r.Transcript != "" {
		s.Watch = append(s.Watch, r.Transcript)
		for _, id := range agentkit.SortedKeys(r.Agents) {
			s.Watch = append(s.Watch, r.Agents[id].Path)
		}
	}
	return s
}

func (r *reducer) init() {
	if r.Tools == nil {
		r.Tools = map[string]*timing{}
	}
	if r.Agents == nil {
		r.Agents = map[string]*agent{}
	}
	if r.Anchors == nil {
		r.Anchors = map[string]*agentkit.Anchor{}
	}
	if r.threads == nil {
		r.threads = map[string]*thread{}
		r.history = map[string][]runtypes.Message{}
	}
}

// heard takes what an event says of turns and of the session.
func (r *reducer) heard(e integrations.Event, d *data) []runtypes.Op {
	switch e.Kind {
	case "SessionStart":
		r.sessionStart(e, d)
		return nil
	case "SessionEnd":
		r.Ended = true
		for _, t := range r.Turns {
			t.Ended, t.EndAt, t.Reason = true, e.At, d.Reason
		}
		return nil
	case "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Stop", "StopFailure":
	default:
		return nil
	}
	if d.Agent != "" || d.Prompt == "" {
		r.stillAlive(d.Prompt, e.At)
		return nil // a subagent's event, or one of a version that knows no prompts
	}
	t := r.turn(e, d)
	if t == nil {
		return nil
	}
	t.Active = e.At
	t.moved(e.Head.SHA)
	switch e.Kind {
	case "UserPromptSubmit":
		if t.First.Equal(e.At) { // else it joined the running turn, whose own event may have been lost
			t.begin(e, d)
			r.Queued = false
		} else {
			r.Queued = true
		}
		return nil
	case "Stop":
		t.Stops++
		t.StopAt, t.LastHash = e.At, d.LastHash
		if d.Text != "" {
			t.StopText, t.HookOnly = d.Text, d.mayKeepNone()
		}
	case "StopFailure":
		t.StopAt, t.Failed, t.LastHash = e.At, d.ErrorClass, d.LastHash
		if t.Failed == "" {
			t.Failed = "unknown"
		}
		if d.Text != "" {
			t.StopText, t.HookOnly = d.Text, d.mayKeepNone()
		}
	case "PreToolUse": // may be ahead of the transcript: interactively that is begun with the first reply, and late
	default:
		if len(d.Input) > 0 && d.mayKeepNone() {
			t.HookOnly = true // the hook saw no transcript: there will be none
		}
	}
	if !t.HookOnly {
		return nil
	}
	return r.hookOnly(t, e, d)
}

// stillAlive notes a subagent's event as a sign of life of its turn.
func (r *reducer) stillAlive(prompt string, at time.Time) {
	for _, t := range r.Turns {
		if t.Prompt == prompt && at.After(t.Active) {
			t.Active = at
		}
	}
}

// sessionStart begins a process of the session. A compaction starts one in the
// middle of a turn; anything else means that what was open is over.
func (r *reducer) sessionStart(e integrations.Event, d *data) {
	if d.Model != "" {
		r.Model = d.Model
	}
	if d.Source == "compact" {
		return
	}
	r.Started, r.Forked, r.Ended = e.At, d.Source == "fork", false
	r.Cleared = r.Cleared || d.Source == "clear"
	for _, t := range r.Turns {
		t.Superseded = true
	}
	for _, a := range r.Agents {
		a.Forced = a.Forced || !a.Heard.IsZero() // else it is one that the new process makes go on
	}
}

// turn finds the turn an event belongs to, or begins it: the hook that should have
// begun it may have been killed. A turn that is closed stays closed.
func (r *reducer) turn(e integrations.Event, d *data) *turn {
	for _, t := range r.Turns {
		if t.Prompt == d.Prompt {
			return t
		}
	}
	for _, prompt := range r.Closed {
		if prompt == d.Prompt {
			return nil
		}
	}
	for _, t := range r.Turns {
		t.Superseded = true
	}
	t := &turn{Prompt: d.Prompt, Line: -1, First: e.At}
	if e.Kind != "UserPromptSubmit" {
		t.place(e, d)
	}
	r.Turns = append(r.Turns, t)
	return t
}

// advance emits what has become final. hard says that every hook which ran before
// a visible line was written has been heard.
func (r *reducer) advance(src integrations.Source, hard bool) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	var errs []error
	open := r.Turns[:0:0]
	for _, t := range r.Turns {
		more, closed, err := r.advanceTurn(src, t, hard)
		ops = append(ops, more...)
		if err != nil {
			errs = append(errs, err)
		}
		if closed {
			r.forget(t)
			continue
		}
		open = append(open, t)
	}
	r.Turns = open
	more, err := r.advanceAgents(src, hard)
	ops, errs = append(ops, more...), append(errs, err)
	more, err = r.advanceCompaction(src)
	return append(ops, more...), errors.Join(append(errs, err)...)
}

// advanceTurn posts the turn's root, then what is final below it, and closes it
// if there is evidence that it is over.
func (r *reducer) advanceTurn(src integrations.Source, t *turn, hard bool) (ops []runtypes.Op, closed bool, err error) {
	if err := r.locate(src, t); err != nil {
		return nil, false, err
	}
	th, err := r.mainThread(src, t)
	if err != nil {
		return nil, false, err
	}
	over := t.over(r, th, hard)
	if !t.Posted && !t.located() && !t.HookOnly && !over {
		return nil, false, nil // the prompt's line is not on disk yet
	}
	root := r.root(t, th)
	if !t.Posted {
		t.Posted = true
		pending := *root
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: &pending})
	}
	end := outcome{}
	if over {
		end = t.outcome(th)
	}
	if err := r.recall(src, t); err != nil {
		return ops, false, err
	}
	ops = append(ops, r.emit(src, t, th, root, hard, over, end)...)
	if over {
		t.conclude(root, th)
		ops = append(ops, runtypes.Op{Verb: runtypes.Patch, Run: t.finish(root, th, end)})
	}
	return ops, over, nil
}

// forget drops a closed turn, and remembers that it is closed.
func (r *reducer) forget(t *turn) {
	r.Closed = append(r.Closed, t.Prompt)
	if len(r.Closed) > maxClosed {
		r.Closed = r.Closed[len(r.Closed)-maxClosed:]
	}
	if t.located() {
		r.From = t.Line + 1 // not further: a compaction may stand before the next prompt
	}
	delete(r.threads, "turn "+t.Prompt)
	delete(r.history, t.Prompt)
	for id, tool := range r.Tools {
		if tool.Prompt == t.Prompt && tool.Agent == "" {
			delete(r.Tools, id)
		}
	}
}
