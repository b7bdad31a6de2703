package agui

import "encoding/json"

// Type names an event.
type Type string

// The events of protocol 1.0.
const (
	RunStarted              Type = "RUN_STARTED"
	RunFinished             Type = "RUN_FINISHED"
	RunError                Type = "RUN_ERROR"
	StepStarted             Type = "STEP_STARTED"
	StepFinished            Type = "STEP_FINISHED"
	TextMessageStart        Type = "TEXT_MESSAGE_START"
	TextMessageContent      Type = "TEXT_MESSAGE_CONTENT"
	TextMessageEnd          Type = "TEXT_MESSAGE_END"
	TextMessageChunk        Type = "TEXT_MESSAGE_CHUNK"
	ToolCallStart           Type = "TOOL_CALL_START"
	ToolCallArgs            Type = "TOOL_CALL_ARGS"
	ToolCallEnd             Type = "TOOL_CALL_END"
	ToolCallChunk           Type = "TOOL_CALL_CHUNK"
	ToolCallResult          Type = "TOOL_CALL_RESULT"
	StateSnapshot           Type = "STATE_SNAPSHOT"
	StateDelta              Type = "STATE_DELTA"
	MessagesSnapshot        Type = "MESSAGES_SNAPSHOT"
	ActivitySnapshot        Type = "ACTIVITY_SNAPSHOT"
	ActivityDelta           Type = "ACTIVITY_DELTA"
	Raw                     Type = "RAW"
	Custom                  Type = "CUSTOM"
	ReasoningStart          Type = "REASONING_START"
	ReasoningEnd            Type = "REASONING_END"
	ReasoningMessageStart   Type = "REASONING_MESSAGE_START"
	ReasoningMessageContent Type = "REASONING_MESSAGE_CONTENT"
	ReasoningMessageEnd     Type = "REASONING_MESSAGE_END"
	ReasoningMessageChunk   Type = "REASONING_MESSAGE_CHUNK"
	ReasoningEncryptedValue Type = "REASONING_ENCRYPTED_VALUE"
	SubagentStarted         Type = "SUBAGENT_STARTED"
	SubagentFinished        Type = "SUBAGENT_FINISHED"
	SubagentError           Type = "SUBAGENT_ERROR"
)

// The retired events of 0.x producers. They name no ids; a [Normalizer] makes them the
// reasoning events that took their place.
const (
	ThinkingStart              Type = "THINKING_START"
	ThinkingEnd                Type = "THINKING_END"
	ThinkingTextMessageStart   Type = "THINKING_TEXT_MESSAGE_START"
	ThinkingTextMessageContent Type = "THINKING_TEXT_MESSAGE_CONTENT"
	ThinkingTextMessageEnd     Type = "THINKING_TEXT_MESSAGE_END"
)

// Known reports whether this package knows the event.
func (t Type) Known() bool { return eventTables().properties[t] != nil }

// Event is one event of a stream, of any type. A type has the fields that the protocol
// gives it; the others are nil, as are those the event leaves out.
type Event struct {
	Type          Type
	Timestamp     *int64 // by convention milliseconds since 1970; it never orders events
	RawEvent      json.RawMessage
	Metadata      Metadata
	SubagentRunID *string // whose the event is; nil: the root agent's

	// runs
	ThreadID        *string
	RunID           *string
	ProtocolVersion *string
	ParentRunID     *string
	Input           *RunAgentInput
	Result          json.RawMessage
	Outcome         *Outcome
	Usage           []TokenUsage
	Message         *string
	Code            *string
	StepName        *string

	// messages and tool calls
	MessageID       *string
	Role            *string
	Name            *string // also of CUSTOM and of a subagent
	Delta           *string
	ToolCallID      *string
	ToolCallName    *string
	ParentMessageID *string
	Content         json.RawMessage // TOOL_CALL_RESULT: string or parts; ACTIVITY_SNAPSHOT: object
	Messages        []Message
	ActivityType    *string
	Replace         *bool
	Patch           json.RawMessage // RFC 6902 operations of STATE_DELTA and ACTIVITY_DELTA

	// reasoning
	Subtype            *string
	EntityID           *string
	EncryptedValue     *string
	EncryptedValueType *string
	Title              *string

	// subagents
	Description         *string
	ParentSubagentRunID *string
	ParentToolCallID    *string

	// open payloads, which may be null
	Snapshot json.RawMessage
	Payload  json.RawMessage // the "event" of RAW
	Source   *string
	Value    json.RawMessage

	ends   seam // of Delta
	closed bool // an END that stands for chunks which something else brought to an end
}

// Owner is the subagent the event belongs to, empty for the root agent.
func (e *Event) Owner() string { return Text(e.SubagentRunID) }

// MarshalJSON writes the event as one line of JSON: properties in one order, metadata
// and open payloads with the bytes they came with, an empty metadata object only where
// there was one.
func (e Event) MarshalJSON() ([]byte, error) {
	props := eventTables().properties[e.Type]
	if props == nil {
		return nil, &Problem{Code: UnknownEvent}
	}
	return writeObject(nil, props, &e), nil
}
