package deepagentscode

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// reducer is what is known of one thread. Content stays in the journal and in the
// agent's files; its exported fields, which are the checkpoint, name the lines.
type reducer struct {
	Thread  string   `json:"thread,omitempty"`
	Model   string   `json:"model,omitempty"` // that the session began with
	Count   int      `json:"count,omitempty"` // of turns
	Turn    *turn    `json:"turn,omitempty"`
	Closed  []string `json:"closed,omitempty"`  // the last turns that were
	Prompts int      `json:"prompts,omitempty"` // of the transcript that turns have taken
	Ended   bool     `json:"ended,omitempty"`

	options integrations.Options
}

// turn is a prompt and what follows it.
type turn struct {
	ID         string            `json:"id,omitempty"` // the agent's own
	Key        string            `json:"key"`          // what its runs' ids are made of
	Number     int               `json:"number"`
	Start      time.Time         `json:"start"`
	Last       time.Time         `json:"last"`            // of its hooks
	First      string            `json:"first"`           // the event it began with
	Blind      bool              `json:"blind,omitempty"` // no hook told of its prompt
	CWD        string            `json:"cwd,omitempty"`
	Head       integrations.Head `json:"head"`
	Mode       string            `json:"mode,omitempty"`
	UnderRun   string            `json:"under_run,omitempty"`
	Transcript string            `json:"transcript,omitempty"`
	Stopped    *stopped          `json:"stopped,omitempty"`
	Heard      []string          `json:"heard,omitempty"` // events of tools, subagents and compactions
}

// stopped is that the model had no more to do.
type stopped struct {
	At  time.Time `json:"at"`
	Ref string    `json:"ref,omitempty"` // the event, where it holds the answer
}

// Bounds of the checkpoint.
const (
	maxClosed = 64
	maxHeard  = 800
)

func newReducer(o integrations.Options) *reducer { return &reducer{options: o} }

// Status implements integrations.Reducer.
func (r *reducer) Status() integrations.Status {
	s := integrations.Status{Ended: r.Ended && r.Turn == nil}
	if r.Turn != nil {
		s.Open = 1
	}
	return s
}

// Apply implements integrations.Reducer.
func (r *reducer) Apply(src integrations.Source, e integrations.Event) ([]runtypes.Op, error) {
	switch e.Kind {
	case integrations.Dead:
		return r.close(src, closing{reason: "Interrupted: the process ended"})
	case integrations.Grew, integrations.Idle, integrations.Hangup:
		return nil, nil
	}
	d := &data{}
	if err := json.Unmarshal(e.Data, d); err != nil {
		return nil, fmt.Errorf("deepagentscode: %s: %w", e.Kind, err)
	}
	if r.Thread == "" {
		r.Thread = d.Session
	}
	r.Ended = false
	switch e.Kind {
	case sessionStart:
		if d.Model != "" {
			r.Model = d.Model
		}
	case userPrompt:
		return r.prompted(src, e, d)
	case sessionEnd:
		r.Ended = true
		return r.close(src, closing{at: e.At, ended: true, reason: "Interrupted: the session ended"})
	default:
		return r.happened(src, e, d)
	}
	return nil, nil
}

// prompted begins a turn; the one before it is over. A hook may be repeated.
func (r *reducer) prompted(src integrations.Source, e integrations.Event, d *data) ([]runtypes.Op, error) {
	if d.Prompt != "" && (slices.Contains(r.Closed, d.Prompt) || r.Turn != nil && r.Turn.ID == d.Prompt) {
		return nil, nil
	}
	ops, err := r.close(src, closing{at: e.At, reason: "Interrupted by user"})
	r.Count++
	if d.Native {
		r.forget(d.Prompt)
		return ops, err
	}
	r.begin(e, d)
	root := r.root(r.Turn)
	if d.Text != "" {
		root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: d.Text})
	}
	return append(ops, runtypes.Op{Verb: runtypes.Post, Run: root}), err
}

// begin begins a turn with an event.
func (r *reducer) begin(e integrations.Event, d *data) {
	r.Turn = &turn{
		ID: d.Prompt, Key: d.Prompt, Number: r.Count, Start: e.At, Last: e.At, First: e.Ref,
		CWD: e.CWD, Head: e.Head, Mode: d.Mode, UnderRun: d.UnderRun, Transcript: d.Transcript,
	}
	if d.Prompt == "" { // of a version that names none
		r.Turn.Key = strconv.FormatInt(e.At.UnixMilli(), 10)
	}
}

// happened takes an event of the turn.
func (r *reducer) happened(src integrations.Source, e integrations.Event, d *data) ([]runtypes.Op, error) {
	t := r.Turn
	if t != nil && d.Prompt != "" && d.Prompt != t.ID {
		t = nil
	}
	if t == nil {
		if e.Kind != stop || d.Native || d.Prompt == "" || slices.Contains(r.Closed, d.Prompt) {
			return nil, nil
		}
		return r.blind(src, e, d)
	}
	t.Last = e.At
	switch {
	case e.Kind == stop: // another hook may have had the model go on since the last one
		t.Stopped = &stopped{At: e.At, Ref: e.Ref}
	case e.Kind == notification && d.Notice == "agent_completed":
		if t.Stopped == nil {
			t.Stopped = &stopped{At: e.At}
		}
		return r.close(src, closing{at: e.At})
	case e.Kind == notification:
	case len(t.Heard) < maxHeard:
		t.Heard = append(t.Heard, e.Ref)
	}
	return nil, nil
}

// blind begins a turn of which a hook told the end and none the beginning: it began when
// the database says so. Its root is posted when it is over, with the prompt.
func (r *reducer) blind(src integrations.Source, e integrations.Event, d *data) ([]runtypes.Op, error) {
	ops, err := r.close(src, closing{at: e.At, reason: "Interrupted by user"})
	r.Count++
	r.begin(e, d)
	r.Turn.Blind, r.Turn.Stopped = true, &stopped{At: e.At, Ref: e.Ref}
	f, unread := readFacts(src, storeOf(d.Transcript), r.Thread, d.Prompt)
	if f != nil && f.begun.Before(e.At) && !f.begun.IsZero() {
		r.Turn.Start = f.begun
	}
	return ops, errors.Join(err, unread)
}

// forget notes that a turn is not told of any more.
func (r *reducer) forget(id string) {
	if id == "" {
		return
	}
	r.Closed = append(r.Closed, id)
	if over := len(r.Closed) - maxClosed; over > 0 {
		r.Closed = slices.Delete(r.Closed, 0, over)
	}
}
