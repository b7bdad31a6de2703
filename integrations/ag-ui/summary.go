package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Summary is what an Assembler put together, by the ids of the protocol. It is written
// as one JSON object; metadata is null where there is none.
type Summary struct {
	Runs []RunSummary `json:"runs"`

	MessageOrder       []string                   `json:"message_order"`
	MessageRoles       map[string]string          `json:"message_roles"`
	MessageOwner       map[string]string          `json:"message_owner"` // the subagent, empty for the root agent
	MessageContent     map[string]json.RawMessage `json:"message_content"`
	MessageMetadata    map[string]Metadata        `json:"message_metadata"`
	MessageMetadataRaw map[string]string          `json:"message_metadata_raw"` // its exact bytes
	MessageTimes       map[string][]int64         `json:"message_times_ms"`     // from START to END
	ReasoningMetadata  []Metadata                 `json:"reasoning_metadata"`   // of all reasoning, in order

	ToolCallNames      map[string]string          `json:"tool_call_names"`
	ToolCallArgs       map[string]string          `json:"tool_call_args"`
	ToolCallMetadata   map[string]Metadata        `json:"tool_call_metadata"`
	ToolResults        map[string]json.RawMessage `json:"tool_results"` // by the call's id
	ToolResultMetadata map[string]Metadata        `json:"tool_result_metadata"`
	PendingToolCalls   []string                   `json:"pending_tool_calls"`

	EventMetadata     map[string]Metadata        `json:"event_metadata"` // by type, the latest: it merges into nothing
	ResumeMetadata    map[string]Metadata        `json:"resume_metadata"`
	InterruptMetadata map[string]json.RawMessage `json:"interrupt_metadata"`
	Encrypted         map[string]string          `json:"encrypted"`
	Subagents         []SubagentSummary          `json:"subagents"`

	Diagnostics []string  `json:"diagnostics"` // the codes of the problems by which something was lost or guessed
	Problems    []Problem `json:"problems"`
}

// RunSummary is one run of a stream. Times are milliseconds since 1970, where the stream
// tells plausible ones.
type RunSummary struct {
	RunID      *string         `json:"runId"` // nil: not said
	ThreadID   *string         `json:"threadId"`
	Status     Status          `json:"status"`
	Reason     string          `json:"reason,omitempty"`
	Error      *string         `json:"error,omitempty"`
	Code       *string         `json:"code,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Usage      []TokenUsage    `json:"usage,omitempty"`
	Interrupts []string        `json:"interrupts,omitempty"`
	Resume     []string        `json:"resume,omitempty"`
	StartMS    *int64          `json:"start_ms,omitempty"`
	EndMS      *int64          `json:"end_ms,omitempty"`
	Implicit   bool            `json:"implicit,omitempty"` // no RUN_STARTED told of it
}

// SubagentSummary is one subagent of a stream.
type SubagentSummary struct {
	ID                  string  `json:"id"`
	Name                string  `json:"name"`
	Status              Status  `json:"status"`
	Error               *string `json:"error,omitempty"`
	ParentSubagentRunID *string `json:"parentSubagentRunId,omitempty"`
	ParentToolCallID    *string `json:"parentToolCallId,omitempty"`
}

// Summary returns what was put together. Call Close before, at the stream's end.
func (a *Assembler) Summary() *Summary {
	s := &Summary{
		MessageOrder: []string{}, MessageRoles: map[string]string{}, MessageOwner: map[string]string{},
		MessageContent: map[string]json.RawMessage{}, MessageMetadata: map[string]Metadata{},
		MessageMetadataRaw: map[string]string{}, MessageTimes: map[string][]int64{}, ReasoningMetadata: []Metadata{},
		ToolCallNames: map[string]string{}, ToolCallArgs: map[string]string{}, ToolCallMetadata: map[string]Metadata{},
		ToolResults: map[string]json.RawMessage{}, ToolResultMetadata: map[string]Metadata{},
		PendingToolCalls: append([]string{}, a.pending...), EventMetadata: a.events, ResumeMetadata: a.resumed,
		InterruptMetadata: map[string]json.RawMessage{}, Encrypted: a.encrypted,
		Runs: []RunSummary{}, Subagents: []SubagentSummary{},
		Diagnostics: []string{}, Problems: append([]Problem{}, a.Problems()...),
	}
	for _, r := range a.runs {
		s.Runs = append(s.Runs, r.summary())
	}
	for _, each := range a.items {
		s.addMessage(each)
	}
	for id, i := range a.asked {
		s.InterruptMetadata[id] = i.Metadata
	}
	for _, each := range a.subagents {
		s.Subagents = append(s.Subagents, SubagentSummary{each.id, each.name, each.status, each.err, each.parent, each.call})
	}
	for i := range s.Problems {
		if p := &s.Problems[i]; !p.Harmless() {
			s.Diagnostics = append(s.Diagnostics, p.Code)
		}
	}
	return s
}

// JSON writes the summary as one line. Values keep the bytes they came with.
func (s *Summary) JSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("agui: write the summary: %w", err)
	}
	return out.Bytes(), nil
}

func (s *Summary) addMessage(i *item) {
	if i.role() == ReasoningRole {
		s.ReasoningMetadata = append(s.ReasoningMetadata, i.Metadata)
	}
	if i.minted {
		return // a made-up id says nothing to a reader
	}
	id := Text(i.ID)
	s.MessageOrder = append(s.MessageOrder, id)
	s.MessageRoles[id] = Text(i.Role)
	s.MessageOwner[id] = Text(i.SubagentRunID)
	s.MessageContent[id] = i.content()
	s.MessageMetadata[id] = i.Metadata
	if i.Metadata != nil {
		s.MessageMetadataRaw[id] = i.Metadata.text()
	}
	if i.start != nil && i.end != nil {
		s.MessageTimes[id] = []int64{*i.start, *i.end}
	}
	if i.role() == ToolRole {
		call := Text(i.ToolCallID)
		s.ToolResults[call] = i.content()
		s.ToolResultMetadata[call] = i.Metadata
	}
	for _, c := range i.calls {
		s.ToolCallNames[c.id] = c.name
		s.ToolCallArgs[c.id] = c.args.String()
		s.ToolCallMetadata[c.id] = c.metadata
	}
}

func (r *run) summary() RunSummary {
	s := RunSummary{RunID: r.runID, ThreadID: r.threadID, Status: r.status, Reason: r.reason, Error: r.err, Code: r.code,
		Result: r.result, Usage: r.usage, Resume: r.resume, StartMS: plausible(r.start), EndMS: plausible(r.end),
		Implicit: r.implicit}
	for _, i := range r.interrupts {
		s.Interrupts = append(s.Interrupts, Text(i.ID))
	}
	return s
}

// plausible returns a time in milliseconds since 1970 that an agent may have run at: the
// protocol leaves the unit of its timestamps open.
func plausible(ms *int64) *int64 {
	const from, to = 946684800000, 4102444800000 // the years 2000 and 2100
	if ms == nil || *ms < from || *ms >= to {
		return nil
	}
	return ms
}
