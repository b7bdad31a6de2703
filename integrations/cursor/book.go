package cursor

import (
	"strconv"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// book writes the model calls of a scope that is over.
type book struct {
	src     integrations.Source
	inputs  integrations.Inputs
	f       *family
	told    *story
	over    *ending
	model   runtypes.Model
	used    *runtypes.Usage
	before  []runtypes.Message // the conversation before the turn
	history []runtypes.Message // of the turn
	fresh   int                // of them what the previous call had not seen
	last    string             // the last words, to the user
	said    string             // and those that tools may follow
	at      int                // the segment that is next
	more    bool               // there is more than one pass may hold
}

// book is the scope's, where it was left the last time.
func (r *reducer) book(src integrations.Source, f *family, told *story, over *ending, prompt string) *book {
	if told.book != nil {
		told.book.src = src
		return told.book
	}
	b := &book{
		src: src, inputs: r.options.Inputs, f: f, told: told, over: over,
		model: modelOf(told.model.Model, told.model.ModelID, told.model.Params),
	}
	used := told.used
	if used == nil && over.Ref != "" { // the same figures, where no response told of them
		if e, d, err := recall(src, over.Ref); err == nil && e.Kind == "stop" {
			used = d.Tokens
		}
	}
	if used != nil {
		b.used = used.usage()
	}
	if prompt != "" {
		b.history = append(b.history, runtypes.Message{Role: "user", Content: prompt})
	}
	told.book = b
	return b
}

// usage is the tokens as LangSmith counts them: the input holds the cache's already. One
// that is too small to, holds only its own.
func (t *tokens) usage() *runtypes.Usage {
	u := &runtypes.Usage{CacheRead: t.CacheRead, CacheCreation: t.CacheWrite}
	if t.Input != nil {
		u.Input = *t.Input
	}
	if t.Output != nil {
		u.Output = *t.Output
	}
	if cached := u.CacheRead + u.CacheCreation; u.Input < cached {
		u.Input += cached
	}
	return u
}

// finishWith completes a story that is over with what Cursor's file has of it.
func (t *story) finishWith(src integrations.Source, s *section, over *ending) {
	if t.complete {
		return
	}
	t.complete = true
	t.bound(over.At)
	if s != nil {
		t.attach(s)
		if over.Status == "error" && over.Text == "" {
			over.Text = s.err
		}
	}
	if e, d, err := recall(src, over.Ref); err == nil && e.Kind == "subagentStop" {
		t.conclude(d.Text)
	}
	n := len(t.segments)
	if n > 0 {
		if last := t.segments[n-1]; last.answer == "" && len(last.calls) == 0 {
			last.end = over.At
			last.cut = over.interrupted()
		}
	}
	counted := t.used != nil
	if !counted && over.Ref != "" {
		if e, d, err := recall(src, over.Ref); err == nil && e.Kind == "stop" {
			counted = d.Tokens != nil
			t.learnModel(e.Kind, d)
		}
	}
	switch {
	case over.Status == "error":
		if n == 0 || t.segments[n-1].answer != "" || len(t.segments[n-1].calls) > 0 {
			t.segments = append(t.segments, &segment{start: t.ready, end: over.At})
			n++
		}
		t.segments[n-1].failed = true
	case n == 0 && counted:
		t.segments = append(t.segments, &segment{start: t.ready, end: over.At, cut: over.interrupted()})
	}
}

// bound lets nothing outlast the story's end that was told of after it.
func (t *story) bound(end time.Time) {
	for _, c := range t.calls {
		if !c.ended && c.start.After(end) {
			c.start = end
		}
	}
	for _, seg := range t.segments {
		for _, at := range []*time.Time{&seg.start, &seg.end} {
			if at.After(end) {
				*at = end
			}
		}
	}
}

// page is what a segment brings to the conversation.
type page struct {
	said    runtypes.Message
	words   string             // to the user
	results []runtypes.Message // of its tools
}

// calls emits the model calls that were not, as many as one pass may hold.
func (b *book) calls(s *scope, size int) []runtypes.Op {
	b.more = false
	var ops []runtypes.Op
	for ; b.at < len(b.told.segments); b.at++ {
		seg := b.told.segments[b.at]
		if b.at >= s.Told && size > maxOps {
			b.more = true
			return ops
		}
		p := b.read(seg)
		if b.at >= s.Told {
			run := b.llm(seg, p)
			ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
			size += len(run.Inputs) + len(run.Outputs)
			s.Told = b.at + 1
		}
		b.turn(seg, p)
	}
	return ops
}

// llm builds the run of a segment.
func (b *book) llm(seg *segment, p page) *runtypes.Run {
	run := runtypes.LLM(b.f.parent, b.f.id("llm", strconv.Itoa(b.at+1)), seg.start, b.model)
	run.Metadata = map[string]any{}
	if asked := b.asked(); len(asked) > 0 {
		run.Inputs = runtypes.Messages(asked...)
	}
	if p.said.Content != nil {
		run.Outputs = runtypes.Messages(p.said)
	}
	if b.at == len(b.told.segments)-1 && b.used != nil {
		run.Usage = b.used
		run.Metadata[metaUsageScope] = "turn"
	}
	switch {
	case seg.failed:
		run.Error = b.over.reason()
	case seg.cut:
		return runtypes.Interrupt(run, seg.end, b.over.reason())
	}
	return runtypes.Finish(run, seg.end)
}

// asked is what the call repeats of the conversation.
func (b *book) asked() []runtypes.Message {
	switch b.inputs {
	case integrations.InputsDelta:
		return agentkit.Bounded(b.history[b.fresh:])
	case integrations.InputsThread:
		return agentkit.Bounded(append(append([]runtypes.Message{}, b.before...), b.history...))
	}
	return agentkit.Bounded(b.history)
}

// read renders a segment: thoughts, text and tool calls, and what the tools gave back.
func (b *book) read(seg *segment) page {
	p := page{words: b.words(seg), said: runtypes.Message{Role: "assistant"}}
	var parts []runtypes.Part
	for _, ref := range seg.thoughts {
		if _, d, err := recall(b.src, ref); err == nil {
			parts = append(parts, runtypes.Part{Type: "reasoning", Text: d.Text})
		}
	}
	if p.words != "" {
		parts = append(parts, runtypes.Part{Type: "text", Text: p.words})
	}
	for _, c := range seg.calls {
		d := c.recall(b.src)
		parts = append(parts, runtypes.Part{Type: "tool_call", ID: c.key, Name: c.name, Args: d.args()})
		if m := d.message(c); c.ended && (m.Content != "" || c.agent == "") {
			p.results = append(p.results, m)
		}
	}
	if len(parts) > 0 {
		p.said.Content = parts
	}
	return p
}

// words is what a segment said to the user.
func (b *book) words(seg *segment) string {
	var list []string
	if seg.said != "" {
		list = append(list, seg.said)
	}
	if seg.answer != "" {
		if _, d, err := recall(b.src, seg.answer); err == nil && d.Text != "" {
			list = append(list, d.Text)
		}
	}
	return strings.Join(list, "\n")
}

// turn adds a page to the conversation.
func (b *book) turn(seg *segment, p page) {
	if p.words != "" {
		b.said = p.words
		if len(seg.calls) == 0 {
			b.last = p.words
		}
	}
	if p.said.Content != nil {
		b.history = append(b.history, p.said)
	}
	b.fresh = len(b.history)
	b.history = append(b.history, p.results...)
}
