package agui

import (
	"encoding/json"
	"slices"
	"sync"
)

type eventProp = property[Event]

// eventTables hold the properties of each event. They are made once somebody reads an
// event: they take longer than a hook that links them but never does.
var eventTables = sync.OnceValue(func() eventTable {
	p := newEventProps()
	return eventTable{properties: p.table(), required: p.required(), expected: p.expected()}
})

type eventTable struct {
	properties map[Type][]eventProp
	required   map[Type][]eventProp // without which an event says nothing: what it is about
	expected   map[Type][]eventProp // what else the protocol requires; an event without is taken for what it does say
}

// eventProps are the properties of events. A name stands for one thing, but for "delta".
type eventProps struct {
	kind, timestamp, rawEvent, metadata, owner                                                     eventProp
	threadID, runID, protocolVersion, parentRunID, input, result, outcome, usage, message, code    eventProp
	stepName                                                                                       eventProp
	messageID, role, name, delta, toolCallID, toolCallName, parentMessageID, resultContent         eventProp
	resultRole, reasoningRole, activityContent, messages, activityType, replace, stateDelta, patch eventProp
	subtype, entityID, encryptedValue, encryptedValueType, title                                   eventProp
	description, parentSubagent, parentToolCallID                                                  eventProp
	snapshot, payload, source, value                                                               eventProp
}

func newEventProps() *eventProps {
	return &eventProps{
		kind: eventProp{
			name:  "type",
			read:  func(*reader, *Event, json.RawMessage) string { return "" }, // read before all others
			write: func(e *Event) json.RawMessage { return appendString(nil, string(e.Type)) },
		},
		timestamp: whole("timestamp", func(e *Event) **int64 { return &e.Timestamp }, -maxSafe),
		rawEvent:  anyJSON("rawEvent", func(e *Event) *json.RawMessage { return &e.RawEvent }, false),
		metadata:  metadataOf(func(e *Event) *Metadata { return &e.Metadata }),
		owner:     text("subagentRunId", func(e *Event) **string { return &e.SubagentRunID }),

		threadID:        text("threadId", func(e *Event) **string { return &e.ThreadID }),
		runID:           text("runId", func(e *Event) **string { return &e.RunID }),
		protocolVersion: text("protocolVersion", func(e *Event) **string { return &e.ProtocolVersion }, nullIsSloppy),
		parentRunID:     text("parentRunId", func(e *Event) **string { return &e.ParentRunID }, nullIsSloppy),
		input:           object("input", func(e *Event) **RunAgentInput { return &e.Input }, inputProps()),
		result:          anyJSON("result", func(e *Event) *json.RawMessage { return &e.Result }, false),
		outcome:         object("outcome", func(e *Event) **Outcome { return &e.Outcome }, outcomeProps()),
		usage:           list("usage", func(e *Event) *[]TokenUsage { return &e.Usage }, usageProps(), nil),
		message:         text("message", func(e *Event) **string { return &e.Message }),
		code:            text("code", func(e *Event) **string { return &e.Code }, nullIsSloppy),
		stepName:        text("stepName", func(e *Event) **string { return &e.StepName }),

		messageID:       text("messageId", func(e *Event) **string { return &e.MessageID }),
		role:            roleAmong(Developer, System, Assistant, User),
		resultRole:      roleAmong(ToolRole),
		reasoningRole:   roleAmong(ReasoningRole),
		name:            text("name", func(e *Event) **string { return &e.Name }, nullIsSloppy),
		delta:           deltaProperty(),
		toolCallID:      text("toolCallId", func(e *Event) **string { return &e.ToolCallID }),
		toolCallName:    text("toolCallName", func(e *Event) **string { return &e.ToolCallName }),
		parentMessageID: text("parentMessageId", func(e *Event) **string { return &e.ParentMessageID }, nullIsLegacy),
		resultContent:   content(func(e *Event) *json.RawMessage { return &e.Content }, BadField, noKind),
		activityContent: typedJSON("content", func(e *Event) *json.RawMessage { return &e.Content }, objectKind),
		messages:        list("messages", func(e *Event) *[]Message { return &e.Messages }, messageProps(), knownMessage),
		activityType:    text("activityType", func(e *Event) **string { return &e.ActivityType }),
		replace:         boolean("replace", func(e *Event) **bool { return &e.Replace }),
		stateDelta:      typedJSON("delta", func(e *Event) *json.RawMessage { return &e.Patch }, arrayKind),
		patch:           typedJSON("patch", func(e *Event) *json.RawMessage { return &e.Patch }, arrayKind),

		subtype:            text("subtype", func(e *Event) **string { return &e.Subtype }),
		entityID:           text("entityId", func(e *Event) **string { return &e.EntityID }),
		encryptedValue:     text("encryptedValue", func(e *Event) **string { return &e.EncryptedValue }),
		encryptedValueType: text("encryptedValueType", func(e *Event) **string { return &e.EncryptedValueType }, nullIsSloppy),
		title:              text("title", func(e *Event) **string { return &e.Title }, nullIsSloppy),

		description:      text("description", func(e *Event) **string { return &e.Description }, nullIsSloppy),
		parentSubagent:   text("parentSubagentRunId", func(e *Event) **string { return &e.ParentSubagentRunID }, nullIsSloppy),
		parentToolCallID: text("parentToolCallId", func(e *Event) **string { return &e.ParentToolCallID }, nullIsSloppy),

		snapshot: anyJSON("snapshot", func(e *Event) *json.RawMessage { return &e.Snapshot }, true),
		payload:  anyJSON("event", func(e *Event) *json.RawMessage { return &e.Payload }, true),
		source:   text("source", func(e *Event) **string { return &e.Source }, nullIsSloppy),
		value:    anyJSON("value", func(e *Event) *json.RawMessage { return &e.Value }, true),
	}
}

// roleAmong is an event's role. One that the event cannot have is kept, for whoever reads
// the event next.
func roleAmong(roles ...Role) eventProp {
	p := text("role", func(e *Event) **string { return &e.Role }, nullIsSloppy)
	readText := p.read
	p.read = func(r *reader, e *Event, raw json.RawMessage) string {
		code := readText(r, e, raw)
		if e.Role != nil && !slices.Contains(roles, Role(*e.Role)) {
			return BadField
		}
		return code
	}
	return p
}

// maxSafe is the largest integer that every peer reads exactly.
const maxSafe = 1<<53 - 1

// of adds what every event has, and whose it is unless the event stands above subagents.
func (p *eventProps) of(props ...eventProp) []eventProp {
	return append(p.above(props...), p.owner)
}

func (p *eventProps) above(props ...eventProp) []eventProp {
	all := append([]eventProp{p.kind}, props...)
	return append(all, p.timestamp, p.rawEvent, p.metadata)
}

// table tells the properties of each event.
func (p *eventProps) table() map[Type][]eventProp {
	return map[Type][]eventProp{
		RunStarted:  p.above(p.threadID, p.runID, p.protocolVersion, p.parentRunID, p.input),
		RunFinished: p.above(p.threadID, p.runID, p.result, p.outcome, p.usage),
		RunError:    p.above(p.message, p.code, p.usage),

		StepStarted:  p.of(p.stepName),
		StepFinished: p.of(p.stepName),

		TextMessageStart:   p.of(p.messageID, p.role, p.name),
		TextMessageContent: p.of(p.messageID, p.delta),
		TextMessageEnd:     p.of(p.messageID),
		TextMessageChunk:   p.of(p.messageID, p.role, p.delta, p.name),

		ToolCallStart:  p.of(p.toolCallID, p.toolCallName, p.parentMessageID),
		ToolCallArgs:   p.of(p.toolCallID, p.delta),
		ToolCallEnd:    p.of(p.toolCallID),
		ToolCallChunk:  p.of(p.toolCallID, p.toolCallName, p.parentMessageID, p.delta),
		ToolCallResult: p.of(p.messageID, p.toolCallID, p.resultContent, p.resultRole),

		StateSnapshot:    p.of(p.snapshot),
		StateDelta:       p.of(p.stateDelta),
		MessagesSnapshot: p.above(p.messages),
		ActivitySnapshot: p.of(p.messageID, p.activityType, p.activityContent, p.replace),
		ActivityDelta:    p.of(p.messageID, p.activityType, p.patch),
		Raw:              p.of(p.payload, p.source),
		Custom:           p.of(p.name, p.value),

		ReasoningStart:          p.of(p.messageID),
		ReasoningEnd:            p.of(p.messageID),
		ReasoningMessageStart:   p.of(p.messageID, p.reasoningRole),
		ReasoningMessageContent: p.of(p.messageID, p.delta),
		ReasoningMessageEnd:     p.of(p.messageID),
		ReasoningMessageChunk:   p.of(p.messageID, p.delta),
		ReasoningEncryptedValue: p.of(p.subtype, p.entityID, p.encryptedValue, p.encryptedValueType),

		SubagentStarted:  p.of(p.name, p.description, p.parentSubagent, p.parentToolCallID, p.parentMessageID),
		SubagentFinished: p.of(p.result, p.outcome),
		SubagentError:    p.of(p.message, p.code),

		ThinkingStart:              p.of(p.title),
		ThinkingEnd:                p.of(),
		ThinkingTextMessageStart:   p.of(),
		ThinkingTextMessageContent: p.of(p.delta),
		ThinkingTextMessageEnd:     p.of(),
	}
}

func (p *eventProps) required() map[Type][]eventProp {
	return map[Type][]eventProp{
		TextMessageStart:        {p.messageID},
		TextMessageContent:      {p.messageID},
		TextMessageEnd:          {p.messageID},
		ToolCallStart:           {p.toolCallID},
		ToolCallArgs:            {p.toolCallID},
		ToolCallEnd:             {p.toolCallID},
		ToolCallResult:          {p.toolCallID},
		ActivitySnapshot:        {p.messageID},
		ActivityDelta:           {p.messageID},
		ReasoningMessageStart:   {p.messageID},
		ReasoningMessageContent: {p.messageID},
		ReasoningMessageEnd:     {p.messageID},
		ReasoningEncryptedValue: {p.entityID},
		SubagentStarted:         {p.owner},
		SubagentFinished:        {p.owner},
		SubagentError:           {p.owner},
	}
}

func (p *eventProps) expected() map[Type][]eventProp {
	return map[Type][]eventProp{
		RunStarted:              {p.threadID, p.runID},
		RunFinished:             {p.threadID, p.runID},
		RunError:                {p.message},
		StepStarted:             {p.stepName},
		StepFinished:            {p.stepName},
		TextMessageContent:      {p.delta},
		ToolCallStart:           {p.toolCallName},
		ToolCallArgs:            {p.delta},
		ToolCallResult:          {p.messageID, p.resultContent},
		StateSnapshot:           {p.snapshot},
		StateDelta:              {p.stateDelta},
		MessagesSnapshot:        {p.messages},
		ActivitySnapshot:        {p.activityType, p.activityContent},
		ActivityDelta:           {p.activityType, p.patch},
		Raw:                     {p.payload},
		Custom:                  {p.name, p.value},
		ReasoningStart:          {p.messageID},
		ReasoningEnd:            {p.messageID},
		ReasoningMessageContent: {p.delta},
		ReasoningEncryptedValue: {p.subtype, p.encryptedValue},
		SubagentStarted:         {p.name},
		SubagentError:           {p.message},
	}
}
