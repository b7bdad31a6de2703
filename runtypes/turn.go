package runtypes

import (
	"cmp"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// Turn is the library face of the package: a Go agent starts one for each user
// prompt, hangs model calls, tools and subagents under it, and ends it. The root
// is posted at once, so that a long turn can be watched; children are posted
// when they end, each in one write.
//
// Every method is safe for concurrent use, and on a nil *Turn, where it does
// nothing in a few nanoseconds: an agent with tracing off calls the same code.
// What is handed in is encoded before the method returns; only files are kept.
type Turn struct{ scope }

// StartTurn starts a turn with the user's prompt: a string, a [Message], a list
// of them, or any value that encodes to JSON. A nil sink means that tracing is
// off and gives nil. An identity needs no more than Integration or Runtime; without
// a ThreadID the turn is a thread of its own. See [Begin] for a turn that ends with its context, and [RunTurn]
// for one that ends by itself.
func StartTurn(s Sink, id Identity, prompt any, opts ...TurnOption) *Turn {
	if s == nil {
		return nil
	}
	return startTurn(s, id, prompt, opts)
}

func startTurn(s Sink, id Identity, prompt any, opts []TurnOption) *Turn {
	with := setup{now: time.Now}
	for _, opt := range opts {
		if opt != nil {
			opt(&with)
		}
	}
	runID := idgen.New()
	r := with.root(runID, id)
	r.Inputs = conversation("user", prompt)
	r.Metadata = copyMap(with.metadata)
	t := &Turn{scope{sink: s, run: r, now: with.now, shared: with.metadata}}
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

// TraceID is the id of the trace the turn belongs to: its own, or that of what it
// was attached to. It is uuid.Nil when tracing is off.
func (t *Turn) TraceID() uuid.UUID {
	if t == nil {
		return uuid.Nil
	}
	return t.run.TraceID
}

// DottedOrder is the turn's place in its trace, for [ParseParent] in another process:
// see [EnvParent]. It is empty when tracing is off.
func (t *Turn) DottedOrder() string {
	if t == nil {
		return ""
	}
	return t.run.DottedOrder
}

// LLM starts a model call with the messages sent to the model: as a string, a
// list, or an object that holds messages, and tools if you like.
func (t *Turn) LLM(model string, messages any) *Child {
	if t == nil {
		return nil
	}
	return t.llm(model, messages)
}

// What is behind the look at nil is kept out of line, so that the look is not: that is
// what a call costs where tracing is off.
//
//go:noinline
func (t *Turn) llm(model string, messages any) *Child {
	return t.child(func(parent *Run, id uuid.UUID, at time.Time) *Run {
		r := LLM(parent, id, at, Model{Name: model})
		r.Inputs = conversation("user", messages)
		return r
	})
}

// Tool starts a tool call with its arguments. callID is the model's id for it, empty if
// it has none. A tool without a name is called unknown, as every tool needs one.
func (t *Turn) Tool(name, callID string, args any) *Child {
	if t == nil {
		return nil
	}
	return t.tool(name, callID, args)
}

//go:noinline
func (t *Turn) tool(name, callID string, args any) *Child {
	return t.child(func(parent *Run, id uuid.UUID, at time.Time) *Run {
		r := Tool(parent, id, at, cmp.Or(name, unnamed))
		r.Inputs = value(args)
		if callID != "" {
			r.Metadata = map[string]any{"tool_call_id": callID}
		}
		return r
	})
}

// unnamed is what the contract has to be told where an agent does not know a name.
const unnamed = "unknown"

// Subagent starts a nested agent, which is a turn of its own. kind is its type or
// role, such as researcher, unknown when empty; id names it, and is made up when
// empty. Subagents may nest and run side by side. Start one from the tool call that
// asked for it where there is one: see [Child.Subagent].
func (t *Turn) Subagent(kind, id string, prompt any) *Turn {
	if t == nil {
		return nil
	}
	return t.nested(func(parent *Run, runID uuid.UUID, at time.Time) *Run {
		if id == "" {
			id = runID.String()
		}
		r := Subagent(parent, runID, at, SubagentInfo{ID: id, Type: cmp.Or(kind, unnamed)})
		r.Inputs = conversation("user", prompt)
		return r
	})
}

// Compaction starts the shortening of the conversation, in the middle of a turn.
// trigger says what caused it: auto or manual. Hang the model call that writes the
// summary under it and end it with the summary. A compaction that the user asks
// for between turns is a turn of its own: see [AsCompaction].
func (t *Turn) Compaction(trigger string, messages any) *Turn {
	if t == nil {
		return nil
	}
	return t.nested(func(parent *Run, id uuid.UUID, at time.Time) *Run {
		r := Chain(parent, id, at, compactionName(trigger), AgentCompaction)
		r.Inputs = conversation("user", messages)
		return r
	})
}

func compactionName(trigger string) string {
	if trigger == "" {
		return "Context Compaction"
	}
	return fmt.Sprintf("Context Compaction (%s)", trigger)
}

// End finishes the turn with the agent's answer. Whatever is still open under it
// is closed as interrupted. Of several calls to End, Fail and Interrupt only the
// first counts.
func (t *Turn) End(output any) {
	if t != nil {
		t.end(output)
	}
}

//go:noinline
func (t *Turn) end(output any) { t.finish(conversation("assistant", output), nil, "") }

// Done finishes a turn, as a rule a subagent's, with what it gave back: an answer,
// and an error if it failed.
func (t *Turn) Done(output any, err error) {
	if t != nil {
		t.done(output, err)
	}
}

func (t *Turn) done(output any, err error) {
	if err == nil {
		t.end(output)
		return
	}
	if output != nil && output != "" {
		raw := conversation("assistant", output)
		t.change(func(r *Run) { r.Outputs = raw })
	}
	t.fail(err)
}

// Fail finishes the turn with an error; with one that is [context.Canceled] it was
// interrupted.
func (t *Turn) Fail(err error) {
	if t != nil {
		t.fail(err)
	}
}

// Interrupt finishes a turn that was stopped before it completed, with a short
// reason such as "Interrupted by user".
func (t *Turn) Interrupt(reason string) {
	if t != nil {
		t.finish(nil, nil, orReason(reason))
	}
}

// Metadata adds metadata to the turn's run and to every run that starts under it
// from then on. The identity block wins over it.
func (t *Turn) Metadata(key string, v any) *Turn {
	if t != nil {
		t.share(key, v)
	}
	return t
}

// Tags adds tags to the turn's run.
func (t *Turn) Tags(tags ...string) *Turn {
	if t != nil {
		t.change(func(r *Run) { r.Tags = append(r.Tags, tags...) })
	}
	return t
}

// Attach adds a file to the turn's run: see [Child.Attach].
func (t *Turn) Attach(name, mimeType string, data []byte) *Turn {
	if t != nil {
		t.attach(name, mimeType, data)
	}
	return t
}
