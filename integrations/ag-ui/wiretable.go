package agui

import "google.golang.org/protobuf/encoding/protowire"

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

var (
	baseWire = wire(
		wireField{1, "type", wireInt, nil}, count(2, "timestamp"), open(3, "rawEvent"), fields(4, "metadata"))

	usageWire = wire(option(1, "provider"), option(2, "model"), count(3, "inputTokens"), count(4, "outputTokens"),
		count(5, "totalTokens"), count(6, "reasoningTokens"), count(7, "cachedInputTokens"),
		count(8, "cacheWriteInputTokens"))

	operationWire = wire(wireField{1, "op", wireEnum, nil}, need(2, "path"), option(3, "from"), open(4, "value"))

	sourceWire = &wireMessage{fields: []wireField{
		one(1, "data", wire(need(1, "value"), need(2, "mimeType"))),
		one(2, "url", wire(need(1, "value"), option(2, "mimeType"))),
		one(3, "file", wire(need(1, "value"), option(2, "provider"), option(3, "mimeType"))),
	}, fromWire: joinArm, toWire: splitArm}

	mediaWire = wire(one(1, "source", sourceWire), open(2, "metadata"), option(3, "id"))
	partWire  = &wireMessage{fields: []wireField{
		one(1, "text", wire(need(1, "text"), option(2, "id"), open(3, "metadata"))),
		one(2, "image", mediaWire), one(3, "audio", mediaWire), one(4, "video", mediaWire), one(5, "document", mediaWire),
	}, fromWire: joinArm, toWire: splitPart}

	toolCallWire = wire(need(1, "id"), need(2, "type"),
		one(3, "function", wire(need(1, "name"), need(2, "arguments"))), fields(4, "metadata"), option(5, "encryptedValue"))

	messageWire = &wireMessage{fields: []wireField{
		need(1, "id"), need(2, "role"), option(3, "content"), option(4, "name"), many(5, "toolCalls", toolCallWire),
		option(6, "toolCallId"), option(7, "error"), many(8, partsField, partWire), fields(9, "metadata"),
		ownedAt(10), option(11, "encryptedValue"), option(12, "activityType"), fields(13, activityField),
	}, fromWire: joinMessage, toWire: splitMessage}

	inputWire = &wireMessage{fields: []wireField{
		need(1, "threadId"), need(2, "runId"), option(3, "parentRunId"), open(4, "state"),
		many(5, "messages", messageWire),
		many(6, "tools", wire(need(1, "name"), need(2, "description"), open(3, "parameters"), fields(4, "metadata"))),
		many(7, "context", wire(need(1, "description"), need(2, "value"))), open(8, "forwardedProps"),
		many(9, "resume", wire(need(1, "interruptId"), need(2, "status"), open(3, "payload"), fields(4, "metadata"))),
		option(10, "protocolVersion"),
	}, fromWire: fillInput}

	interruptWire = wire(need(1, "id"), need(2, "reason"), option(3, "message"), option(4, "toolCallId"),
		open(5, "responseSchema"), option(6, "expiresAt"), open(7, "metadata"), ownedAt(8))
)

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

func newArm(n protowire.Number, enum int64, event Type, fields ...wireField) arm {
	all := append([]wireField{one(1, baseField, baseWire)}, fields...)
	return arm{number: n, enum: enum, event: event, message: &wireMessage{fields: all}}
}

// lastOldArm is the last arm that the Metadata page's protobuf had.
const lastOldArm = 18

// arms are the events of protocol 1.0.
var arms = []arm{
	newArm(1, 0, TextMessageStart, need(2, "messageId"), option(3, "role"), option(4, "name"), ownedAt(5)),
	newArm(2, 1, TextMessageContent, need(2, "messageId"), need(3, "delta"), ownedAt(4)),
	newArm(3, 2, TextMessageEnd, need(2, "messageId"), ownedAt(3)),
	newArm(4, 3, ToolCallStart, need(2, "toolCallId"), need(3, "toolCallName"), option(4, "parentMessageId"), ownedAt(5)),
	newArm(5, 4, ToolCallArgs, need(2, "toolCallId"), need(3, "delta"), ownedAt(4)),
	newArm(6, 5, ToolCallEnd, need(2, "toolCallId"), ownedAt(3)),
	newArm(7, 6, StateSnapshot, open(2, "snapshot"), ownedAt(3)),
	newArm(8, 7, StateDelta, many(2, "delta", operationWire), ownedAt(3)),
	newArm(9, 8, MessagesSnapshot, many(2, "messages", messageWire)),
	newArm(10, 9, Raw, open(2, "event"), option(3, "source"), ownedAt(4)),
	newArm(11, 10, Custom, need(2, "name"), open(3, "value"), ownedAt(4)),
	newArm(12, 11, RunStarted, need(2, "threadId"), need(3, "runId"), option(4, "parentRunId"),
		one(5, "input", inputWire), option(6, "protocolVersion")),
	newArm(13, 12, RunFinished, need(2, "threadId"), need(3, "runId"), open(4, "result"), option(5, "outcome"),
		many(6, "interrupts", interruptWire), many(7, "usage", usageWire),
		wireField{8, "pendingToolCallIds", wireTexts, nil}),
	newArm(14, 13, RunError, option(2, "code"), need(3, "message"), many(4, "usage", usageWire)),
	newArm(15, 14, StepStarted, need(2, "stepName"), ownedAt(3)),
	newArm(16, 15, StepFinished, need(2, "stepName"), ownedAt(3)),
	newArm(17, 19, TextMessageChunk, option(2, "messageId"), option(3, "role"), option(4, "delta"), option(5, "name"), ownedAt(6)),
	newArm(18, 20, ToolCallChunk, option(2, "toolCallId"), option(3, "toolCallName"), option(4, "parentMessageId"),
		option(5, "delta"), ownedAt(6)),
	newArm(19, 16, SubagentStarted, need(2, "subagentRunId"), need(3, "name"), option(4, "description"),
		option(5, "parentSubagentRunId"), option(6, "parentToolCallId"), option(7, "parentMessageId")),
	newArm(20, 17, SubagentFinished, need(2, "subagentRunId"), open(3, "result"), option(4, "outcome"),
		wireField{5, "interruptIds", wireTexts, nil}),
	newArm(21, 18, SubagentError, need(2, "subagentRunId"), need(3, "message"), option(4, "code")),
	newArm(22, 21, ToolCallResult, ownedAt(2), need(3, "messageId"), need(4, "toolCallId"), option(5, "content"),
		option(6, "role"), many(7, partsField, partWire)),
	newArm(23, 22, ActivitySnapshot, ownedAt(2), need(3, "messageId"), need(4, "activityType"), fields(5, "content"),
		wireField{6, "replace", wireBool, nil}),
	newArm(24, 23, ActivityDelta, ownedAt(2), need(3, "messageId"), need(4, "activityType"), many(5, "patch", operationWire)),
	newArm(25, 24, ReasoningStart, ownedAt(2), need(3, "messageId")),
	newArm(26, 25, ReasoningMessageStart, ownedAt(2), need(3, "messageId"), need(4, "role")),
	newArm(27, 26, ReasoningMessageContent, ownedAt(2), need(3, "messageId"), need(4, "delta")),
	newArm(28, 27, ReasoningMessageEnd, ownedAt(2), need(3, "messageId")),
	newArm(29, 28, ReasoningMessageChunk, ownedAt(2), option(3, "messageId"), option(4, "delta")),
	newArm(30, 29, ReasoningEnd, ownedAt(2), need(3, "messageId")),
	newArm(31, 30, ReasoningEncryptedValue, ownedAt(2), need(3, "subtype"), need(4, "entityId"), need(5, "encryptedValue")),
}

func armAt(n protowire.Number) *arm {
	if n < 1 || int(n) > len(arms) {
		return nil
	}
	return &arms[n-1]
}

func armOf(t Type) *arm {
	for i := range arms {
		if arms[i].event == t {
			return &arms[i]
		}
	}
	return nil
}
