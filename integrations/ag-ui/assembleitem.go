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

// messageStart opens a message, new or known. Who a known one is from stays.
func (a *Assembler) messageStart(e *Event) {
	i := a.byID[Text(e.MessageID)]
	if i == nil {
		i = &item{Message: Message{ID: e.MessageID, Role: e.Role, Name: e.Name, SubagentRunID: e.SubagentRunID},
			text: &grown{}, start: e.Timestamp, minted: a.normal.Minted(Text(e.MessageID))}
		if role := string(Assistant); i.Role == nil {
			if e.Type == ReasoningMessageStart {
				role = string(ReasoningRole)
			}
			i.Role = &role
		}
		a.append(i)
	} else if i.open {
		a.report(StartAlreadyOpen)
	}
	i.open, i.end = true, nil
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}

func (a *Assembler) messageContent(e *Event) {
	i := a.byID[Text(e.MessageID)]
	if i == nil {
		a.report(ContentUnknownID)
		return
	}
	a.checkContinuation(i.open, Text(i.SubagentRunID), ContentNotOpen)
	i.add(e.Delta)
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}

func (a *Assembler) messageEnd(e *Event) {
	i := a.byID[Text(e.MessageID)]
	if i == nil {
		a.report(EndUnknownID)
		return
	}
	a.checkContinuation(i.open, Text(i.SubagentRunID), EndNotOpen)
	i.open, i.end = false, e.Timestamp
	i.Metadata = MergeMetadata(i.Metadata, e.Metadata)
}

// checkContinuation reports an event about an item that is not open or another owner's.
// What comes after the run's end was reported as that.
func (a *Assembler) checkContinuation(open bool, owner, code string) {
	if !open && !a.late {
		a.report(code)
	}
	if e := a.event; e.SubagentRunID != nil && *e.SubagentRunID != owner {
		a.report(OwnerMismatch)
	}
}

// callStart opens a tool call, new or known. Its metadata is the call's and not its
// message's.
func (a *Assembler) callStart(e *Event) {
	id := Text(e.ToolCallID)
	c := a.callsBy[id]
	if c == nil {
		c = &call{id: id, owner: e.Owner(), parent: a.parentOf(e)}
		c.parent.calls = append(c.parent.calls, c)
		a.callsBy[id] = c
	} else if c.open {
		a.report(StartAlreadyOpen)
	}
	if e.ToolCallName != nil {
		c.name = *e.ToolCallName
	}
	c.open = true
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
	c := a.callsBy[Text(e.ToolCallID)]
	if c == nil {
		a.report(ArgsUnknownID)
		return
	}
	a.checkContinuation(c.open, c.owner, ArgsNotOpen)
	if c.open || !json.Valid([]byte(c.args.String())) {
		c.args.add(e.Delta)
	}
	c.metadata = MergeMetadata(c.metadata, e.Metadata)
}

func (a *Assembler) callEnd(e *Event) {
	c := a.callsBy[Text(e.ToolCallID)]
	if c == nil {
		a.report(EndUnknownID)
		return
	}
	a.checkContinuation(c.open, c.owner, EndNotOpen)
	c.open = false
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
				a.replace(old, now)
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

// replace carries over what a snapshot cannot say of a message: whether it is open, and
// when it was.
func (a *Assembler) replace(old, now *item) {
	now.open, now.start, now.end, now.minted = old.open, old.start, old.end, old.minted
	for _, c := range now.calls {
		if before := a.callsBy[c.id]; before != nil {
			c.open = before.open
		}
	}
}
