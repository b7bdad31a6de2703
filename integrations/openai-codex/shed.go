package openaicodex

import (
	"strings"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// A turn may go on for hours. What of it has gone out and stands too far back for a
// later call to repeat is let go.

// shed lets go of the content of things that were emitted: the first calls, and tools.
// What it leaves is what a later call, an outcome or an answer may still need.
func (s *stretch) shed(calls int, tools *marks) {
	s.shedInner(tools)
	at := s.emittedTo(calls)
	for size := 0; at > s.shedTo && size <= 2*agentkit.MaxInputs; at-- {
		e := &s.entries[at-1]
		if e.call != nil {
			size += agentkit.SizeOf(e.call.message())
		} else {
			size += agentkit.SizeOf(e.message)
		}
	}
	for ; s.shedTo < at; s.shedTo++ {
		switch e := &s.entries[s.shedTo]; {
		case e.call != nil:
			e.call.shed(tools)
		case e.tool != nil:
			e.message.Content = ""
			if tools.has(e.tool.index) {
				e.tool.shed()
			}
		}
	}
}

// shedInner lets go of what scripts ran: no call repeats it.
func (s *stretch) shedInner(tools *marks) {
	for ; s.shedTools < len(s.tools) && tools.has(s.shedTools); s.shedTools++ {
		if t := s.tools[s.shedTools]; t.parent != nil {
			t.shed()
		}
	}
}

// emittedTo is the place in the conversation of the last call that was emitted.
func (s *stretch) emittedTo(calls int) int {
	if calls == 0 {
		return 0
	}
	for i := len(s.entries) - 1; i >= s.shedTo; i-- {
		if s.entries[i].call == s.calls[calls-1] {
			return i
		}
	}
	return s.shedTo
}

// shed keeps what the call said to the user.
func (c *call) shed(tools *marks) {
	c.spoken, c.items = c.text(), nil
	for _, t := range c.tools {
		if tools.has(t.index) {
			t.shed()
		}
	}
}

// shed keeps how the tool ended.
func (t *tool) shed() {
	if t.running || t.ended != nil {
		return
	}
	var o outcome
	o.err, o.class, o.interrupted = t.outcome()
	t.ended = &o
	t.input, t.text = nil, strings.Clone(head(t.text)) // a part holds the whole
	if t.answered() {
		t.output = text("")
	}
	if f := t.facts; f != nil {
		f.input, f.text, f.err = nil, "", ""
	}
}
