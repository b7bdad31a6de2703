package agui

import (
	"fmt"
	"strings"
)

// Normalizer replaces the short forms of the protocol by the long ones: a chunk by the
// START, CONTENT or ARGS and END that it stands for, a retired THINKING event by the
// REASONING event that took its place. All other events pass. Its zero value is ready;
// it is not for concurrent use.
//
// What a chunk says goes to what the chunk makes, and never to the END of the item
// before it. Metadata alone, as of a last chunk with the usage, is an empty CONTENT.
type Normalizer struct {
	lanes    []*lane // streams of chunks that are open, at most one for each owner
	thinking []*thought
	minted   map[string]bool
	spans    int
	thoughts int
	verbatim bool // retired events pass as they are
}

// lane is an open stream of chunks.
type lane struct {
	owner  *string
	chunks Type
	id     string
	last   *int64 // timestamp of the latest chunk
	role   string
	name   string
	parent string
}

// thought is what an owner's retired events have open.
type thought struct {
	owner   string
	span    *string
	message *string
}

// longForm names the events that chunks stand for.
var longForm = map[Type]struct{ start, content, end Type }{
	TextMessageChunk:      {TextMessageStart, TextMessageContent, TextMessageEnd},
	ReasoningMessageChunk: {ReasoningMessageStart, ReasoningMessageContent, ReasoningMessageEnd},
	ToolCallChunk:         {ToolCallStart, ToolCallArgs, ToolCallEnd},
}

// Apply returns the events that an event stands for, in order. The event itself is not
// changed.
func (n *Normalizer) Apply(e *Event) ([]*Event, []Problem) {
	if _, chunk := longForm[e.Type]; chunk {
		return n.chunk(e)
	}
	events := n.closeFor(e)
	if n.verbatim {
		return append(events, e), nil
	}
	translated, problems := n.retired(e)
	return append(events, translated...), problems
}

// Minted reports whether an id is one that the normalizer made up for a retired event.
func (n *Normalizer) Minted(id string) bool { return n.minted[id] }

// closeFor ends the streams of chunks that an event ends.
func (n *Normalizer) closeFor(e *Event) []*Event {
	if e.Type == RunStarted {
		n.thinking = nil
	}
	switch e.Type {
	case RunStarted, RunFinished, RunError, MessagesSnapshot:
		var ends []*Event
		for len(n.lanes) > 0 {
			ends = append(ends, n.close(n.lanes[0]))
		}
		return ends
	case Raw, ActivitySnapshot, ActivityDelta, ReasoningEncryptedValue, SubagentStarted:
		return nil
	}
	if l := n.laneOf(e.Owner()); l != nil {
		return []*Event{n.close(l)}
	}
	return nil
}

func (n *Normalizer) laneOf(owner string) *lane {
	for _, l := range n.lanes {
		if Text(l.owner) == owner {
			return l
		}
	}
	return nil
}

// close ends a stream of chunks.
func (n *Normalizer) close(l *lane) *Event {
	for i := range n.lanes {
		if n.lanes[i] == l {
			n.lanes = append(n.lanes[:i:i], n.lanes[i+1:]...)
			break
		}
	}
	end := l.event(longForm[l.chunks].end, l.last)
	end.closed = true
	return end
}

// event is an event about the lane's item.
func (l *lane) event(t Type, at *int64) *Event {
	e := &Event{Type: t, Timestamp: at, SubagentRunID: l.owner}
	id := l.id
	if l.chunks == ToolCallChunk {
		e.ToolCallID = &id
	} else {
		e.MessageID = &id
	}
	return e
}

// chunk opens or continues a stream.
func (n *Normalizer) chunk(e *Event) ([]*Event, []Problem) {
	l, code := n.continued(e)
	if code != "" {
		return nil, []Problem{{Code: ChunkWithoutID, Detail: string(e.Type) + code}}
	}
	if l != nil {
		problems := l.conflicts(e)
		if e.Timestamp != nil {
			l.last = e.Timestamp
		}
		if e.Delta == nil && e.Metadata == nil {
			return nil, problems
		}
		next := l.event(longForm[e.Type].content, e.Timestamp)
		next.Metadata, next.RawEvent, next.Delta, next.ends = e.Metadata, e.RawEvent, e.Delta, e.ends
		if next.Delta == nil {
			next.Delta = new(string)
		}
		return []*Event{next}, problems
	}
	return n.opening(e)
}

// chunkID is the id that a chunk names; nil: it continues what is open.
func chunkID(e *Event) *string {
	if e.Type == ToolCallChunk {
		return e.ToolCallID
	}
	return e.MessageID
}

// continued finds the stream that a chunk continues; nil: it opens one.
func (n *Normalizer) continued(e *Event) (l *lane, code string) {
	id := chunkID(e)
	own := n.laneOf(e.Owner())
	if own != nil && own.chunks == e.Type && (id == nil || *id == own.id) {
		return own, ""
	}
	if e.SubagentRunID == nil {
		var others []*lane
		for _, each := range n.lanes {
			if each.chunks == e.Type && (id == nil || *id == each.id) {
				others = append(others, each)
			}
		}
		switch {
		case len(others) == 1:
			return others[0], ""
		case len(others) > 1:
			return nil, ": ambiguous"
		}
	}
	if id == nil {
		return nil, ": nothing open"
	}
	return nil, ""
}

// opening starts the item that a chunk names.
func (n *Normalizer) opening(e *Event) ([]*Event, []Problem) {
	var events []*Event
	var problems []Problem
	if before := n.laneOf(e.Owner()); before != nil {
		events = append(events, n.close(before))
	}
	if e.Type == ToolCallChunk && e.ToolCallName == nil {
		problems = append(problems, Problem{Code: ChunkWithoutID, Detail: string(e.Type) + ".toolCallName"})
	}
	l := &lane{owner: e.SubagentRunID, chunks: e.Type, id: *chunkID(e), last: e.Timestamp}
	l.take(e)
	n.lanes = append(n.lanes, l)
	start := l.event(longForm[e.Type].start, e.Timestamp)
	start.Metadata, start.RawEvent = e.Metadata, e.RawEvent
	start.Role, start.Name = e.Role, e.Name
	start.ToolCallName, start.ParentMessageID = e.ToolCallName, e.ParentMessageID
	events = append(events, start)
	if e.Delta != nil {
		content := l.event(longForm[e.Type].content, e.Timestamp)
		content.Delta, content.ends = e.Delta, e.ends
		events = append(events, content)
	}
	return events, problems
}

// take remembers what a later chunk may repeat but not change.
func (l *lane) take(e *Event) {
	l.role, l.parent = Text(e.Role), Text(e.ParentMessageID)
	l.name = Text(e.Name) + Text(e.ToolCallName)
}

func (l *lane) conflicts(e *Event) []Problem {
	repeated := &lane{}
	repeated.take(e)
	for _, each := range []struct{ property, was, is string }{
		{"role", l.role, repeated.role},
		{"name", l.name, repeated.name},
		{"parentMessageId", l.parent, repeated.parent},
	} {
		if each.was != "" && each.is != "" && each.was != each.is {
			return []Problem{{Code: ChunkConflict, Detail: string(e.Type) + "." + each.property}}
		}
	}
	return nil
}

// retired translates an event of a 0.x producer, which names no ids.
func (n *Normalizer) retired(e *Event) ([]*Event, []Problem) {
	if !strings.HasPrefix(string(e.Type), "THINKING_") {
		return []*Event{e}, nil
	}
	now := *e
	switch e.Type {
	case ThinkingStart:
		n.spans++
		t := n.thoughtOf(e.Owner())
		t.span = n.mint(fmt.Sprintf("thinking-span-%d", n.spans))
		now.Type, now.MessageID = ReasoningStart, t.span
	case ThinkingEnd:
		t := n.thoughtOf(e.Owner())
		if t.span == nil {
			return nil, []Problem{{Code: EndNotOpen, Detail: string(e.Type)}}
		}
		now.Type, now.MessageID = ReasoningEnd, t.span
		t.span = nil
	case ThinkingTextMessageStart:
		now.Type, now.MessageID, now.Role = ReasoningMessageStart, n.nextThought(e), reasoningRole()
	case ThinkingTextMessageContent:
		t := n.thoughtOf(e.Owner())
		if t.message == nil {
			problems := []Problem{{Code: ContentNotOpen, Detail: string(e.Type)}}
			start := &Event{Type: ReasoningMessageStart, Timestamp: e.Timestamp, SubagentRunID: e.SubagentRunID,
				MessageID: n.nextThought(e), Role: reasoningRole()}
			now.Type, now.MessageID = ReasoningMessageContent, t.message
			return []*Event{start, &now}, problems
		}
		now.Type, now.MessageID = ReasoningMessageContent, t.message
	case ThinkingTextMessageEnd:
		t := n.thoughtOf(e.Owner())
		if t.message == nil {
			return nil, []Problem{{Code: EndNotOpen, Detail: string(e.Type)}}
		}
		now.Type, now.MessageID = ReasoningMessageEnd, t.message
		t.message = nil
	}
	return []*Event{&now}, nil
}

func reasoningRole() *string {
	role := string(ReasoningRole)
	return &role
}

func (n *Normalizer) nextThought(e *Event) *string {
	n.thoughts++
	t := n.thoughtOf(e.Owner())
	t.message = n.mint(fmt.Sprintf("thinking-%d", n.thoughts))
	return t.message
}

func (n *Normalizer) mint(id string) *string {
	if n.minted == nil {
		n.minted = map[string]bool{}
	}
	n.minted[id] = true
	return &id
}

func (n *Normalizer) thoughtOf(owner string) *thought {
	for _, t := range n.thinking {
		if t.owner == owner {
			return t
		}
	}
	t := &thought{owner: owner}
	n.thinking = append(n.thinking, t)
	return t
}
