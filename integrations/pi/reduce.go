package pi

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// reducer is what is known of one thread: the session of the Pi that a user started,
// and those of the Pis that it started. Its exported fields are the checkpoint.
type reducer struct {
	Session string            `json:"session,omitempty"` // the thread
	Actors  map[string]*actor `json:"actors,omitempty"`  // by session
	Count   int               `json:"count,omitempty"`   // turns begun in the thread
	Ended   bool              `json:"ended,omitempty"`
	At      time.Time         `json:"at,omitzero"`     // when anything was heard last
	Roots   recent            `json:"roots,omitempty"` // what turns were named

	options integrations.Options
	content map[string]*message // by reference: what was recalled
	held    int                 // bytes of content
}

// actor is one session.
type actor struct {
	Session string `json:"session"`
	Parent  string `json:"parent,omitempty"` // the session whose process started it; "": the thread itself
	PID     int    `json:"pid,omitempty"`
	File    string `json:"file,omitempty"`
	CWD     string `json:"cwd,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Version string `json:"version,omitempty"`
	Model   model  `json:"model,omitzero"`
	Left    int    `json:"left,omitempty"` // streams that ended orderly and have not hung up yet

	Link  *link `json:"link,omitempty"` // the tool call it works for
	Turn  *turn `json:"turn,omitempty"` // the open one
	Turns int   `json:"turns,omitempty"`

	Compact *compacting `json:"compact,omitempty"` // under way
	Shell   []shell     `json:"shell,omitempty"`   // commands the user typed, not told yet
}

// model is the selected model.
type model struct {
	Provider string `json:"provider,omitempty"`
	Name     string `json:"name,omitempty"`
}

// Bounds of the checkpoint.
const (
	maxActors = 64
	maxShell  = 16
)

func newReducer(o integrations.Options) *reducer { return &reducer{options: o} }

// Apply implements integrations.Reducer.
func (r *reducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	if r.Actors == nil {
		r.Actors = map[string]*actor{}
	}
	switch e.Kind {
	case integrations.Grew, integrations.Idle:
		return nil, nil
	case integrations.Dead:
		r.Ended = true
		return r.endAll(src, time.Time{}, "Interrupted: the process ended"), nil
	case integrations.Hangup:
		return r.hangUp(src, e)
	}
	d, err := load(src, e)
	if err != nil {
		return nil, err
	}
	if d.Session == "" {
		return nil, nil
	}
	return r.hear(src, e, d), nil
}

// load reads what an event says, from the session file if it is of the past.
func load(src integrations.Source, e integrations.Event) (*data, error) {
	var d data
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, fmt.Errorf("pi: %s: %w", e.Kind, err)
	}
	if d.Past != nil && d.Event == nil {
		entry, err := entryAt(src, *d.Past)
		if err != nil {
			return nil, err
		}
		d.Event = entry.event()
	}
	if d.Event == nil {
		d.Event = &event{}
	}
	return &d, nil
}

// hear takes an event of a session.
func (r *reducer) hear(src integrations.Source, e integrations.Event, d *data) []runtypes.Op {
	a := r.actor(d)
	if a == nil {
		return nil
	}
	a.heard(e, d)
	h := &hearing{r: r, src: src, a: a, e: e, d: d, at: milli(d.T), past: d.Past != nil}
	for _, at := range []time.Time{e.At, r.At} {
		if h.at.IsZero() {
			h.at = at
		}
	}
	if h.at.IsZero() {
		return nil // of no time: nothing can be said to have begun
	}
	r.At = h.at
	if a.Turn != nil {
		a.Turn.heard(h)
	}
	if act := acts[e.Kind]; act != nil {
		act(h)
	}
	return h.ops
}

// acts is what each event does.
var acts = map[string]func(*hearing){
	"session_start":           (*hearing).sessionStart,
	"before_agent_start":      (*hearing).prompted,
	"before_provider_request": (*hearing).requested,
	"message_start":           (*hearing).replying,
	"message_update":          (*hearing).said,
	"message_end":             (*hearing).message,
	"tool_execution_start":    (*hearing).toolStart,
	"tool_execution_end":      (*hearing).toolEnd,
	"agent_settled":           (*hearing).settled,
	"session_before_compact":  (*hearing).compacts,
	"session_compact":         (*hearing).compacted,
	"session_compact_failed":  (*hearing).compactFailed,
	"session_before_tree":     (*hearing).branches,
	"session_tree":            (*hearing).branched,
	"user_bash":               (*hearing).typed,
	"session_shutdown":        (*hearing).sessionEnd,
}

// hearing is an event on its way through the reducer.
type hearing struct {
	r   *reducer
	src integrations.Source
	a   *actor
	e   integrations.Event
	d   *data
	at  time.Time // when it was

	past bool // it was read from a session file
	ops  []runtypes.Op
}

func (h *hearing) post(run *runtypes.Run) {
	h.ops = append(h.ops, runtypes.Op{Verb: runtypes.Post, Run: run})
}

func (h *hearing) patch(run *runtypes.Run) {
	h.ops = append(h.ops, runtypes.Op{Verb: runtypes.Patch, Run: run})
}

// on is the same hearing for another session.
func (h *hearing) on(a *actor) *hearing {
	other := *h
	other.a, other.ops = a, nil
	return &other
}

// actor finds the session of an event, or begins it. The first one is the thread,
// unless it says that another Pi started it.
func (r *reducer) actor(d *data) *actor {
	if a := r.Actors[d.Session]; a != nil {
		return a
	}
	a := &actor{Session: d.Session, PID: d.PID}
	switch {
	case d.Parent != "" && d.Parent != d.Session:
		a.Parent = d.Parent
	case r.Session != "" && d.Session != r.Session:
		if a.Parent = r.byPID(d.PPID); a.Parent == "" {
			a.Parent = r.Session
		}
	}
	if a.Parent == "" {
		r.Session = d.Session
	}
	if len(r.Actors) >= maxActors {
		r.forget()
	}
	if len(r.Actors) >= maxActors {
		return nil
	}
	r.Actors[d.Session] = a
	return a
}

// byPID is the session of a process.
func (r *reducer) byPID(pid int) string {
	for _, id := range agentkit.SortedKeys(r.Actors) {
		if a := r.Actors[id]; pid != 0 && a.PID == pid {
			return id
		}
	}
	return ""
}

// forget drops the sessions of subagents that have nothing open.
func (r *reducer) forget() {
	for id, a := range r.Actors {
		if a.Parent != "" && a.Turn == nil {
			delete(r.Actors, id)
		}
	}
}

// heard takes over what every event says of its session.
func (a *actor) heard(e integrations.Event, d *data) {
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&a.File, d.File}, {&a.CWD, e.CWD}, {&a.Mode, d.Mode}, {&a.Version, d.Version},
		{&a.Model.Provider, d.Provider}, {&a.Model.Name, d.Model},
	} {
		if f.from != "" {
			*f.to = f.from
		}
	}
}

// sessionStart begins a process of the session. What was open is over: its process
// went without a word.
func (h *hearing) sessionStart() {
	if h.a.PID != h.d.PID {
		h.a.PID, h.a.Left = h.d.PID, 0
	}
	h.uncompacted("Interrupted: the process ended", true)
	h.close("Interrupted: the process ended")
	if h.a.Parent == "" {
		h.r.Ended = false
		h.r.Count = max(h.r.Count, h.d.Before)
	}
}

// sessionEnd ends the session in an orderly way.
func (h *hearing) sessionEnd() {
	h.a.Left++
	h.leave("Interrupted: the session ended")
	if h.a.Parent == "" {
		h.r.Ended = true
	}
}

// hangUp takes the end of a stream: the process that it came from has ended.
func (r *reducer) hangUp(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	var s integrations.Stream
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &s); err != nil {
			return nil, fmt.Errorf("pi: hang-up: %w", err)
		}
	}
	var ops []runtypes.Op
	for _, id := range agentkit.SortedKeys(r.Actors) {
		a := r.Actors[id]
		if s.PID != 0 && a.PID != s.PID {
			continue
		}
		if a.Left > 0 {
			a.Left-- // it said so itself, and may have begun anew
			continue
		}
		if a.Parent == "" {
			r.Ended = true
			return append(ops, r.endAll(src, e.At, "Interrupted: the process ended")...), nil
		}
		ops = append(ops, r.end(src, a, e.At, "Interrupted: the process ended")...)
	}
	return ops, nil
}

// endAll closes what is open in the thread: subagents first, which hang under it.
func (r *reducer) endAll(src integrations.Source, at time.Time, why string) []runtypes.Op {
	var ops []runtypes.Op
	for _, main := range []bool{false, true} {
		for _, id := range agentkit.SortedKeys(r.Actors) {
			if a := r.Actors[id]; (a.Parent == "") == main {
				ops = append(ops, r.end(src, a, at, why)...)
			}
		}
	}
	return ops
}

// end closes what is open in a session. No time means: when it was heard of last.
func (r *reducer) end(src integrations.Source, a *actor, at time.Time, why string) []runtypes.Op {
	h := &hearing{r: r, src: src, a: a, d: &data{Event: &event{}}, at: at}
	if at.IsZero() {
		h.at = r.At
		if a.Turn != nil {
			h.at = a.Turn.Active
		}
	}
	h.leave(why)
	return h.ops
}

// leave closes all that is open in the session.
func (h *hearing) leave(why string) {
	busy := h.a.Turn != nil
	h.uncompacted(why, true)
	h.close(why)
	h.shells(true, busy)
}

// Status implements integrations.Reducer.
func (r *reducer) Status() integrations.Status {
	s := integrations.Status{Ended: r.Ended}
	for _, a := range r.Actors {
		if a.Turn != nil {
			s.Open++
		}
		s.Open += len(a.Shell)
	}
	return s
}
