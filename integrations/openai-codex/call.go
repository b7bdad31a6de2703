package openaicodex

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// call is one model call: what the model said until somebody else did.
type call struct {
	index      int
	items      []responseItem
	tools      []*tool
	usage      *runtypes.Usage
	response   string
	context    turnContext
	start, end time.Time
	compaction *compaction
	spoken     string // its text, when its items are gone
	settled    bool   // something that can only come later stands behind it
	heard      int64  // how much of the conversation it was told; 0: not known
	cut        bool   // its reply broke off, and another was asked for
}

// final reports whether nothing that may still come changes the call. One without
// tools may turn out to have been a compaction's.
func (c *call) final() bool {
	return c.settled || c.usage != nil && len(c.tools) > 0
}

// addSpoken takes something that the model made.
func (s *stretch) addSpoken(r *record) {
	c := s.open
	if c != nil && c.heard != 0 && r.heard != 0 && c.heard != r.heard {
		c.cut, s.ready = true, c.end // it was told more
		c = nil
	}
	if c == nil {
		c = s.begin(r)
	}
	c.heard = cmp.Or(c.heard, r.heard)
	c.items = append(c.items, *r.item)
	c.end, s.last = r.at, r.at
	if strings.HasSuffix(r.item.Type, "_call") {
		c.tools = append(c.tools, s.called(r, c))
	}
}

// begin opens the next model call. What stood before it is final.
func (s *stretch) begin(r *record) *call {
	s.settle()
	c := &call{index: len(s.calls), context: s.context, start: s.ready, end: r.at}
	s.calls = append(s.calls, c)
	s.entries = append(s.entries, entry{call: c})
	s.open = c
	return c
}

// addUsage takes the record that closes a model call.
func (s *stretch) addUsage(r *record) {
	s.exact = true
	c := s.open
	if c == nil {
		c = s.begin(r) // it said nothing that is kept
	}
	c.usage, c.response, c.end = r.usage.Usage.usage(), s.unused(r.usage.Response), r.at
	s.open, s.last = nil, r.at
}

// unused is a response's id unless another call of the turn has it.
func (s *stretch) unused(response string) string {
	for _, c := range s.calls {
		if c.response == response {
			return ""
		}
	}
	return response
}

// addCount takes the thread's running total. Where calls' usage is not recorded a
// change of it is the last call's usage. It is written again and again unchanged, and
// starts from another thread's total in a fork.
func (s *stretch) addCount(r *record) {
	if r.event.Info == nil {
		return
	}
	before, now := s.total, r.event.Info.Total
	s.total = &now
	used := r.event.Info.Last
	if before != nil {
		used = now.minus(*before)
	}
	if s.exact || used.Input < 0 || used.Output < 0 || used.Input+used.Output == 0 {
		return
	}
	c := s.open
	switch n := len(s.calls); {
	case c != nil:
		c.end = r.at
	case n > 0 && s.calls[n-1].usage == nil && !s.calls[n-1].settled:
		c = s.calls[n-1]
	default:
		c = s.begin(r)
	}
	c.usage = used.usage()
	s.open, s.last = nil, r.at
}

func (t tokens) minus(u tokens) tokens {
	return tokens{
		Input: t.Input - u.Input, Cached: t.Cached - u.Cached, CacheWrite: t.CacheWrite - u.CacheWrite,
		Output: t.Output - u.Output, Reasoning: t.Reasoning - u.Reasoning,
	}
}

func (t tokens) usage() *runtypes.Usage {
	return &runtypes.Usage{
		Input: t.Input, Output: t.Output,
		CacheRead: t.Cached, CacheCreation: t.CacheWrite, Reasoning: t.Reasoning,
	}
}

// addCompaction takes the line that replaces the conversation. The call before it
// wrote the summary.
func (s *stretch) addCompaction(r *record) {
	m := &compaction{start: s.ready, at: r.at, summary: r.compacted.Message, index: len(s.merges)}
	if c := s.summarizer(r.compacted.Response); c != nil {
		m.call, m.start, c.compaction = c, c.start, m
	}
	s.merges = append(s.merges, m)
	s.settle()
	s.entries = append(s.entries, entry{replaced: true})
	kept := len(s.entries)
	for i := range r.compacted.Replacement {
		if message, ok := said(&r.compacted.Replacement[i]); ok {
			s.entries = append(s.entries, entry{message: message})
		}
	}
	if len(s.entries) == kept {
		s.entries = append(s.entries, entry{message: runtypes.Message{Role: "user", Content: m.summary}})
	}
	s.ready, s.last = r.at, r.at
}

func (s *stretch) summarizer(response string) *call {
	n := len(s.calls)
	if n == 0 {
		return nil
	}
	c := s.calls[n-1]
	switch {
	case response != "" && c.response != "":
		if c.response != response {
			return nil
		}
	case c.settled || len(c.tools) > 0:
		return nil
	}
	return c
}

// text is what the call said to the user.
func (c *call) text() string {
	if c.spoken != "" {
		return c.spoken
	}
	var parts []string
	for i := range c.items {
		if c.items[i].Type != "message" {
			continue
		}
		if text := contentText(c.items[i].Content); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// message renders what the call said: reasoning, text and tool calls.
func (c *call) message() runtypes.Message {
	var parts []runtypes.Part
	for i := range c.items {
		switch item := &c.items[i]; item.Type {
		case "reasoning":
			parts = append(parts, runtypes.Part{Type: "reasoning", Text: summaryText(item.Summary)})
		case "message":
			parts = append(parts, runtypes.Part{Type: "text", Text: contentText(item.Content)})
		}
	}
	for _, t := range c.tools {
		kind := "tool_call"
		if t.hosted {
			kind = "server_tool_call"
		}
		parts = append(parts, runtypes.Part{Type: kind, ID: t.id, Name: t.name, Args: t.input})
	}
	return runtypes.Message{Role: "assistant", Content: parts}
}

// invocation lists the model parameters that are recorded.
func (c turnContext) invocation() map[string]any {
	m := map[string]any{}
	for key, value := range map[string]string{"model": c.Model, "effort": c.Effort, "summary": c.Summary} {
		if value != "" {
			m[key] = value
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// errorWord is the name of an error: a word, or the key of an object.
func errorWord(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || len(object) != 1 {
		return ""
	}
	for key := range object {
		word = key
	}
	return word
}
