package runtypes

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// Root builds the run of a whole turn. It has no parent and starts a trace of
// its own.
func Root(id uuid.UUID, start time.Time, who Identity) *Run {
	start = micro(start)
	return &Run{
		ID: id, TraceID: id, DottedOrder: idgen.Segment(start, id),
		Name: who.Runtime + " Turn", Kind: KindRoot, AgentType: AgentRoot,
		Start: start, Identity: who,
	}
}

// LLM builds the run of a model call under parent.
func LLM(parent *Run, id uuid.UUID, start time.Time, model Model) *Run {
	r := child(parent, id, start, KindLLM)
	r.Model = model
	r.Name = parent.Identity.Runtime
	if r.Name == "" {
		r.Name = model.Name
	}
	return r
}

// Tool builds the run of a tool call under parent.
func Tool(parent *Run, id uuid.UUID, start time.Time, name string) *Run {
	r := child(parent, id, start, KindTool)
	r.Tool.Name = name
	r.Name = name
	return r
}

// Subagent builds the run of a nested agent under parent, which is the tool call
// that started it. Runs built under it are of AgentSubagent.
func Subagent(parent *Run, id uuid.UUID, start time.Time, agent SubagentInfo) *Run {
	r := child(parent, id, start, KindSubagent)
	r.AgentType = AgentSubagent
	r.Subagent = agent
	r.Name = agent.Type + " Subagent"
	return r
}

// Chain builds any other run, such as a compaction, under parent.
func Chain(parent *Run, id uuid.UUID, start time.Time, name string, agent AgentType) *Run {
	r := child(parent, id, start, KindChain)
	r.AgentType = agent
	r.Name = name
	return r
}

// Interrupt ends a run that was stopped before it completed. A root becomes an
// interrupted run; any other kind keeps its kind and shows as interrupted.
func Interrupt(r *Run, end time.Time, reason string) *Run {
	if r.Kind == KindRoot {
		r.Kind = KindInterrupted
	}
	r.Error = reason
	r.Interrupted = true
	return Finish(r, end)
}

// Finish sets the end of a run, never before its start.
func Finish(r *Run, end time.Time) *Run {
	r.End = micro(end)
	if r.End.Before(r.Start) {
		r.End = r.Start
	}
	return r
}

// child builds a run under parent. LangSmith refuses a child that is earlier than
// its parent, so its start is clamped.
func child(parent *Run, id uuid.UUID, start time.Time, kind Kind) *Run {
	start = micro(start)
	if start.Before(parent.Start) {
		start = parent.Start
	}
	return &Run{
		ID: id, TraceID: parent.TraceID, ParentID: parent.ID, Remote: parent.Remote,
		DottedOrder: idgen.Join(parent.DottedOrder, start, id),
		Kind:        kind, AgentType: parent.AgentType,
		Start: start, Identity: parent.Identity, Project: parent.Project,
	}
}

// micro cuts a time to what LangSmith keeps, so that start_time and dotted order
// agree to the digit.
func micro(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Microsecond)
}

// Messages wraps a list of messages as an llm run's inputs or outputs, the shape
// LangSmith renders as a conversation. Nothing said is an empty list, never null.
func Messages(list ...Message) json.RawMessage {
	said := make([]Message, len(list))
	for i, m := range list {
		if parts, ok := m.Content.([]Part); ok && parts == nil {
			m.Content = []Part{}
		}
		said[i] = m
	}
	raw, err := Marshal(struct {
		Messages []Message `json:"messages"`
	}{said})
	if err != nil { // a Message holds nothing that JSON cannot
		return json.RawMessage(`{"messages":[]}`)
	}
	return raw
}

// Message is one entry of a conversation in LangSmith's own dialect.
type Message struct {
	Role       string `json:"role"` // system, reasoning, user, assistant, tool
	Content    any    `json:"content,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	Name       string `json:"name,omitempty"`
	Status     string `json:"status,omitempty"` // error on a tool's failed answer
}

// Part is one block of a message's content.
type Part struct {
	Type     string          `json:"type"` // text, reasoning, tool_call, image, file
	Text     string          `json:"text,omitempty"`
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"` // tool_call
	URL      string          `json:"url,omitempty"`
	Base64   string          `json:"base64,omitempty"`
	MIMEType string          `json:"mime_type,omitempty"`
}
