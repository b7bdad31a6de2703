package agui

import "encoding/json"

type eventProp = property[Event]

// The properties of events. A name stands for one thing, but for "delta".
var (
	typeProp = eventProp{
		name:  "type",
		read:  func(*reader, *Event, json.RawMessage) string { return "" }, // read before all others
		write: func(e *Event) json.RawMessage { return appendString(nil, string(e.Type)) },
	}
	timestampProp = whole("timestamp", func(e *Event) **int64 { return &e.Timestamp }, -maxSafe)
	rawEventProp  = anyJSON("rawEvent", func(e *Event) *json.RawMessage { return &e.RawEvent }, false)
	metadataProp  = metadataOf(func(e *Event) *Metadata { return &e.Metadata })
	ownerProp     = text("subagentRunId", func(e *Event) **string { return &e.SubagentRunID })

	threadIDProp        = text("threadId", func(e *Event) **string { return &e.ThreadID })
	runIDProp           = text("runId", func(e *Event) **string { return &e.RunID })
	protocolVersionProp = text("protocolVersion", func(e *Event) **string { return &e.ProtocolVersion }, nullIsSloppy)
	parentRunIDProp     = text("parentRunId", func(e *Event) **string { return &e.ParentRunID }, nullIsSloppy)
	inputProp           = object("input", func(e *Event) **RunAgentInput { return &e.Input }, inputProps)
	resultProp          = anyJSON("result", func(e *Event) *json.RawMessage { return &e.Result }, false)
	outcomeProp         = object("outcome", func(e *Event) **Outcome { return &e.Outcome }, outcomeProps)
	usageProp           = list("usage", func(e *Event) *[]TokenUsage { return &e.Usage }, usageProps, nil)
	messageProp         = text("message", func(e *Event) **string { return &e.Message })
	codeProp            = text("code", func(e *Event) **string { return &e.Code }, nullIsSloppy)
	stepNameProp        = text("stepName", func(e *Event) **string { return &e.StepName })

	messageIDProp       = text("messageId", func(e *Event) **string { return &e.MessageID })
	roleProp            = text("role", func(e *Event) **string { return &e.Role }, nullIsSloppy)
	nameProp            = text("name", func(e *Event) **string { return &e.Name }, nullIsSloppy)
	deltaProp           = deltaProperty()
	toolCallIDProp      = text("toolCallId", func(e *Event) **string { return &e.ToolCallID })
	toolCallNameProp    = text("toolCallName", func(e *Event) **string { return &e.ToolCallName })
	parentMessageIDProp = text("parentMessageId", func(e *Event) **string { return &e.ParentMessageID }, nullIsLegacy)
	resultContentProp   = content(func(e *Event) *json.RawMessage { return &e.Content }, BadField, noKind)
	activityContentProp = typedJSON("content", func(e *Event) *json.RawMessage { return &e.Content }, objectKind)
	messagesProp        = list("messages", func(e *Event) *[]Message { return &e.Messages }, messageProps, knownMessage)
	activityTypeProp    = text("activityType", func(e *Event) **string { return &e.ActivityType })
	replaceProp         = boolean("replace", func(e *Event) **bool { return &e.Replace })
	stateDeltaProp      = typedJSON("delta", func(e *Event) *json.RawMessage { return &e.Patch }, arrayKind)
	patchProp           = typedJSON("patch", func(e *Event) *json.RawMessage { return &e.Patch }, arrayKind)

	subtypeProp            = text("subtype", func(e *Event) **string { return &e.Subtype })
	entityIDProp           = text("entityId", func(e *Event) **string { return &e.EntityID })
	encryptedValueProp     = text("encryptedValue", func(e *Event) **string { return &e.EncryptedValue })
	encryptedValueTypeProp = text("encryptedValueType", func(e *Event) **string { return &e.EncryptedValueType }, nullIsSloppy)
	titleProp              = text("title", func(e *Event) **string { return &e.Title }, nullIsSloppy)

	descriptionProp      = text("description", func(e *Event) **string { return &e.Description }, nullIsSloppy)
	parentSubagentProp   = text("parentSubagentRunId", func(e *Event) **string { return &e.ParentSubagentRunID }, nullIsSloppy)
	parentToolCallIDProp = text("parentToolCallId", func(e *Event) **string { return &e.ParentToolCallID }, nullIsSloppy)

	snapshotProp = anyJSON("snapshot", func(e *Event) *json.RawMessage { return &e.Snapshot }, true)
	payloadProp  = anyJSON("event", func(e *Event) *json.RawMessage { return &e.Payload }, true)
	sourceProp   = text("source", func(e *Event) **string { return &e.Source }, nullIsSloppy)
	valueProp    = anyJSON("value", func(e *Event) *json.RawMessage { return &e.Value }, true)
)

// maxSafe is the largest integer that every peer reads exactly.
const maxSafe = 1<<53 - 1

// of adds what every event has, and whose it is unless the event stands above subagents.
func of(props ...eventProp) []eventProp {
	return append(above(props...), ownerProp)
}

func above(props ...eventProp) []eventProp {
	all := append([]eventProp{typeProp}, props...)
	return append(all, timestampProp, rawEventProp, metadataProp)
}

// eventProps holds the properties of each event.
var eventProps = map[Type][]eventProp{
	RunStarted:  above(threadIDProp, runIDProp, protocolVersionProp, parentRunIDProp, inputProp),
	RunFinished: above(threadIDProp, runIDProp, resultProp, outcomeProp, usageProp),
	RunError:    above(messageProp, codeProp, usageProp),

	StepStarted:  of(stepNameProp),
	StepFinished: of(stepNameProp),

	TextMessageStart:   of(messageIDProp, roleProp, nameProp),
	TextMessageContent: of(messageIDProp, deltaProp),
	TextMessageEnd:     of(messageIDProp),
	TextMessageChunk:   of(messageIDProp, roleProp, deltaProp, nameProp),

	ToolCallStart:  of(toolCallIDProp, toolCallNameProp, parentMessageIDProp),
	ToolCallArgs:   of(toolCallIDProp, deltaProp),
	ToolCallEnd:    of(toolCallIDProp),
	ToolCallChunk:  of(toolCallIDProp, toolCallNameProp, parentMessageIDProp, deltaProp),
	ToolCallResult: of(messageIDProp, toolCallIDProp, resultContentProp, roleProp),

	StateSnapshot:    of(snapshotProp),
	StateDelta:       of(stateDeltaProp),
	MessagesSnapshot: above(messagesProp),
	ActivitySnapshot: of(messageIDProp, activityTypeProp, activityContentProp, replaceProp),
	ActivityDelta:    of(messageIDProp, activityTypeProp, patchProp),
	Raw:              of(payloadProp, sourceProp),
	Custom:           of(nameProp, valueProp),

	ReasoningStart:          of(messageIDProp),
	ReasoningEnd:            of(messageIDProp),
	ReasoningMessageStart:   of(messageIDProp, roleProp),
	ReasoningMessageContent: of(messageIDProp, deltaProp),
	ReasoningMessageEnd:     of(messageIDProp),
	ReasoningMessageChunk:   of(messageIDProp, deltaProp),
	ReasoningEncryptedValue: of(subtypeProp, entityIDProp, encryptedValueProp, encryptedValueTypeProp),

	SubagentStarted:  of(nameProp, descriptionProp, parentSubagentProp, parentToolCallIDProp, parentMessageIDProp),
	SubagentFinished: of(resultProp, outcomeProp),
	SubagentError:    of(messageProp, codeProp),

	ThinkingStart:              of(titleProp),
	ThinkingEnd:                of(),
	ThinkingTextMessageStart:   of(),
	ThinkingTextMessageContent: of(deltaProp),
	ThinkingTextMessageEnd:     of(),
}

// required names the properties without which an event says nothing: what it is about.
var required = map[Type][]eventProp{
	TextMessageStart:        {messageIDProp},
	TextMessageContent:      {messageIDProp},
	TextMessageEnd:          {messageIDProp},
	ToolCallStart:           {toolCallIDProp},
	ToolCallArgs:            {toolCallIDProp},
	ToolCallEnd:             {toolCallIDProp},
	ToolCallResult:          {toolCallIDProp},
	ActivitySnapshot:        {messageIDProp},
	ActivityDelta:           {messageIDProp},
	ReasoningMessageStart:   {messageIDProp},
	ReasoningMessageContent: {messageIDProp},
	ReasoningMessageEnd:     {messageIDProp},
	ReasoningEncryptedValue: {entityIDProp},
	SubagentStarted:         {ownerProp},
	SubagentFinished:        {ownerProp},
	SubagentError:           {ownerProp},
}

// expected names the other properties that the protocol requires. An event without one
// is taken for what it does say.
var expected = map[Type][]eventProp{
	RunStarted:              {threadIDProp, runIDProp},
	RunFinished:             {threadIDProp, runIDProp},
	RunError:                {messageProp},
	StepStarted:             {stepNameProp},
	StepFinished:            {stepNameProp},
	TextMessageContent:      {deltaProp},
	ToolCallStart:           {toolCallNameProp},
	ToolCallArgs:            {deltaProp},
	ToolCallResult:          {messageIDProp, resultContentProp},
	StateSnapshot:           {snapshotProp},
	StateDelta:              {stateDeltaProp},
	MessagesSnapshot:        {messagesProp},
	ActivitySnapshot:        {activityTypeProp, activityContentProp},
	ActivityDelta:           {activityTypeProp, patchProp},
	Raw:                     {payloadProp},
	Custom:                  {nameProp, valueProp},
	ReasoningStart:          {messageIDProp},
	ReasoningEnd:            {messageIDProp},
	ReasoningMessageContent: {deltaProp},
	ReasoningEncryptedValue: {subtypeProp, encryptedValueProp},
	SubagentStarted:         {nameProp},
	SubagentError:           {messageProp},
}
