package pi

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A reference names an event of the journal (see integrations.Source.Recall) that holds
// a message; one that a tool's result repeats of a subagent has its place there behind
// a bar: 1f|0.2 is the third message of the first subagent.

// maxHeld bounds the bytes of messages that are kept from one call to the next.
const maxHeld = 16 << 20

// recall reads an event once more.
func (r *reducer) recall(src integrations.Source, from ref) (*data, error) {
	if from == "" {
		return nil, fmt.Errorf("pi: recall: %w", fs.ErrNotExist)
	}
	base, _, _ := strings.Cut(from, "|")
	e, err := src.Recall(base)
	if err != nil {
		return nil, fmt.Errorf("pi: recall: %w", err)
	}
	return load(src, e)
}

// fetch reads a message; false if it is gone.
func (r *reducer) fetch(src integrations.Source, from ref) (*message, bool) {
	if m := r.content[from]; m != nil {
		return m, true
	}
	d, err := r.recall(src, from)
	if err != nil {
		return nil, false
	}
	m := d.Event.said(from)
	if m == nil {
		return nil, false
	}
	if r.content == nil || r.held > maxHeld {
		r.content, r.held = map[string]*message{}, 0
	}
	r.content[from] = m
	r.held += len(m.Content)
	return m, true
}

// said is the message that a reference to the event means; nil if it has none.
func (e *event) said(from ref) *message {
	if _, place, inner := strings.Cut(from, "|"); inner {
		return e.repeated(place)
	}
	switch {
	case e.Result != nil:
		return &message{Role: "toolResult", ToolCallID: e.CallID, ToolName: e.Tool, Content: e.Result.Content, IsError: e.IsError}
	case e.Message != nil:
		return e.Message
	case e.Compaction != nil:
		m := textMessage(e.Compaction.Summary)
		return &m
	}
	return nil
}

// repeated is a message of a subagent's, out of a tool's result.
func (e *event) repeated(place string) *message {
	place, deeper, more := strings.Cut(place, "|")
	first, second, _ := strings.Cut(place, ".")
	i, err := strconv.Atoi(first)
	j, err2 := strconv.Atoi(second)
	children := e.children()
	if err != nil || err2 != nil || i < 0 || j < 0 || i >= len(children) || j >= len(children[i].Messages) {
		return nil
	}
	m := parseMessage(children[i].Messages[j])
	if m != nil && more {
		return (&event{Message: m}).repeated(deeper)
	}
	return m
}

// children are the subagents that a tool's result tells of.
func (e *event) children() []child {
	switch {
	case e.Result != nil:
		return childrenOf(e.Result.Details)
	case e.Message != nil:
		return childrenOf(e.Message.Details)
	}
	return nil
}

// maxRepeated bounds the bytes of conversation that the calls of one turn repeat
// together. From there on each repeats only what is new.
const maxRepeated = 16 << 20

// inputs are the messages before a model call, as far as the user wants them repeated.
func (h *hearing) inputs(t *turn) []runtypes.Message {
	choice := h.r.options.Inputs
	delta := choice == integrations.InputsDelta || t.Repeated > maxRepeated
	from := 0
	if delta {
		from = min(t.Since, len(t.Said))
	}
	var list []runtypes.Message
	if choice == integrations.InputsThread && !delta && t.Link == nil {
		list = h.before(t)
	}
	for _, each := range t.Said[from:] {
		if m, ok := h.r.fetch(h.src, each); ok {
			list = append(list, m.render())
		}
	}
	list = agentkit.Bounded(list)
	for _, m := range list {
		t.Repeated += int64(agentkit.SizeOf(m))
	}
	return list
}
