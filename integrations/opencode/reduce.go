package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// reducer is what is known of one thread: a session and those of its subagents. Its
// exported fields are the checkpoint. They name lines of the journal, which hold the
// content.
type reducer struct {
	Thread   string            `json:"thread,omitempty"` // the root session
	Sessions map[string]*place `json:"sessions,omitempty"`
	Turns    []*turn           `json:"turns,omitempty"`  // open ones, in the order they began
	Closed   []string          `json:"closed,omitempty"` // the last that were closed
	Asked    map[string]asked  `json:"asked,omitempty"`  // permissions without an answer
	Count    int               `json:"count,omitempty"`  // prompts of the thread so far
	Counted  bool              `json:"counted,omitempty"`
	History  []string          `json:"history,omitempty"` // lines of closed turns, for calls that repeat the thread
	Last     int64             `json:"last,omitempty"`    // when something was last heard
	Ended    bool              `json:"ended,omitempty"`

	options integrations.Options
	lines   cache
}

// place is what is known of a session.
type place struct {
	Version  string     `json:"version,omitempty"`
	Parent   string     `json:"parent,omitempty"`
	Created  int64      `json:"created,omitempty"`
	New      bool       `json:"new,omitempty"`      // all of it was seen
	Aborting bool       `json:"aborting,omitempty"` // the user stopped it, and what is open is being closed
	Twice    bool       `json:"twice,omitempty"`    // a turn failed: that it is idle is said once more
	Others   []unspoken `json:"others,omitempty"`
}

// unspoken is a message in the user's name that the user did not type.
type unspoken struct {
	ID      string `json:"id"`
	Created int64  `json:"created,omitempty"`
	Written bool   `json:"written,omitempty"` // its text is OpenCode's
	Asked   bool   `json:"asked,omitempty"`   // the user asked for a compaction
}

// asked is a permission that a person was asked for.
type asked struct {
	Call string `json:"call"`
	At   int64  `json:"at"`
}

// Bounds of the checkpoint.
const (
	maxClosed   = 64
	maxOthers   = 8
	maxRetired  = 16
	maxAsked    = 32
	maxSessions = 128
	maxHistory  = 1024
)

func newReducer(o integrations.Options) *reducer { return &reducer{options: o} }

// Status implements integrations.Reducer.
func (r *reducer) Status() integrations.Status {
	return integrations.Status{Open: len(r.Turns), Ended: r.Ended && len(r.Turns) == 0}
}

// Apply implements integrations.Reducer.
func (r *reducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	if r.Sessions == nil {
		r.Sessions = map[string]*place{}
	}
	if r.Asked == nil {
		r.Asked = map[string]asked{}
	}
	switch e.Kind {
	case integrations.Grew, integrations.Idle:
		return nil, nil
	case integrations.Dead:
		r.Ended = true
		return r.stop(src, exited, func(*turn) bool { return true })
	case integrations.Hangup:
		var from integrations.Stream
		if err := json.Unmarshal(e.Data, &from); err != nil {
			return nil, fmt.Errorf("opencode: %s: %w", e.Kind, err)
		}
		if ms := e.At.UnixMilli(); ms > r.Last {
			r.Last = ms
		}
		r.Ended = true
		return r.stop(src, exited, func(t *turn) bool { return t.PID == from.PID })
	}
	d := new(data)
	if err := json.Unmarshal(e.Data, d); err != nil {
		return nil, fmt.Errorf("opencode: %s: %w", e.Kind, err)
	}
	r.lines.keep(e.Ref, d, len(e.Data))
	r.Last, r.Ended = max(r.Last, d.T), false
	if err := r.hear(src, e, d); err != nil {
		return nil, err
	}
	if e.Kind == onDeleted {
		return r.stop(src, "the session was deleted", func(t *turn) bool { return t.Session == d.Session })
	}
	return r.advance(src)
}

// hear takes what an event says.
func (r *reducer) hear(src integrations.Source, e integrations.Event, d *data) error {
	switch e.Kind {
	case onCreated, onUpdated:
		r.place(d, e.Kind == onCreated)
	case onPrompt:
		return r.prompt(src, e, d)
	case onRequest:
		if s := r.requesting(d.Session); s != nil && s.Request == 0 && s.Agent == d.Agent {
			s.Request, s.Params = d.T, d.Params
		}
	case onStatus:
		if s := r.requesting(d.Session); s != nil && d.Retry != "" {
			s.Retries++
			s.Retry = e.Ref
		}
	case onError:
		r.failed(e, d)
	case onMessage:
		r.message(e, d)
	case onPart:
		r.part(e, d)
	case onDelta:
		r.delta(e, d)
	case onPermission, onReply:
		r.permission(e, d)
	case onIdle:
		r.idle(d.Session)
	}
	return nil
}

// place notes what a line says of a session.
func (r *reducer) place(d *data, created bool) {
	if d.Info == nil {
		return
	}
	p := r.at(d.Info.ID)
	if d.Info.Version != "" {
		p.Version = d.Info.Version
	}
	if d.Info.Time.Created > 0 {
		p.Created = d.Info.Time.Created
	}
	p.Parent = d.Info.Parent
	p.New = p.New || created
	if p.Parent == "" && r.Thread == "" {
		r.Thread = d.Info.ID
	}
}

// at is a session's place. Of many subagents those whose turns are closed are let go.
func (r *reducer) at(session string) *place {
	if p := r.Sessions[session]; p != nil {
		return p
	}
	if len(r.Sessions) >= maxSessions {
		for id := range r.Sessions {
			if id != r.Thread && !slices.ContainsFunc(r.Turns, func(t *turn) bool { return t.Session == id }) {
				delete(r.Sessions, id)
			}
		}
	}
	p := &place{}
	r.Sessions[session] = p
	return p
}

// failed notes an error of a session. Its message tells it again, later; without one
// this is all there is.
func (r *reducer) failed(e integrations.Event, d *data) {
	if d.Error == nil || d.Session == "" {
		return
	}
	r.at(d.Session).Aborting = d.Error.aborted()
	if t := r.busy(d.Session); t != nil {
		t.Failure, t.Aborted = e.Ref, t.Aborted || d.Error.aborted()
		t.Ended = max(t.Ended, d.T)
	}
	for _, t := range r.of(d.Session) { // with it go the prompts that waited for their turn
		if d.Error.aborted() && !t.Spoken && !t.Aborted {
			t.Aborted, t.Ended = true, d.T
		}
	}
}

// permission notes how long a person took to answer.
func (r *reducer) permission(e integrations.Event, d *data) {
	if d.Asked == nil {
		return
	}
	if e.Kind == onPermission {
		if len(r.Asked) < maxAsked {
			r.Asked[d.Asked.ID] = asked{Call: d.Asked.Call, At: d.T}
		}
		return
	}
	question, known := r.Asked[d.Asked.ID]
	delete(r.Asked, d.Asked.ID)
	if !known {
		return
	}
	for _, t := range r.Turns {
		for _, s := range t.Steps {
			for _, p := range s.Pieces {
				if p.Call != "" && p.Call == question.Call && t.Session == d.Session {
					p.Wait += d.T - question.At
					p.Answer = d.Asked.Reply
				}
			}
		}
	}
}

// idle notes that a session has nothing to do. A prompt that has no answer yet while
// another one has was typed meanwhile: its turn comes.
func (r *reducer) idle(session string) {
	open, p := r.of(session), r.at(session)
	for _, t := range open {
		t.Idle = t.Idle || len(t.Steps) > 0 || t.Spoken || t.Failure != "" || len(open) == 1 && !p.Twice
	}
	p.Twice = false
}

// of lists the open turns of a session, but for those that only wait for a subagent.
func (r *reducer) of(session string) []*turn {
	var list []*turn
	for _, t := range r.Turns {
		if t.Session == session && !r.held(t) {
			list = append(list, t)
		}
	}
	return list
}

// busy is the turn that a session works on: the last one that has an answer, else the
// first that waits for one.
func (r *reducer) busy(session string) *turn {
	open := r.of(session)
	for _, t := range slices.Backward(open) {
		if len(t.Steps) > 0 || t.Spoken {
			return t
		}
	}
	if len(open) > 0 {
		return open[0]
	}
	return nil
}

// requesting is the step of a session that waits for its model.
func (r *reducer) requesting(session string) *step {
	if t := r.busy(session); t != nil {
		for _, s := range slices.Backward(t.Steps) {
			if s.Completed == 0 {
				return s
			}
		}
	}
	return nil
}

// exited is why runs are closed whose process is gone.
const exited = "interrupted: OpenCode exited"

// stop closes turns that will not go on, those of subagents before what they belong to.
func (r *reducer) stop(src integrations.Source, why string, which func(*turn) bool) ([]runtypes.Op, error) {
	ops, err := r.advance(src)
	errs := []error{err}
	for _, t := range slices.Backward(slices.Clone(r.Turns)) {
		if which(t) {
			more, err := r.close(src, t, why)
			ops, errs = append(ops, more...), append(errs, err)
		}
	}
	return ops, errors.Join(errs...)
}

// advance emits what has become final.
func (r *reducer) advance(src integrations.Source) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	var errs []error
	for _, t := range slices.Clone(r.Turns) {
		more, err := r.emit(src, t)
		ops, errs = append(ops, more...), append(errs, err)
	}
	for _, t := range slices.Backward(slices.Clone(r.Turns)) { // a subagent ends before its caller
		if t.over() && !r.held(t) {
			more, err := r.close(src, t, "")
			ops, errs = append(ops, more...), append(errs, err)
		}
	}
	return ops, errors.Join(errs...)
}
