package agui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// fold takes in an event of the run. The assembler has applied it.
func (t *turn) fold(e *Event) {
	owner := e.Owner()
	switch e.Type {
	case SubagentStarted, SubagentFinished, SubagentError:
		t.subagent(e)
		return
	}
	if owner != "" {
		t.ownerOf(owner)
	}
	switch e.Type {
	case RunFinished:
		if len(t.ends) == 0 {
			t.finish(e)
		}
	case RunError:
		if !slices.ContainsFunc(t.ends, func(end *Event) bool { return end.Type == RunError }) {
			t.finish(e)
		}
	case TextMessageStart, TextMessageContent, TextMessageEnd,
		ReasoningMessageStart, ReasoningMessageContent, ReasoningMessageEnd:
		t.message(e)
	case ToolCallStart, ToolCallArgs, ToolCallEnd:
		t.toolCall(e)
	case ToolCallResult:
		t.toolResult(e)
	case MessagesSnapshot:
		t.snapshot(e)
	case StepStarted, StepFinished, StateSnapshot, StateDelta, ActivitySnapshot, ActivityDelta, Raw, Custom:
		t.happened(e)
	}
}

// message follows a message of text or reasoning.
func (t *turn) message(e *Event) {
	i := t.asm.byID[Text(e.MessageID)]
	starts := e.Type == TextMessageStart || e.Type == ReasoningMessageStart
	ends := e.Type == TextMessageEnd || e.Type == ReasoningMessageEnd
	if i == nil {
		if ends {
			t.endDropped(t.calls[Text(e.MessageID)], e)
		}
		return
	}
	id, owner := Text(i.ID), Text(i.SubagentRunID)
	if starts {
		t.complete(owner, id)
	}
	switch i.role() {
	case ReasoningRole:
		if !t.thought[id] {
			t.thought[id] = true
			t.thoughts[owner] = append(t.thoughts[owner], i)
		}
	case Assistant:
		c := t.calls[id]
		if c == nil && ends {
			return // the last word on a message of another run
		}
		if c == nil {
			c = t.modelCall(i)
		}
		c.streamed = true
		if c.token.IsZero() && Text(e.Delta) != "" {
			c.token = t.r.clock
		}
		if ends {
			c.end, c.cut = t.endOf(c, e), false
			return
		}
		c.heard = t.r.clock
		if t.over.IsZero() {
			c.end = time.Time{}
		}
	}
}

// modelCall begins the run of the model call that an assistant's message came from.
func (t *turn) modelCall(i *item) *child {
	id, owner := Text(i.ID), Text(i.SubagentRunID)
	c := t.add(runtypes.KindLLM, id, owner, func(parent *runtypes.Run, at time.Time) *runtypes.Run {
		return runtypes.LLM(parent, idOf(t.began, t.thread, t.key, "llm", id), at, runtypes.Model{})
	})
	c.message = i
	c.inputs = t.before(i, owner)
	c.reasoning = t.thoughts[owner]
	delete(t.thoughts, owner)
	t.calls[id], t.latest[owner] = c, id
	t.waiting = append(t.waiting, c)
	return c
}

// toolCall follows a tool call, and with it the message it belongs to.
func (t *turn) toolCall(e *Event) {
	call := t.asm.callsBy[Text(e.ToolCallID)]
	if call == nil {
		if e.Type == ToolCallEnd {
			t.endDropped(t.tools[Text(e.ToolCallID)], e)
		}
		return
	}
	parent := t.calls[Text(call.parent.ID)]
	if parent == nil && !t.known[Text(call.parent.ID)] {
		t.complete(call.owner, Text(call.parent.ID))
		parent = t.modelCall(call.parent)
	}
	c := t.tools[call.id]
	if c == nil {
		if e.Type != ToolCallStart && t.known[Text(call.parent.ID)] {
			return // of another run
		}
		c = t.tool(call.id, call.owner)
	}
	c.streamed = true
	t.callOf(c)
	if e.Type != ToolCallEnd {
		c.heard = t.r.clock
		if c.result == nil && t.over.IsZero() {
			c.end = time.Time{}
		}
		return
	}
	if c.result == nil {
		c.end, c.cut = t.endOf(c, e), false
	}
	if parent != nil && !t.asm.messageOpen(call.parent) {
		parent.streamed, parent.end, parent.cut = true, t.endOf(c, e), false
	}
}

// endOf is when an item ended: at its END, or with the last of its chunks, which nothing
// but what comes next, however late, tells to be the last.
func (t *turn) endOf(c *child, e *Event) time.Time {
	if e.closed && !c.heard.IsZero() {
		return c.heard
	}
	return t.r.clock
}

// endDropped ends what a snapshot took out while it was open; c is nil for what never was.
func (t *turn) endDropped(c *child, e *Event) {
	if c != nil && c.end.IsZero() {
		c.end, c.cut = t.endOf(c, e), false
	}
}

// tool begins the run of a tool call.
func (t *turn) tool(id, owner string) *child {
	c := t.add(runtypes.KindTool, id, owner, func(parent *runtypes.Run, at time.Time) *runtypes.Run {
		return runtypes.Tool(parent, idOf(t.began, t.thread, t.key, "tool", id), at, "unknown")
	})
	t.tools[id] = c
	return c
}

// toolResult ends a tool call. One whose call was in a run before is a call of this one,
// unless that run left it to be answered.
func (t *turn) toolResult(e *Event) {
	id := Text(e.ToolCallID)
	role := string(ToolRole)
	result := &item{Message: Message{ID: e.MessageID, Role: &role, Content: e.Content,
		ToolCallID: e.ToolCallID, Metadata: MergeMetadata(nil, e.Metadata)}}
	c := t.tools[id]
	if c == nil {
		before, known := t.answered(id)
		if known && before.run != nil {
			t.patch(before.run, result)
			return
		}
		owner := e.Owner()
		if call := t.asm.callsBy[id]; call != nil && owner == "" {
			owner = call.owner
		}
		if t.place(owner) == t.root {
			owner = ""
		}
		c = t.tool(id, owner)
		c.toolName, c.originalRun = before.name, before.runID
	}
	c.result, c.end, c.cut, c.streamed = result, t.r.clock, false, true
	t.complete(c.owner, "")
	t.early(c)
}

// subagent follows a subagent's life.
func (t *turn) subagent(e *Event) {
	id := e.Owner()
	c := t.subs[id]
	if e.Type == SubagentStarted {
		switch {
		case c != nil && c.started == nil && c.finished == nil: // known by its events
			c.started = e
			t.name(c, Text(e.Name))
		case c == nil || c.finished != nil:
			c = t.newSubagent(id, t.above(e), Text(e.Name))
			c.started = e
		}
		return
	}
	if c == nil {
		c = t.newSubagent(id, t.root, "")
	}
	if c.finished != nil {
		return
	}
	c.finished, c.end, c.cut = e, t.r.clock, false
	t.complete(id, "")
	t.early(c)
}

// ownerOf returns a subagent that an event names; one that was never started starts here.
func (t *turn) ownerOf(id string) *child {
	if c := t.subs[id]; c != nil {
		return c
	}
	return t.newSubagent(id, t.root, "")
}

// above is the run that a new subagent hangs under.
func (t *turn) above(e *Event) *runtypes.Run {
	if c := t.subs[Text(e.ParentSubagentRunID)]; e.ParentSubagentRunID != nil && c != nil {
		return c.base
	}
	if c := t.tools[Text(e.ParentToolCallID)]; e.ParentToolCallID != nil && c != nil {
		return c.base
	}
	return t.root
}

func (t *turn) newSubagent(id string, parent *runtypes.Run, name string) *child {
	native := id
	if t.subs[id] != nil { // started once more
		native += "\x00" + strconv.Itoa(len(t.children))
	}
	c := t.add(runtypes.KindSubagent, id, "", func(_ *runtypes.Run, at time.Time) *runtypes.Run {
		return runtypes.Subagent(parent, idOf(t.began, t.thread, t.key, "subagent", native), at,
			runtypes.SubagentInfo{ID: orText(&id, "unknown")})
	})
	t.name(c, name)
	t.subs[id] = c
	return c
}

func (t *turn) name(c *child, name string) {
	if name == "" {
		name = "subagent"
	}
	c.base.Subagent.Type = name
	c.base.Name = name + " Subagent"
}

// complete tells the model calls of an owner that have ended, since something else has
// begun; except is the one that it belongs to.
func (t *turn) complete(owner, except string) {
	t.waiting = slices.DeleteFunc(t.waiting, func(c *child) bool {
		if c.owner != owner || c.id == except || c.end.IsZero() || t.growing(c) {
			return false
		}
		t.early(c)
		return true
	})
}

// growing reports whether a model call's message has something open.
func (t *turn) growing(c *child) bool {
	i := t.messageOf(c)
	return t.asm.messageOpen(i) || slices.ContainsFunc(i.calls, t.asm.callOpen)
}

// early tells a child before its run is over, for people who watch.
func (t *turn) early(c *child) {
	if !t.r.opts.Settled && !c.posted {
		t.emit(c)
	}
}

// happened keeps a moment of the run or of a subagent. What it carries is left out.
func (t *turn) happened(e *Event) {
	m := moment{name: strings.ToLower(string(e.Type)), at: t.r.clock, data: map[string]any{}}
	if e.StepName != nil {
		m.data["stepName"] = *e.StepName
	}
	if e.Type == Custom && e.Name != nil {
		m.data["custom"] = *e.Name
	}
	if e.ActivityType != nil {
		m.data["activityType"] = *e.ActivityType
	}
	if len(e.Metadata) > 0 {
		m.data["metadata"] = e.Metadata
	}
	t.keepState(e)
	if c := t.subs[e.Owner()]; e.Owner() != "" && c != nil {
		c.note(m)
		return
	}
	if len(t.marks) >= maxMoments {
		t.marksDropped++
		return
	}
	t.marks = append(t.marks, m)
}

// keepState follows the agent's state where it is asked for.
func (t *turn) keepState(e *Event) {
	if !t.r.opts.State {
		return
	}
	switch e.Type {
	case StateSnapshot:
		t.state = e.Snapshot
	case StateDelta:
		if next, err := applyPatch(t.state, e.Patch); err == nil {
			t.state = next
		}
	}
}
