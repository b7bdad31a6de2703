package agui

import (
	"slices"

	"github.com/tracesmith/tracesmith/runtypes"
)

// snapshot takes in what only a snapshot tells: model calls and tool calls of this run
// that were not streamed, results, and what was repaired.
func (t *turn) snapshot(e *Event) {
	t.snapshots = MergeMetadata(t.snapshots, e.Metadata)
	for _, c := range t.children { // what was said was said, though it may be said anew
		c.dropped = c.dropped || c.kind == runtypes.KindLLM && t.asm.byID[c.id] == nil ||
			c.kind == runtypes.KindTool && t.asm.callsBy[c.id] == nil
	}
	var items []*item
	for _, m := range e.Messages {
		items = append(items, itemOf(m))
	}
	at, block := asked(items)
	if len(block) > 0 {
		for _, i := range items[:at] {
			if id := Text(i.ID); t.calls[id] == nil {
				t.older[id], t.known[id] = true, true
			}
		}
	}
	thoughts := map[string][]*item{} // that only the snapshot tells, by owner
	for _, i := range items {
		id, owner := Text(i.ID), Text(i.SubagentRunID)
		switch i.role() {
		case ReasoningRole:
			if !t.known[id] && !t.thought[id] {
				t.thought[id] = true
				thoughts[owner] = append(thoughts[owner], i)
			}
		case Assistant:
			t.snapshotCalls(i, thoughts[owner])
			delete(thoughts, owner)
		case ToolRole:
			t.snapshotResult(i)
		}
	}
	for owner, left := range thoughts {
		t.thoughts[owner] = append(t.thoughts[owner], left...)
	}
}

// snapshotCalls takes in a message of a model and its calls, and the reasoning before it.
func (t *turn) snapshotCalls(i *item, thoughts []*item) {
	id, owner := Text(i.ID), Text(i.SubagentRunID)
	before := t.known[id] || slices.ContainsFunc(i.calls, func(c *call) bool { return t.made[c.id] })
	if before && t.calls[id] == nil {
		return
	}
	now := t.asm.byID[id]
	if now == nil || now.role() != Assistant {
		return
	}
	c := t.calls[id]
	if c == nil {
		c = t.renamed(now)
	}
	if c == nil {
		t.thoughts[owner] = append(t.thoughts[owner], thoughts...)
		c = t.modelCall(now)
		c.streamed, c.end = false, c.base.Start
	} else {
		c.dropped = false // by a snapshot before
		c.reasoning = append(c.reasoning, thoughts...)
	}
	for _, call := range now.calls {
		c := t.tools[call.id]
		if c == nil {
			c = t.tool(call.id, Text(now.SubagentRunID))
			c.streamed, c.end = false, c.base.Start
		}
		c.dropped = false
	}
}

// renamed finds the model call whose message stands in a snapshot under another id, and
// takes that id for it; nil: there is none. A tool call that was streamed without its
// message has one of its own id, until a snapshot tells the true one.
func (t *turn) renamed(now *item) *child {
	made := func(c *call) bool {
		return slices.ContainsFunc(now.calls, func(each *call) bool { return each.id == c.id })
	}
	for _, c := range t.children {
		if c.kind != runtypes.KindLLM || !c.dropped || !slices.ContainsFunc(c.message.calls, made) {
			continue
		}
		id := Text(now.ID)
		if t.latest[c.owner] == c.id {
			t.latest[c.owner] = id
		}
		t.calls[id] = c // and under the id before, which its run's own is made of
		c.id, c.message, c.dropped = id, now, false
		return c
	}
	return nil
}

func (t *turn) snapshotResult(i *item) {
	c := t.tools[Text(i.ToolCallID)]
	switch {
	case c == nil:
		return
	case c.result == nil && !c.streamed:
		c.end = c.base.Start
	case c.result == nil:
		c.end, c.cut = t.r.clock, false
	}
	c.result = i
}
