package copilot

import (
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// call is one model call: its usage, and what it said in one piece or in several.
type call struct {
	index      int
	id         string // of the call at its provider
	model      string
	text       string
	reasoning  string
	requests   []toolRequest
	pieces     int
	of         int
	usage      *usageRecord
	start, end time.Time
	heard      bool // it said something
	made       bool // the program wrote it in the model's name
	settled    bool // what can only come later stands behind it
}

// empty reports whether nothing is known of the call but that it began.
func (c *call) empty() bool { return c.usage == nil && !c.heard }

// final reports whether nothing that may still come changes the call.
func (c *call) final() bool { return c.settled || c.heard && c.usage != nil && c.pieces >= c.of }

// begin opens the next model call. What stood before it is final.
func (s *stretch) begin(r *record, model string) *call {
	s.settle()
	c := &call{index: len(s.calls), model: model, start: s.ready, end: r.at}
	s.calls = append(s.calls, c)
	s.open = c
	return c
}

// enter puts a call into the conversation: where the first is heard of it, for the user
// may add to what it is told until then.
func (s *stretch) enter(c *call) {
	if c.empty() {
		s.assume()
		s.entries = append(s.entries, entry{call: c})
	}
}

// addUsage takes what a call used. It stands before what the call said.
func (s *stretch) addUsage(r *record, d *usageRecord) {
	c := s.open
	if c == nil || c.usage != nil {
		c = s.begin(r, d.Usage.Model)
	}
	s.enter(c)
	u := &d.Usage
	c.usage, c.end, s.last = d, r.at, r.at
	c.id, c.model = s.unused(u.Call), u.Model
	if u.Duration > 0 && u.Duration < float64(r.at.Sub(c.start).Milliseconds()) { // it began when its round did, at the earliest
		c.start = r.at.Add(-milliseconds(u.Duration))
	}
}

// unused is a call's id unless another call of the stretch has it.
func (s *stretch) unused(id string) string {
	for _, c := range s.calls {
		if c.id == id {
			return ""
		}
	}
	return id
}

// addMessage takes what the model said, or what the program wrote in its name: that is
// part of the conversation and no call.
func (s *stretch) addMessage(r *record, d *assistantMessage) {
	s.last = r.at
	if d.Call == "" && d.Model == "" {
		made := &call{index: -1, text: d.Content, reasoning: d.Reasoning, requests: d.Tools, made: true}
		s.entries = append(s.entries, entry{call: made})
		return
	}
	c := s.speaker(r, d)
	s.enter(c)
	c.text += d.Content
	c.reasoning += d.Reasoning
	c.requests = append(c.requests, d.Tools...)
	c.heard = true
	c.pieces++
	c.of = max(c.of, d.Chunks)
	if c.model == "" {
		c.model = d.Model
	}
	if c.usage == nil {
		c.end = r.at
	}
}

// speaker is the call that said something.
func (s *stretch) speaker(r *record, d *assistantMessage) *call {
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := s.calls[i]
		if c.settled {
			break
		}
		if c.id != "" && c.id == d.Call {
			return c
		}
	}
	c := s.open
	if c == nil || c.heard || c.id != "" {
		c = s.begin(r, d.Model)
	}
	if c.id == "" {
		c.id = s.unused(d.Call)
	}
	return c
}

// message renders what the call said: reasoning, text and tool calls.
func (c *call) message() runtypes.Message {
	parts := []runtypes.Part{} // none is no null
	if c.reasoning != "" {
		parts = append(parts, runtypes.Part{Type: "reasoning", Text: c.reasoning})
	}
	if strings.TrimSpace(c.text) != "" {
		parts = append(parts, runtypes.Part{Type: "text", Text: c.text})
	}
	for _, t := range c.requests {
		parts = append(parts, runtypes.Part{Type: "tool_call", ID: t.ID, Name: t.Name, Args: object(t.Arguments)})
	}
	return runtypes.Message{Role: "assistant", Content: parts}
}

// tokens is what the call used; nil where that is not logged.
func (c *call) tokens() *runtypes.Usage {
	if c.usage == nil {
		return nil
	}
	u := &c.usage.Usage
	return &runtypes.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheCreation: u.CacheWrite, Reasoning: u.Reasoning,
	}
}

// firstToken is when the call's answer began; zero where that is not logged.
func (c *call) firstToken() time.Time {
	u := &c.usage.Usage
	if u.FirstToken <= 0 || u.FirstToken > u.Duration {
		return time.Time{}
	}
	return c.end.Add(-milliseconds(u.Duration - u.FirstToken))
}

// invocation lists the model parameters that are recorded.
func (c *call) invocation() map[string]any {
	m := map[string]any{}
	if c.model != "" {
		m["model"] = c.model
	}
	if c.usage != nil {
		if effort := c.usage.Usage.Effort; effort != "" {
			m["effort"] = effort
		}
		if n := c.usage.Usage.MaxOutput; n > 0 {
			m["max_tokens"] = n
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
