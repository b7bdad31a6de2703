package cursor

import (
	"strconv"
	"strings"

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
	last    string             // the last words
	more    bool               // there is more than one pass may hold
}

func (r *reducer) book(src integrations.Source, f *family, told *story, over *ending) *book {
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
	return b
}

// usage is the tokens as LangSmith counts them: the input holds the cache's already.
func (t *tokens) usage() *runtypes.Usage {
	u := &runtypes.Usage{CacheRead: t.CacheRead, CacheCreation: t.CacheWrite}
	if t.Input != nil {
		u.Input = *t.Input
	}
	if t.Output != nil {
		u.Output = *t.Output
	}
	return u
}

// prompt begins the conversation.
func (b *book) prompt(src integrations.Source, ref string, s *section) {
	if text := promptOf(src, ref, s); text != "" {
		b.history = append(b.history, runtypes.Message{Role: "user", Content: text})
	}
}

// finishWith completes a story that is over with what Cursor's file has of it.
func (t *story) finishWith(src integrations.Source, s *section, over *ending) {
	if t.complete {
		return
	}
	t.complete = true
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

// calls emits the model calls that were not, as many as one pass may hold.
func (b *book) calls(s *scope, size int) []runtypes.Op {
	var ops []runtypes.Op
	for i, seg := range b.told.segments {
		if i >= s.Told {
			if size > maxOps {
				b.more = true
				return ops
			}
			run := b.llm(i, seg)
			ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
			size += len(run.Inputs) + len(run.Outputs)
			s.Told = i + 1
		}
		b.turnPage(seg)
	}
	return ops
}

// llm builds the run of a segment.
func (b *book) llm(i int, seg *segment) *runtypes.Run {
	run := runtypes.LLM(b.f.parent, b.f.id("llm", strconv.Itoa(i+1)), seg.start, b.model)
	run.Metadata = map[string]any{}
	if asked := b.asked(); len(asked) > 0 {
		run.Inputs = runtypes.Messages(asked...)
	}
	if said := b.said(seg); said.Content != nil {
		run.Outputs = runtypes.Messages(said)
	}
	if i == len(b.told.segments)-1 && b.used != nil {
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

// said renders what the model said: thoughts, text and tool calls.
func (b *book) said(seg *segment) runtypes.Message {
	var parts []runtypes.Part
	for _, ref := range seg.thoughts {
		if _, d, err := recall(b.src, ref); err == nil {
			parts = append(parts, runtypes.Part{Type: "reasoning", Text: d.Text})
		}
	}
	if words := b.words(seg); words != "" {
		parts = append(parts, runtypes.Part{Type: "text", Text: words})
	}
	for _, c := range seg.calls {
		d := c.recall(b.src)
		parts = append(parts, runtypes.Part{Type: "tool_call", ID: c.key, Name: c.name, Args: d.args()})
	}
	m := runtypes.Message{Role: "assistant"}
	if len(parts) > 0 {
		m.Content = parts
	}
	return m
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

// turnPage adds what a segment brought to the conversation.
func (b *book) turnPage(seg *segment) {
	if words := b.words(seg); words != "" && len(seg.calls) == 0 {
		b.last = words
	}
	if said := b.said(seg); said.Content != nil {
		b.history = append(b.history, said)
	}
	b.fresh = len(b.history)
	for _, c := range seg.calls {
		if !c.ended {
			continue
		}
		if m := c.recall(b.src).message(c); m.Content != "" || c.agent == "" {
			b.history = append(b.history, m)
		}
	}
}
