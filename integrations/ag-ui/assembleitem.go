package agui

import "encoding/json"

// append adds a message to the conversation.
func (a *Assembler) append(i *item) {
	a.items = append(a.items, i)
	a.index(i)
}

func (a *Assembler) index(i *item) {
	if id := Text(i.ID); a.byID[id] == nil {
		a.byID[id] = i
	}
	for _, c := range i.calls {
		if a.callsBy[c.id] == nil {
			a.callsBy[c.id] = c
		}
	}
}

// messageIDOf and callIDOf name what an event is about among what is open.
func messageIDOf(e *Event) itemID { return itemID{id: Text(e.MessageID)} }
func callIDOf(e *Event) itemID    { return itemID{call: true, id: Text(e.ToolCallID)} }

// messageOpen and callOpen report whether the stream has an item open.
func (a *Assembler) messageOpen(i *item) bool { return a.open[itemID{id: Text(i.ID)}] }
func (a *Assembler) callOpen(c *call) bool    { return a.open[itemID{call: true, id: c.id}] }

// messageStart opens a message, new or known. Who a known one is from stays.
func (a *Assembler) messageStart(e *Event) {
	a.start(messageIDOf(e))
	i := a.byID[Text(e.MessageID)]
	if i == nil {
		role := Role(Text(e.Role))
		switch {
		case e.Type == ReasoningMessageStart:
			role = ReasoningRole
		case !role.known():
			role = Assistant
		}
		from := string(role)
		i = &item{Message: Message{ID: e.MessageID, Role: &from, Name: e.Name, SubagentRunID: e.SubagentRunID},
			text: &grown{}, start: e.Timestamp, minted: a.normal.Minted(Text(e.MessageID))}
		a.append(i)
	}
	i.end = nil
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}

// start opens an item. One that is open already is not opened twice.
func (a *Assembler) start(id itemID) {
	if a.open[id] {
		a.report(StartAlreadyOpen)
	}
	a.open[id] = true
}

func (a *Assembler) messageContent(e *Event) {
	i := a.byID[Text(e.MessageID)]
	if i == nil {
		a.unknown(messageIDOf(e), ContentUnknownID)
		return
	}
	a.checkContinuation(messageIDOf(e), Text(i.SubagentRunID), ContentNotOpen)
	i.add(e.Delta, e.ends)
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}

func (a *Assembler) messageEnd(e *Event) {
	id := messageIDOf(e)
	defer delete(a.open, id)
	i := a.byID[id.id]
	if i == nil {
		a.unknown(id, EndUnknownID)
		return
	}
	a.checkContinuation(id, Text(i.SubagentRunID), EndNotOpen)
	i.end = e.Timestamp
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}

// unknown reports an event about an item that is not there, unless a snapshot dropped it
// while it was open.
func (a *Assembler) unknown(id itemID, code string) {
	if !a.open[id] {
		a.report(code)
	}
}

// checkContinuation reports an event about an item that is not open or another owner's.
// What comes after the run's end was reported as that.
func (a *Assembler) checkContinuation(id itemID, owner, code string) {
	if !a.open[id] && !a.late {
		a.report(code)
	}
	if e := a.event; e.SubagentRunID != nil && *e.SubagentRunID != owner {
		a.report(OwnerMismatch)
	}
}

// callStart opens a tool call, new or known. Its metadata is the call's and not its
// message's.
func (a *Assembler) callStart(e *Event) {
	a.start(callIDOf(e))
	id := Text(e.ToolCallID)
	c := a.callsBy[id]
	if c == nil {
		c = &call{id: id, owner: e.Owner(), parent: a.parentOf(e)}
		c.parent.calls = append(c.parent.calls, c)
		a.callsBy[id] = c
	}
	if e.ToolCallName != nil {
		c.name = *e.ToolCallName
	}
	c.metadata = MergeMetadata(c.metadata, e.Metadata)
}

// parentOf finds or makes the assistant message that a new call belongs to.
func (a *Assembler) parentOf(e *Event) *item {
	id := e.ParentMessageID
	if id != nil {
		if i := a.byID[*id]; i != nil && i.role() != Assistant {
			id = nil
		}
	}
	if id == nil {
		id = e.ToolCallID
	}
	if i := a.byID[*id]; i != nil && i.role() == Assistant {
		return i
	}
	role := string(Assistant)
	i := &item{Message: Message{ID: id, Role: &role, SubagentRunID: e.SubagentRunID}}
	a.append(i)
	return i
}

func (a *Assembler) callArgs(e *Event) {
	id := callIDOf(e)
	c := a.callsBy[id.id]
	if c == nil {
		a.unknown(id, ArgsUnknownID)
		return
	}
	a.checkContinuation(id, c.owner, ArgsNotOpen)
	if a.open[id] || !json.Valid([]byte(c.args.String())) {
		c.args.add(e.Delta, e.ends)
	}
	c.metadata = MergeMetadata(c.metadata, e.Metadata)
}

func (a *Assembler) callEnd(e *Event) {
	id := callIDOf(e)
	defer delete(a.open, id)
	c := a.callsBy[id.id]
	if c == nil {
		a.unknown(id, EndUnknownID)
		return
	}
	a.checkContinuation(id, c.owner, EndNotOpen)
	c.metadata = MergeMetadata(c.metadata, e.Metadata)
}

// callResult makes a tool message and puts it behind the message with its call.
func (a *Assembler) callResult(e *Event) {
	if e.MessageID != nil && a.byID[*e.MessageID] != nil {
		a.report(DuplicateMessageID)
	}
	role := string(ToolRole)
	i := &item{Message: Message{ID: e.MessageID, Role: &role, Content: e.Content, ToolCallID: e.ToolCallID,
		SubagentRunID: e.SubagentRunID, Metadata: MergeMetadata(nil, e.Metadata)}, start: e.Timestamp, end: e.Timestamp}
	c := a.callsBy[Text(e.ToolCallID)]
	if c == nil {
		a.report(ResultWithoutCall)
		a.append(i)
		return
	}
	at := 0
	for at < len(a.items) && a.items[at] != c.parent {
		at++
	}
	for at++; at < len(a.items) && a.items[at].role() == ToolRole; at++ {
	}
	at = min(at, len(a.items))
	a.items = append(a.items[:at:at], append([]*item{i}, a.items[at:]...)...)
	a.index(i)
}

// snapshot makes the conversation what a snapshot says: known messages are replaced
// where they stand, others dropped, new ones added. Activities and reasoning stay where
// the snapshot has none of their kind. What is open stays open and grows on.
func (a *Assembler) snapshot(messages []Message) {
	fresh := map[string]*item{}
	has := map[Role]bool{}
	var order []*item
	for _, m := range messages {
		i := itemOf(m)
		has[i.role()] = true
		order = append(order, i)
		if id := Text(m.ID); fresh[id] == nil {
			fresh[id] = i
		}
	}
	var items []*item
	placed := map[*item]bool{}
	for _, old := range a.items {
		if now := fresh[Text(old.ID)]; now != nil {
			if !placed[now] {
				placed[now] = true
				now.start, now.end, now.minted = old.start, old.end, old.minted
				items = append(items, now)
			}
			continue
		}
		if role := old.role(); (role == Activity || role == ReasoningRole) && !has[role] {
			items = append(items, old)
		}
	}
	for _, i := range order {
		if !placed[i] {
			items = append(items, i)
		}
	}
	a.items = items
	clear(a.byID)
	clear(a.callsBy)
	for _, i := range items {
		a.index(i)
	}
}
