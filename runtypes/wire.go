package runtypes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// TimeLayout is how run times are written: RFC 3339, UTC, microseconds.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// Wire is a run as LangSmith's runs API takes and stores it. Absent values are
// left out, never null: the server's schema refuses some nulls.
type Wire struct {
	ID          string   `json:"id"`
	TraceID     string   `json:"trace_id"`
	ParentRunID string   `json:"parent_run_id,omitempty"`
	DottedOrder string   `json:"dotted_order"`
	Name        string   `json:"name,omitempty"`
	RunType     string   `json:"run_type,omitempty"`
	StartTime   string   `json:"start_time,omitempty"`
	EndTime     string   `json:"end_time,omitempty"`
	SessionName string   `json:"session_name,omitempty"`
	Address     string   `json:"address,omitempty"` // of an agent, in place of a project
	Tags        []string `json:"tags,omitempty"`

	// The fields the multipart endpoint takes as parts of their own.
	Inputs  json.RawMessage `json:"inputs,omitempty"`
	Outputs json.RawMessage `json:"outputs,omitempty"`
	Error   string          `json:"error,omitempty"`
	Events  json.RawMessage `json:"events,omitempty"`
	Extra   json.RawMessage `json:"extra,omitempty"`
}

// FieldError says which field of which run cannot be written, and why.
type FieldError struct {
	Run   uuid.UUID
	Field string
	Err   error
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("runtypes: run %s: %s: %v", e.Run, e.Field, e.Err)
}

func (e *FieldError) Unwrap() error { return e.Err }

// Encode turns an op into its wire form. A patch leaves the inputs out, which
// the post has already sent, and carries everything else: the server replaces
// extra as a whole. What the wire cannot hold is repaired where that loses
// nothing (bad UTF-8, inputs that are no object) and is a *FieldError otherwise.
func Encode(op Op) (Wire, error) {
	r := op.Run
	fail := func(field string, err error) (Wire, error) {
		if r == nil {
			return Wire{}, &FieldError{Field: field, Err: err}
		}
		return Wire{}, &FieldError{Run: r.ID, Field: field, Err: err}
	}
	switch {
	case r == nil:
		return fail("run", errors.New("missing"))
	case op.Verb != Post && op.Verb != Patch:
		return fail("verb", fmt.Errorf("%q is neither post nor patch", op.Verb))
	case r.ID == uuid.Nil:
		return fail("id", errors.New("missing"))
	case r.TraceID == uuid.Nil:
		return fail("trace_id", errors.New("missing"))
	case r.Start.IsZero():
		return fail("start_time", errors.New("missing"))
	case r.DottedOrder == "":
		return fail("dotted_order", errors.New("missing"))
	}
	w := Wire{
		ID: r.ID.String(), TraceID: r.TraceID.String(), DottedOrder: r.DottedOrder,
		Name: printable(r.Name), RunType: r.Kind.RunType(),
		StartTime:   r.Start.UTC().Format(TimeLayout),
		SessionName: r.Project, Tags: r.Tags,
		Error: strings.ToValidUTF8(r.Error, "�"),
	}
	if r.ParentID != uuid.Nil {
		w.ParentRunID = r.ParentID.String()
	}
	if !r.End.IsZero() {
		end := r.End
		if end.Before(r.Start) {
			end = r.Start
		}
		w.EndTime = end.UTC().Format(TimeLayout)
	}
	var err error
	if op.Verb == Post {
		if w.Inputs, err = object(r.Inputs, "input"); err != nil {
			return fail("inputs", err)
		}
	}
	if w.Outputs, err = object(r.Outputs, "output"); err != nil {
		return fail("outputs", err)
	}
	if w.Extra, err = r.extra(); err != nil {
		return fail("extra", err)
	}
	if w.Events, err = events(r.Events); err != nil {
		return fail("events", err)
	}
	return w, nil
}

func events(list []RunEvent) (json.RawMessage, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make([]map[string]any, len(list))
	for i, e := range list {
		m := make(map[string]any, len(e.Data)+2)
		for key, value := range e.Data {
			if present(value) {
				m[key] = value
			}
		}
		m["name"], m["time"] = e.Name, e.Time.UTC().Format(TimeLayout)
		out[i] = m
	}
	return Marshal(out)
}

// AppendHead appends the members of the object that are not parts of their own.
func (w *Wire) AppendHead(dst []byte) []byte {
	member := func(key, text string) {
		if text != "" {
			dst = append(append(append(dst, ',', '"'), key...), '"', ':')
			dst = AppendText(dst, text)
		}
	}
	dst = AppendText(append(dst, `{"id":`...), w.ID)
	member("trace_id", w.TraceID)
	member("parent_run_id", w.ParentRunID)
	member("dotted_order", w.DottedOrder)
	member("name", w.Name)
	member("run_type", w.RunType)
	member("start_time", w.StartTime)
	member("end_time", w.EndTime)
	member("session_name", w.SessionName)
	member("address", w.Address)
	if len(w.Tags) > 0 {
		dst = append(dst, `,"tags":[`...)
		for i, tag := range w.Tags {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendText(dst, tag)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// printable replaces what a run's name must not hold: control characters and bad
// UTF-8.
func printable(name string) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(name, "�"))
	return strings.TrimSpace(name)
}

// Merge folds a patch into the post of the same run: the result is a post that
// says everything, in one write instead of two.
func Merge(post, patch *Run) *Run {
	merged := *patch
	if len(merged.Inputs) == 0 {
		merged.Inputs = post.Inputs
	}
	if len(merged.Outputs) == 0 {
		merged.Outputs = post.Outputs
	}
	if merged.End.IsZero() {
		merged.End = post.End
	}
	if merged.Error == "" {
		merged.Error, merged.Interrupted = post.Error, post.Interrupted
	}
	if merged.Usage == nil {
		merged.Usage = post.Usage
	}
	if len(merged.Events) == 0 {
		merged.Events = post.Events
	}
	if len(merged.Tags) == 0 {
		merged.Tags = post.Tags
	}
	merged.Attachments = slices.Concat(post.Attachments, patch.Attachments) // the last of a name counts
	if len(post.Metadata) > 0 {
		m := make(map[string]any, len(post.Metadata)+len(patch.Metadata))
		for key, value := range post.Metadata {
			m[key] = value
		}
		for key, value := range patch.Metadata {
			m[key] = value
		}
		merged.Metadata = m
	}
	return &merged
}

// MergeWire folds a patch into a stored run field by field, the last value that
// is there winning: what a server does with the two writes of a run.
func MergeWire(post, patch Wire) Wire {
	merged := post
	set := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	setRaw := func(to *json.RawMessage, from json.RawMessage) {
		if len(from) > 0 {
			*to = from
		}
	}
	set(&merged.Name, patch.Name)
	set(&merged.RunType, patch.RunType)
	set(&merged.StartTime, patch.StartTime)
	set(&merged.EndTime, patch.EndTime)
	set(&merged.ParentRunID, patch.ParentRunID)
	set(&merged.SessionName, patch.SessionName)
	set(&merged.Address, patch.Address)
	set(&merged.Error, patch.Error)
	setRaw(&merged.Inputs, patch.Inputs)
	setRaw(&merged.Outputs, patch.Outputs)
	setRaw(&merged.Events, patch.Events)
	setRaw(&merged.Extra, patch.Extra)
	if len(patch.Tags) > 0 {
		merged.Tags = patch.Tags
	}
	return merged
}

// Times returns the run's start and end; end is zero while it is pending.
func (w Wire) Times() (start, end time.Time, err error) {
	if start, err = time.Parse(time.RFC3339Nano, w.StartTime); err != nil {
		return start, end, fmt.Errorf("runtypes: start_time: %w", err)
	}
	if w.EndTime != "" {
		if end, err = time.Parse(time.RFC3339Nano, w.EndTime); err != nil {
			return start, end, fmt.Errorf("runtypes: end_time: %w", err)
		}
	}
	return start, end, nil
}

// Metadata decodes extra.metadata; nil if there is none.
func (w Wire) Metadata() map[string]any {
	var extra struct {
		Metadata map[string]any `json:"metadata"`
	}
	dec := json.NewDecoder(strings.NewReader(string(w.Extra)))
	dec.UseNumber()
	if len(w.Extra) == 0 || dec.Decode(&extra) != nil {
		return nil
	}
	return extra.Metadata
}

// Kind reads a run's kind off the wire.
func (w Wire) Kind() Kind {
	switch w.RunType {
	case "llm":
		return KindLLM
	case "tool":
		return KindTool
	}
	meta := w.Metadata()
	if _, ok := meta["ls_subagent_id"]; ok {
		return KindSubagent
	}
	if w.ParentRunID != "" {
		return KindChain
	}
	if meta["ls_is_error_interrupt"] == true {
		return KindInterrupted
	}
	if meta["ls_agent_type"] == string(AgentCompaction) {
		return KindChain
	}
	return KindRoot
}
