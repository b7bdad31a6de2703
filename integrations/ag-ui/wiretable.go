package agui

import (
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// wireKind is how a field of the protocol's protobuf schema is written.
type wireKind int

const (
	wireText   wireKind = iota // string; an absent one reads as ""
	wireOption                 // optional string
	wireInt                    // optional int64
	wireBool                   // optional bool
	wireValue                  // google.protobuf.Value
	wireStruct                 // google.protobuf.Struct
	wireOne                    // a message
	wireMany                   // repeated messages
	wireTexts                  // repeated strings
	wireEnum                   // the operation of a JSON patch
)

// wireField is a field of a message, with the name its value has in JSON or, where the
// schema differs from JSON, the name that the message's hooks know it by.
type wireField struct {
	number protowire.Number
	name   string
	kind   wireKind
	of     *wireMessage
}

// wireMessage is a message of the schema. Its hooks translate between the fields as they
// are on the wire and the object's JSON properties; nil: they are the same.
type wireMessage struct {
	fields   []wireField
	union    bool                // of its fields the last one counts
	fromWire func(record) record // returns nil for what has no meaning
	toWire   func(record) (record, error)
}

func wire(fields ...wireField) *wireMessage { return &wireMessage{fields: fields} }

func need(n protowire.Number, name string) wireField   { return wireField{n, name, wireText, nil} }
func option(n protowire.Number, name string) wireField { return wireField{n, name, wireOption, nil} }
func count(n protowire.Number, name string) wireField  { return wireField{n, name, wireInt, nil} }
func open(n protowire.Number, name string) wireField   { return wireField{n, name, wireValue, nil} }
func fields(n protowire.Number, name string) wireField { return wireField{n, name, wireStruct, nil} }
func one(n protowire.Number, name string, of *wireMessage) wireField {
	return wireField{n, name, wireOne, of}
}
func many(n protowire.Number, name string, of *wireMessage) wireField {
	return wireField{n, name, wireMany, of}
}

func ownedAt(n protowire.Number) wireField { return option(n, "subagentRunId") }

// shapes are the messages that events are made of.
type shapes struct {
	base, usage, operation, part, message, input, interrupt *wireMessage
}

func newShapes() shapes {
	base := wire(
		wireField{1, "type", wireInt, nil}, count(2, "timestamp"), open(3, "rawEvent"), fields(4, "metadata"))

	usage := wire(option(1, "provider"), option(2, "model"), count(3, "inputTokens"), count(4, "outputTokens"),
		count(5, "totalTokens"), count(6, "reasoningTokens"), count(7, "cachedInputTokens"),
		count(8, "cacheWriteInputTokens"))

	operation := wire(wireField{1, "op", wireEnum, nil}, need(2, "path"), option(3, "from"), open(4, "value"))

	source := &wireMessage{fields: []wireField{
		one(1, "data", wire(need(1, "value"), need(2, "mimeType"))),
		one(2, "url", wire(need(1, "value"), option(2, "mimeType"))),
		one(3, "file", wire(need(1, "value"), option(2, "provider"), option(3, "mimeType"))),
	}, union: true, fromWire: joinArm, toWire: splitArm}

	media := wire(one(1, "source", source), open(2, "metadata"), option(3, "id"))
	part := &wireMessage{fields: []wireField{
		one(1, "text", wire(need(1, "text"), option(2, "id"), open(3, "metadata"))),
		one(2, "image", media), one(3, "audio", media), one(4, "video", media), one(5, "document", media),
	}, union: true, fromWire: joinArm, toWire: splitPart}

	toolCall := wire(need(1, "id"), need(2, "type"),
		one(3, "function", wire(need(1, "name"), need(2, "arguments"))), fields(4, "metadata"), option(5, "encryptedValue"))

	message := &wireMessage{fields: []wireField{
		need(1, "id"), need(2, "role"), option(3, "content"), option(4, "name"), many(5, "toolCalls", toolCall),
		option(6, "toolCallId"), option(7, "error"), many(8, partsField, part), fields(9, "metadata"),
		ownedAt(10), option(11, "encryptedValue"), option(12, "activityType"), fields(13, activityField),
	}, fromWire: joinMessage, toWire: splitMessage}

	input := &wireMessage{fields: []wireField{
		need(1, "threadId"), need(2, "runId"), option(3, "parentRunId"), open(4, "state"),
		many(5, "messages", message),
		many(6, "tools", wire(need(1, "name"), need(2, "description"), open(3, "parameters"), fields(4, "metadata"))),
		many(7, "context", wire(need(1, "description"), need(2, "value"))), open(8, "forwardedProps"),
		many(9, "resume", wire(need(1, "interruptId"), need(2, "status"), open(3, "payload"), fields(4, "metadata"))),
		option(10, "protocolVersion"),
	}, fromWire: fillInput}

	interrupt := wire(need(1, "id"), need(2, "reason"), option(3, "message"), option(4, "toolCallId"),
		open(5, "responseSchema"), option(6, "expiresAt"), open(7, "metadata"), ownedAt(8))

	return shapes{base, usage, operation, part, message, input, interrupt}
}

// Names of fields that JSON has no property for.
const (
	baseField     = "base_event"
	partsField    = "content_parts"
	activityField = "activity_content"
)

// arm is one kind of event: its place in the envelope and in the schema's enum of types.
type arm struct {
	number  protowire.Number
	enum    int64
	event   Type
	message *wireMessage
}

func (s *shapes) arm(n protowire.Number, enum int64, event Type, fields ...wireField) arm {
	all := append([]wireField{one(1, baseField, s.base)}, fields...)
	return arm{number: n, enum: enum, event: event, message: &wireMessage{fields: all}}
}

// lastOldArm is the last arm that the Metadata page's protobuf had.
const lastOldArm = 18

// arms are the events of protocol 1.0. They are made for whoever speaks protobuf: a hook
// only links them.
var arms = sync.OnceValue(func() []arm {
	s := newShapes()
	return []arm{
		s.arm(1, 0, TextMessageStart, need(2, "messageId"), option(3, "role"), option(4, "name"), ownedAt(5)),
		s.arm(2, 1, TextMessageContent, need(2, "messageId"), need(3, "delta"), ownedAt(4)),
		s.arm(3, 2, TextMessageEnd, need(2, "messageId"), ownedAt(3)),
		s.arm(4, 3, ToolCallStart, need(2, "toolCallId"), need(3, "toolCallName"), option(4, "parentMessageId"), ownedAt(5)),
		s.arm(5, 4, ToolCallArgs, need(2, "toolCallId"), need(3, "delta"), ownedAt(4)),
		s.arm(6, 5, ToolCallEnd, need(2, "toolCallId"), ownedAt(3)),
		s.arm(7, 6, StateSnapshot, open(2, "snapshot"), ownedAt(3)),
		s.arm(8, 7, StateDelta, many(2, "delta", s.operation), ownedAt(3)),
		s.arm(9, 8, MessagesSnapshot, many(2, "messages", s.message)),
		s.arm(10, 9, Raw, open(2, "event"), option(3, "source"), ownedAt(4)),
		s.arm(11, 10, Custom, need(2, "name"), open(3, "value"), ownedAt(4)),
		s.arm(12, 11, RunStarted, need(2, "threadId"), need(3, "runId"), option(4, "parentRunId"),
			one(5, "input", s.input), option(6, "protocolVersion")),
		s.arm(13, 12, RunFinished, need(2, "threadId"), need(3, "runId"), open(4, "result"), option(5, "outcome"),
			many(6, "interrupts", s.interrupt), many(7, "usage", s.usage),
			wireField{8, "pendingToolCallIds", wireTexts, nil}),
		s.arm(14, 13, RunError, option(2, "code"), need(3, "message"), many(4, "usage", s.usage)),
		s.arm(15, 14, StepStarted, need(2, "stepName"), ownedAt(3)),
		s.arm(16, 15, StepFinished, need(2, "stepName"), ownedAt(3)),
		s.arm(17, 19, TextMessageChunk, option(2, "messageId"), option(3, "role"), option(4, "delta"), option(5, "name"), ownedAt(6)),
		s.arm(18, 20, ToolCallChunk, option(2, "toolCallId"), option(3, "toolCallName"), option(4, "parentMessageId"),
			option(5, "delta"), ownedAt(6)),
		s.arm(19, 16, SubagentStarted, need(2, "subagentRunId"), need(3, "name"), option(4, "description"),
			option(5, "parentSubagentRunId"), option(6, "parentToolCallId"), option(7, "parentMessageId")),
		s.arm(20, 17, SubagentFinished, need(2, "subagentRunId"), open(3, "result"), option(4, "outcome"),
			wireField{5, "interruptIds", wireTexts, nil}),
		s.arm(21, 18, SubagentError, need(2, "subagentRunId"), need(3, "message"), option(4, "code")),
		s.arm(22, 21, ToolCallResult, ownedAt(2), need(3, "messageId"), need(4, "toolCallId"), option(5, "content"),
			option(6, "role"), many(7, partsField, s.part)),
		s.arm(23, 22, ActivitySnapshot, ownedAt(2), need(3, "messageId"), need(4, "activityType"), fields(5, "content"),
			wireField{6, "replace", wireBool, nil}),
		s.arm(24, 23, ActivityDelta, ownedAt(2), need(3, "messageId"), need(4, "activityType"), many(5, "patch", s.operation)),
		s.arm(25, 24, ReasoningStart, ownedAt(2), need(3, "messageId")),
		s.arm(26, 25, ReasoningMessageStart, ownedAt(2), need(3, "messageId"), need(4, "role")),
		s.arm(27, 26, ReasoningMessageContent, ownedAt(2), need(3, "messageId"), need(4, "delta")),
		s.arm(28, 27, ReasoningMessageEnd, ownedAt(2), need(3, "messageId")),
		s.arm(29, 28, ReasoningMessageChunk, ownedAt(2), option(3, "messageId"), option(4, "delta")),
		s.arm(30, 29, ReasoningEnd, ownedAt(2), need(3, "messageId")),
		s.arm(31, 30, ReasoningEncryptedValue, ownedAt(2), need(3, "subtype"), need(4, "entityId"), need(5, "encryptedValue")),
	}
})

func armAt(n protowire.Number) *arm {
	known := arms()
	if n < 1 || int(n) > len(known) {
		return nil
	}
	return &known[n-1]
}

func armOf(t Type) *arm {
	known := arms()
	for i := range known {
		if known[i].event == t {
			return &known[i]
		}
	}
	return nil
}
