package agui

import (
	"encoding/json"
	"sync"
)

// Role is who a message is from.
type Role string

// The roles of protocol 1.0.
const (
	Developer     Role = "developer"
	System        Role = "system"
	Assistant     Role = "assistant"
	User          Role = "user"
	ToolRole      Role = "tool"
	Activity      Role = "activity"
	ReasoningRole Role = "reasoning"
)

func (r Role) known() bool {
	switch r {
	case Developer, System, Assistant, User, ToolRole, Activity, ReasoningRole:
		return true
	}
	return false
}

// Message is one message of the conversation, of any role.
type Message struct {
	ID   *string
	Role *string
	Name *string
	// Content is a string, for user and tool messages also an array of parts, for an
	// activity an object; nil: none, as of an assistant message of calls only.
	Content        json.RawMessage
	ToolCalls      []ToolCall
	ToolCallID     *string
	Error          *string
	ActivityType   *string
	EncryptedValue *string
	SubagentRunID  *string
	Metadata       Metadata
}

// ToolCall is a call as an assistant message holds it. Arguments is text that need not
// be JSON.
type ToolCall struct {
	ID             *string
	Type           *string
	Function       *Function
	EncryptedValue *string
	Metadata       Metadata
}

// Function is what a tool call names.
type Function struct {
	Name      *string
	Arguments *string
}

// Text is the string a pointer leads to, empty for nil.
func Text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// MarshalJSON writes the message as the protocol does, in one order of properties.
func (m Message) MarshalJSON() ([]byte, error) {
	return writeObject(nil, messageProps(), &m), nil
}

// MarshalJSON writes the call as the protocol does.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return writeObject(nil, toolCallProps(), &c), nil
}

var functionProps = sync.OnceValue(func() []property[Function] {
	return []property[Function]{
		text("name", func(f *Function) **string { return &f.Name }),
		text("arguments", func(f *Function) **string { return &f.Arguments }),
	}
})

var toolCallProps = sync.OnceValue(func() []property[ToolCall] {
	return []property[ToolCall]{
		text("id", func(c *ToolCall) **string { return &c.ID }),
		text("type", func(c *ToolCall) **string { return &c.Type }),
		object("function", func(c *ToolCall) **Function { return &c.Function }, functionProps()),
		text("encryptedValue", func(c *ToolCall) **string { return &c.EncryptedValue }, nullIsSloppy),
		metadataOf(func(c *ToolCall) *Metadata { return &c.Metadata }),
	}
})

var messageProps = sync.OnceValue(func() []property[Message] {
	return []property[Message]{
		text("id", func(m *Message) **string { return &m.ID }),
		text("role", func(m *Message) **string { return &m.Role }),
		content(func(m *Message) *json.RawMessage { return &m.Content }, NullField, objectKind),
		text("name", func(m *Message) **string { return &m.Name }, nullIsSloppy),
		list("toolCalls", func(m *Message) *[]ToolCall { return &m.ToolCalls }, toolCallProps(), nil),
		text("toolCallId", func(m *Message) **string { return &m.ToolCallID }),
		text("error", func(m *Message) **string { return &m.Error }, nullIsSloppy),
		text("activityType", func(m *Message) **string { return &m.ActivityType }),
		text("encryptedValue", func(m *Message) **string { return &m.EncryptedValue }, nullIsSloppy),
		text("subagentRunId", func(m *Message) **string { return &m.SubagentRunID }),
		metadataOf(func(m *Message) *Metadata { return &m.Metadata }),
	}
})

// knownMessage keeps the messages whose role is known.
func knownMessage(m *Message) bool { return Role(Text(m.Role)).known() }
