package runtypes

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// Turn is the library face of the package: a Go agent starts one for each user
// prompt, hangs model calls, tools and subagents under it, and ends it. The root
// is posted at once, so that a long turn can be watched; children are posted
// when they end, each in one write.
//
// Every method is safe for concurrent use and on a nil *Turn, where it does
// nothing: an agent with tracing off calls the same code.
type Turn struct {
	scope
	subagent bool
}

// Child is a model call or a tool call of a turn. Like a Turn it may be nil.
type Child struct {
	scope
}

// scope is a run that is still open, and the children open under it.
type scope struct {
	mu     sync.Mutex
	sink   Sink
	run    *Run
	now    func() time.Time
	posted bool
	ended  bool
	open   map[*scope]struct{}
	above  *scope
}

// TurnOption changes how a turn starts.
type TurnOption func(*Turn)

// WithName names the root run; the default is the runtime's name and "Turn".
func WithName(name string) TurnOption { return func(t *Turn) { t.run.Name = name } }

// WithMetadata adds the user's own metadata to every run of the turn. The
// identity block wins over it.
func WithMetadata(m map[string]any) TurnOption {
	return func(t *Turn) {
		t.run.Metadata = make(map[string]any, len(m))
		for key, value := range m {
			t.run.Metadata[key] = value
		}
	}
}

// WithTags adds tags to the root run.
func WithTags(tags ...string) TurnOption {
	return func(t *Turn) { t.run.Tags = append(t.run.Tags, tags...) }
}

// WithClock replaces time.Now, for tests.
func WithClock(now func() time.Time) TurnOption { return func(t *Turn) { t.now = now } }

// StartTurn starts a turn with the user's prompt: a string, a Message, or any
// value that encodes to JSON. A nil sink means that tracing is off and gives nil.
func StartTurn(s Sink, id Identity, prompt any, opts ...TurnOption) *Turn {
	if s == nil {
		return nil
	}
	t := &Turn{scope: scope{sink: s, now: time.Now}}
	runID := idgen.New()
	if id.TurnID == "" {
		id.TurnID = runID.String()
	}
	t.run = Root(runID, time.Time{}, id)
	for _, opt := range opts {
		opt(t)
	}
	name, meta, tags := t.run.Name, t.run.Metadata, t.run.Tags
	t.run = Root(runID, t.now(), id)
	t.run.Name, t.run.Metadata, t.run.Tags = name, meta, tags
	t.run.Inputs = conversation("user", prompt)
	t.post()
	return t
}

// ID is the run's id, which LangSmith shows it under; uuid.Nil when tracing is off.
func (t *Turn) ID() uuid.UUID {
	if t == nil {
		return uuid.Nil
	}
	return t.run.ID
}

// LLM starts a model call with the messages sent to the model.
func (t *Turn) LLM(model string, messages any) *Child {
	if t == nil {
		return nil
	}
	return t.child(func(parent *Run, id uuid.UUID, at time.Time) *Run {
		r := LLM(parent, id, at, Model{Name: model})
		r.Inputs = conversation("user", messages)
		return r
	})
}

// Tool starts a tool call. callID is the model's id for it, empty if it has none.
func (t *Turn) Tool(name, callID string, args any) *Child {
	if t == nil {
		return nil
	}
	return t.child(func(parent *Run, id uuid.UUID, at time.Time) *Run {
		r := Tool(parent, id, at, name)
		r.Inputs = value(args)
		if callID != "" {
			r.Metadata = map[string]any{"tool_call_id": callID}
		}
		return r
	})
}

// Subagent starts a nested agent. kind is its type or role, such as researcher;
// id names it, and is made up when empty.
func (t *Turn) Subagent(kind, id string, prompt any) *Turn {
	if t == nil {
		return nil
	}
	c := t.child(func(parent *Run, runID uuid.UUID, at time.Time) *Run {
		if id == "" {
			id = runID.String()
		}
		r := Subagent(parent, runID, at, SubagentInfo{ID: id, Type: kind})
		r.Inputs = conversation("user", prompt)
		return r
	})
	if c == nil {
		return nil
	}
	sub := &Turn{subagent: true}
	sub.adopt(&c.scope)
	return sub
}

// End finishes the turn with the agent's answer. Whatever is still open under it
// is closed as interrupted.
func (t *Turn) End(output any) {
	if t != nil {
		t.finish(conversation("assistant", output), nil, "")
	}
}

// Fail finishes the turn with an error.
func (t *Turn) Fail(err error) {
	if t != nil {
		t.finish(nil, orUnknown(err), "")
	}
}

// Interrupt finishes a turn that was stopped before it completed, with a short
// reason such as "Interrupted by user".
func (t *Turn) Interrupt(reason string) {
	if t != nil {
		t.finish(nil, nil, orReason(reason))
	}
}

// End finishes the call with the model's or the tool's output.
func (c *Child) End(output any) {
	if c == nil {
		return
	}
	if c.run.Kind == KindLLM {
		c.finish(conversation("assistant", output), nil, "")
		return
	}
	c.finish(value(output), nil, "")
}

// Fail finishes the call with an error.
func (c *Child) Fail(err error) {
	if c != nil {
		c.finish(nil, orUnknown(err), "")
	}
}

// Interrupt finishes a call that was stopped before it completed.
func (c *Child) Interrupt(reason string) {
	if c != nil {
		c.finish(nil, nil, orReason(reason))
	}
}

// Usage sets the tokens a model call used. It has no effect on a tool.
func (c *Child) Usage(u Usage) *Child {
	if c == nil {
		return nil
	}
	kept := u // a copy of its own: with tracing off nothing is allocated
	return c.change(func(r *Run) { r.Usage = &kept })
}

// Model sets provider and parameters of a model call.
func (c *Child) Model(m Model) *Child {
	if c == nil {
		return nil
	}
	return c.change(func(r *Run) {
		name := r.Model.Name
		r.Model = m
		if m.Name == "" {
			r.Model.Name = name
		}
	})
}

// Metadata adds metadata to the call's run.
func (c *Child) Metadata(key string, v any) *Child {
	if c == nil {
		return nil
	}
	return c.change(func(r *Run) { r.Metadata[key] = v })
}

func (c *Child) change(f func(*Run)) *Child {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		f(c.run)
	}
	return c
}

// child opens a run under the scope; nil if the scope has ended.
func (s *scope) child(build func(parent *Run, id uuid.UUID, at time.Time) *Run) *Child {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	r := build(s.run, idgen.New(), s.now())
	if r.Metadata == nil {
		r.Metadata = map[string]any{}
	}
	for key, v := range s.run.Metadata {
		if _, ok := r.Metadata[key]; !ok {
			r.Metadata[key] = v
		}
	}
	c := &Child{scope{sink: s.sink, run: r, now: s.now, above: s}}
	s.track(&c.scope)
	return c
}

func (s *scope) track(c *scope) {
	if s.open == nil {
		s.open = map[*scope]struct{}{}
	}
	s.open[c] = struct{}{}
}

// adopt takes over the run of a child that was just opened: a subagent is a turn.
func (s *scope) adopt(c *scope) {
	s.sink, s.run, s.now, s.above = c.sink, c.run, c.now, c.above
	s.above.mu.Lock()
	delete(s.above.open, c)
	s.above.track(s)
	s.above.mu.Unlock()
}

// post writes the run as it stands, pending.
func (s *scope) post() {
	s.posted = true
	first := *s.run
	_ = s.sink.Submit(Op{Verb: Post, Run: &first}) // the sink counts what it cannot take
}

// finish ends the run once; later calls do nothing. What is open below goes first,
// so that it is delivered before its parent says that all is done.
func (s *scope) finish(output json.RawMessage, err error, reason string) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	below := make([]*scope, 0, len(s.open))
	for c := range s.open {
		below = append(below, c)
	}
	s.mu.Unlock()

	stopped := reason
	if stopped == "" {
		stopped = "its turn ended first"
	}
	for _, c := range below {
		c.finish(nil, nil, stopped)
	}
	if s.above != nil {
		s.above.mu.Lock()
		delete(s.above.open, s)
		s.above.mu.Unlock()
	}

	s.run.Outputs = output
	switch {
	case reason != "":
		Interrupt(s.run, s.now(), reason)
	default:
		if err != nil {
			s.run.Error = err.Error()
		}
		Finish(s.run, s.now())
	}
	verb := Post
	if s.posted {
		verb = Patch
	}
	_ = s.sink.Submit(Op{Verb: verb, Run: s.run})
}

// conversation wraps what a user or a model said as LangSmith renders it: text
// becomes a message of the role, a list becomes the messages.
func conversation(role string, v any) json.RawMessage {
	switch m := v.(type) {
	case nil:
		return nil
	case string:
		return Messages(Message{Role: role, Content: m})
	case Message:
		return Messages(m)
	case []Message:
		return Messages(m...)
	}
	raw := value(v)
	if len(raw) > 0 && raw[0] == '[' {
		return append(append(json.RawMessage(`{"messages":`), raw...), '}')
	}
	return raw
}

// value encodes anything; what cannot be encoded says so in its place.
func value(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	if raw, ok := v.(json.RawMessage); ok {
		if raw, err := Clean(raw); err == nil {
			return raw
		}
		v = string(raw)
	}
	raw, err := Marshal(v)
	if err != nil {
		raw, _ = Marshal(map[string]string{"unencodable": err.Error()})
	}
	return raw
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("unknown error")
	}
	return err
}

func orReason(reason string) string {
	if reason == "" {
		return "Interrupted"
	}
	return reason
}
