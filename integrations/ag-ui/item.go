package agui

import "encoding/json"

// item is a message while it is put together.
type item struct {
	Message         // all but what the fields below hold
	text    *grown  // content that grows by deltas; nil: Message.Content holds it
	calls   []*call // in place of Message.ToolCalls
	minted  bool    // the id is made up, for a retired event that has none
	start   *int64
	end     *int64
}

// call is a tool call while it is put together.
type call struct {
	id        string
	name      string
	args      grown
	owner     string
	parent    *item
	encrypted *string
	metadata  Metadata
}

// role is the message's role.
func (i *item) role() Role { return Role(Text(i.Role)) }

// add appends a piece to the content, whatever it was made of before.
func (i *item) add(piece *string, ends seam) {
	if i.text == nil {
		i.text = &grown{}
		if kindOf(i.Content) == stringKind {
			text := textOf(i.Content)
			i.text.add(&text, seamOf(i.Content))
		}
		i.Content = nil
	}
	i.text.add(piece, ends)
}

// content is the content as JSON; nil: none.
func (i *item) content() json.RawMessage {
	if i.text != nil {
		return appendString(nil, i.text.String())
	}
	return i.Content
}

// message returns the message as it stands.
func (i *item) message() Message {
	m := i.Message
	m.Content = i.content()
	m.ToolCalls = nil
	for _, c := range i.calls {
		m.ToolCalls = append(m.ToolCalls, c.toolCall())
	}
	return m
}

func (c *call) toolCall() ToolCall {
	id, name, args, function := c.id, c.name, c.args.String(), "function"
	return ToolCall{ID: &id, Type: &function, Function: &Function{Name: &name, Arguments: &args},
		EncryptedValue: c.encrypted, Metadata: c.metadata}
}

// itemOf makes an item of a message that came whole.
func itemOf(m Message) *item {
	i := &item{Message: m}
	i.ToolCalls = nil
	for _, tc := range m.ToolCalls {
		i.calls = append(i.calls, callOf(tc, i))
	}
	return i
}

func callOf(tc ToolCall, parent *item) *call {
	c := &call{id: Text(tc.ID), owner: Text(parent.SubagentRunID), parent: parent,
		encrypted: tc.EncryptedValue, metadata: tc.Metadata}
	if tc.Function != nil {
		c.name = Text(tc.Function.Name)
		c.args.add(tc.Function.Arguments, seam{})
	}
	return c
}
