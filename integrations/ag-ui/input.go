package agui

import (
	"encoding/json"
	"sync"
)

// RunAgentInput is what a client posts to start a run, and what RUN_STARTED may repeat.
type RunAgentInput struct {
	ThreadID        *string
	RunID           *string
	ProtocolVersion *string
	ParentRunID     *string
	State           json.RawMessage
	Messages        []Message
	Tools           []Tool
	Context         []Context
	ForwardedProps  json.RawMessage
	Resume          []ResumeEntry
}

// Tool is a tool that the client offers.
type Tool struct {
	Name        *string
	Description *string
	Parameters  json.RawMessage
	Metadata    Metadata
}

// Context is a piece of the client's context.
type Context struct {
	Description *string
	Value       *string
}

// ResumeEntry answers an interrupt. Nothing merges into its metadata.
type ResumeEntry struct {
	InterruptID *string
	Status      *string // resolved or cancelled
	Payload     json.RawMessage
	Metadata    Metadata
}

// Interrupt is a question that ended a run. Its metadata is plain data.
type Interrupt struct {
	ID             *string
	Reason         *string
	Message        *string
	ToolCallID     *string
	ResponseSchema json.RawMessage
	ExpiresAt      *string
	Metadata       json.RawMessage
	SubagentRunID  *string
}

// Outcome is how a run or a subagent ended.
type Outcome struct {
	Type               *string
	PendingToolCallIDs []string    // a run's success
	Interrupts         []Interrupt // a run's interrupt
	InterruptIDs       []string    // a subagent's suspension
}

// Outcomes.
const (
	Success     = "success"
	Interrupted = "interrupt"
	Cancelled   = "cancelled"
	Suspended   = "suspended"
)

// TokenUsage is what one model of one provider used in a run. A nil count is not known,
// which is not zero.
type TokenUsage struct {
	Provider              *string
	Model                 *string
	InputTokens           *int64
	OutputTokens          *int64
	TotalTokens           *int64
	ReasoningTokens       *int64
	CachedInputTokens     *int64
	CacheWriteInputTokens *int64
}

// MarshalJSON writes the input as the protocol does.
func (in RunAgentInput) MarshalJSON() ([]byte, error) {
	return writeObject(nil, inputProps(), &in), nil
}

// MarshalJSON writes the interrupt as the protocol does.
func (i Interrupt) MarshalJSON() ([]byte, error) {
	return writeObject(nil, interruptProps(), &i), nil
}

// MarshalJSON writes the entry as the protocol does.
func (e ResumeEntry) MarshalJSON() ([]byte, error) {
	return writeObject(nil, resumeProps(), &e), nil
}

// MarshalJSON writes the usage as the protocol does.
func (u TokenUsage) MarshalJSON() ([]byte, error) {
	return writeObject(nil, usageProps(), &u), nil
}

var inputProps = sync.OnceValue(func() []property[RunAgentInput] {
	return []property[RunAgentInput]{
		text("threadId", func(in *RunAgentInput) **string { return &in.ThreadID }),
		text("runId", func(in *RunAgentInput) **string { return &in.RunID }),
		text("protocolVersion", func(in *RunAgentInput) **string { return &in.ProtocolVersion }, nullIsSloppy),
		text("parentRunId", func(in *RunAgentInput) **string { return &in.ParentRunID }, nullIsSloppy),
		anyJSON("state", func(in *RunAgentInput) *json.RawMessage { return &in.State }, false),
		list("messages", func(in *RunAgentInput) *[]Message { return &in.Messages }, messageProps(), knownMessage),
		list("tools", func(in *RunAgentInput) *[]Tool { return &in.Tools }, toolProps(), nil),
		list("context", func(in *RunAgentInput) *[]Context { return &in.Context }, contextProps(), nil),
		anyJSON("forwardedProps", func(in *RunAgentInput) *json.RawMessage { return &in.ForwardedProps }, false),
		list("resume", func(in *RunAgentInput) *[]ResumeEntry { return &in.Resume }, resumeProps(), nil),
	}
})

var toolProps = sync.OnceValue(func() []property[Tool] {
	return []property[Tool]{
		text("name", func(t *Tool) **string { return &t.Name }),
		text("description", func(t *Tool) **string { return &t.Description }),
		anyJSON("parameters", func(t *Tool) *json.RawMessage { return &t.Parameters }, false),
		metadataOf(func(t *Tool) *Metadata { return &t.Metadata }),
	}
})

var contextProps = sync.OnceValue(func() []property[Context] {
	return []property[Context]{
		text("description", func(c *Context) **string { return &c.Description }),
		text("value", func(c *Context) **string { return &c.Value }),
	}
})

var resumeProps = sync.OnceValue(func() []property[ResumeEntry] {
	return []property[ResumeEntry]{
		text("interruptId", func(e *ResumeEntry) **string { return &e.InterruptID }),
		text("status", func(e *ResumeEntry) **string { return &e.Status }),
		anyJSON("payload", func(e *ResumeEntry) *json.RawMessage { return &e.Payload }, false),
		metadataOf(func(e *ResumeEntry) *Metadata { return &e.Metadata }),
	}
})

var interruptProps = sync.OnceValue(func() []property[Interrupt] {
	return []property[Interrupt]{
		text("id", func(i *Interrupt) **string { return &i.ID }),
		text("reason", func(i *Interrupt) **string { return &i.Reason }),
		text("message", func(i *Interrupt) **string { return &i.Message }, nullIsSloppy),
		text("toolCallId", func(i *Interrupt) **string { return &i.ToolCallID }, nullIsSloppy),
		anyJSON("responseSchema", func(i *Interrupt) *json.RawMessage { return &i.ResponseSchema }, false),
		text("expiresAt", func(i *Interrupt) **string { return &i.ExpiresAt }, nullIsSloppy),
		anyJSON("metadata", func(i *Interrupt) *json.RawMessage { return &i.Metadata }, false),
		text("subagentRunId", func(i *Interrupt) **string { return &i.SubagentRunID }),
	}
})

var outcomeProps = sync.OnceValue(func() []property[Outcome] {
	return []property[Outcome]{
		text("type", func(o *Outcome) **string { return &o.Type }),
		texts("pendingToolCallIds", func(o *Outcome) *[]string { return &o.PendingToolCallIDs }),
		list("interrupts", func(o *Outcome) *[]Interrupt { return &o.Interrupts }, interruptProps(), nil),
		texts("interruptIds", func(o *Outcome) *[]string { return &o.InterruptIDs }),
	}
})

var usageProps = sync.OnceValue(func() []property[TokenUsage] {
	return []property[TokenUsage]{
		text("provider", func(u *TokenUsage) **string { return &u.Provider }),
		text("model", func(u *TokenUsage) **string { return &u.Model }),
		whole("inputTokens", func(u *TokenUsage) **int64 { return &u.InputTokens }, 0),
		whole("outputTokens", func(u *TokenUsage) **int64 { return &u.OutputTokens }, 0),
		whole("totalTokens", func(u *TokenUsage) **int64 { return &u.TotalTokens }, 0),
		whole("reasoningTokens", func(u *TokenUsage) **int64 { return &u.ReasoningTokens }, 0),
		whole("cachedInputTokens", func(u *TokenUsage) **int64 { return &u.CachedInputTokens }, 0),
		whole("cacheWriteInputTokens", func(u *TokenUsage) **int64 { return &u.CacheWriteInputTokens }, 0),
	}
})
