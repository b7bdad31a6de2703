package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// inputs are the messages before a reply: what the model was told, as far as the
// user wants it repeated. System prompts and tool schemas stay out.
func (r *reducer) inputs(f *family, upTo *reply) []runtypes.Message {
	switch r.options.Inputs {
	case integrations.InputsDelta:
		return agentkit.Bounded(f.thread.said(nil, upTo, true))
	case integrations.InputsThread:
		if f.parent.Kind != runtypes.KindRoot {
			break // a subagent knows nothing of the conversation
		}
		return agentkit.Bounded(f.thread.said(r.history[f.prompt], upTo, false))
	}
	return agentkit.Bounded(f.thread.said(nil, upTo, false))
}

// said renders what the model was told before a reply: the messages before the thread
// and its own, or with delta those since the reply before it. From a compaction on
// there are its summary and what it kept. A nil reply means all of them.
func (t *thread) said(before []runtypes.Message, upTo *reply, delta bool) []runtypes.Message {
	list := slices.Clone(before)
	for i, e := range t.entries {
		switch {
		case e.reply != nil && e.reply == upTo:
			return list
		case e.sums():
			list = []runtypes.Message{e.user.userMessage()}
			for _, kept := range t.entries[e.kept:i] {
				list = kept.appendTo(list)
			}
		case e.reply != nil && e.reply.err == nil && delta:
			list = nil
		default:
			list = e.appendTo(list)
		}
	}
	return list
}

// appendTo renders the entry, unless it is a call that failed.
func (e entry) appendTo(list []runtypes.Message) []runtypes.Message {
	switch {
	case e.user != nil:
		return append(list, e.user.userMessage())
	case e.result != nil:
		return append(list, e.result.message())
	case e.reply.err == nil:
		return append(list, e.reply.message())
	}
	return list
}

// recall reads what was said in the conversation before a turn, where the user
// wants it repeated: since the last compaction, and no more than is ever sent.
func (r *reducer) recall(src integrations.Source, t *turn) error {
	if r.options.Inputs != integrations.InputsThread || !t.located() || r.history[t.Prompt] != nil {
		return nil
	}
	before := newThread(0)
	began := map[string]int{} // entries before a prompt, by the line it follows
	for raw, err := range src.Lines(r.Transcript, 0) {
		if errors.Is(err, fs.ErrNotExist) || err == nil && raw.Offset > t.Line {
			break
		}
		if err != nil {
			return fmt.Errorf("claudecode: transcript: %w", err)
		}
		l, ok := parseLine(raw.Data)
		if !ok {
			continue
		}
		if l.startsTurn() {
			if n, again := began[l.ParentUUID]; again {
				before.entries = before.entries[:n] // the user went back to there
			}
			began[l.ParentUUID] = len(before.entries)
		}
		if raw.Offset == t.Line {
			break
		}
		l.RequestSessionID = "" // a fork's copied history is part of its conversation
		before.add(&l)
		if after := before.compacted(); after != before {
			before = after
			clear(began)
		}
	}
	r.history[t.Prompt] = agentkit.Bounded(before.said(nil, nil, false))
	if r.history[t.Prompt] == nil {
		r.history[t.Prompt] = []runtypes.Message{}
	}
	return nil
}

// firstPrompt is the prompt that began the turn. In a turn that a notification
// began, the program's own reminder stands before it.
func firstPrompt(t *thread) runtypes.Message {
	for _, e := range t.entries {
		if e.user == nil {
			break
		}
		if !e.user.IsMeta || e.user.startsTurn() {
			return e.user.userMessage()
		}
	}
	return t.entries[0].user.userMessage()
}

// userMessage renders a user line or a queued command.
func (l *line) userMessage() runtypes.Message {
	if l.Attachment != nil {
		return runtypes.Message{Role: "user", Content: contentText(l.Attachment.Prompt)}
	}
	blocks := l.Message.blocks()
	if len(blocks) == 1 && blocks[0].Type == "text" {
		return runtypes.Message{Role: "user", Content: blocks[0].Text}
	}
	return runtypes.Message{Role: "user", Content: parts(blocks)}
}

// message renders a reply: text, reasoning and tool calls.
func (r *reply) message() runtypes.Message {
	return runtypes.Message{Role: "assistant", Content: parts(r.blocks)}
}

// message renders a tool's answer.
func (res *result) message() runtypes.Message {
	m := runtypes.Message{Role: "tool", ToolCallID: res.id, Content: contentText(res.content)}
	if res.isError {
		m.Status = "error"
	}
	return m
}

// parts renders content blocks in LangSmith's dialect.
func parts(blocks []block) []runtypes.Part {
	list := make([]runtypes.Part, 0, len(blocks))
	for _, b := range blocks {
		switch b.Type {
		case "text":
			list = append(list, runtypes.Part{Type: "text", Text: b.Text})
		case "thinking":
			list = append(list, runtypes.Part{Type: "reasoning", Text: b.Thinking})
		case "redacted_thinking":
			list = append(list, runtypes.Part{Type: "reasoning", Text: "[redacted by the provider]"})
		case "tool_use":
			list = append(list, runtypes.Part{Type: "tool_call", ID: b.ID, Name: b.Name, Args: b.Input})
		case "server_tool_use":
			list = append(list, runtypes.Part{Type: "server_tool_call", ID: b.ID, Name: b.Name, Args: b.Input})
		case "image", "document":
			list = append(list, b.media())
		default:
			list = append(list, runtypes.Part{Type: "text", Text: "[" + b.Type + "]"})
		}
	}
	return list
}

// media names an image or a document by its type and size; the bytes stay out of
// the conversation, which repeats them in every call.
func (b block) media() runtypes.Part {
	kind := "image"
	if b.Type == "document" {
		kind = "file"
	}
	p := runtypes.Part{Type: "text", Text: "[" + kind + "]"}
	if b.Source == nil {
		return p
	}
	if b.Source.URL != "" {
		return runtypes.Part{Type: kind, URL: b.Source.URL, MIMEType: b.Source.MediaType}
	}
	p.Text = fmt.Sprintf("[%s %s, %d bytes]", kind, b.Source.MediaType, len(b.Source.Data)*3/4)
	return p
}

// contentText flattens a string or a list of blocks to text.
func contentText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	m := message{Content: raw}
	var out []string
	for _, b := range m.blocks() {
		switch b.Type {
		case "text":
			out = append(out, b.Text)
		case "image", "document":
			out = append(out, b.media().Text)
		case "tool_reference":
		default:
			if b.Text != "" {
				out = append(out, b.Text)
			}
		}
	}
	return strings.Join(out, "\n")
}

// tokens turns Anthropic's counts into totals: cached tokens are reported beside
// the input there, and within it in LangSmith.
func (u *usage) tokens() *runtypes.Usage {
	if u == nil {
		return nil
	}
	total := &runtypes.Usage{
		Input:     u.Input + u.CacheRead + u.CacheCreation,
		Output:    u.Output,
		CacheRead: u.CacheRead, CacheCreation: u.CacheCreation,
	}
	if u.Lifetimes != nil {
		total.Ephemeral5m, total.Ephemeral1h = u.Lifetimes.FiveMinutes, u.Lifetimes.OneHour
	}
	if u.OutputDetails != nil {
		total.Reasoning = u.OutputDetails.Thinking
	}
	return total
}

// invocation lists the model parameters that are known to hold no secret.
func (p *requestParams) invocation() map[string]any {
	if p == nil {
		return nil
	}
	m := map[string]any{"model": p.Model}
	if p.MaxTokens > 0 {
		m["max_tokens"] = p.MaxTokens
	}
	if p.Temperature != nil {
		m["temperature"] = *p.Temperature
	}
	if p.TopP != nil {
		m["top_p"] = *p.TopP
	}
	if p.TopK != nil {
		m["top_k"] = *p.TopK
	}
	if p.Thinking != nil && p.Thinking.Type != "" {
		m["thinking"] = p.Thinking.Type
	}
	if p.Output != nil && p.Output.Effort != "" {
		m["effort"] = p.Output.Effort
	}
	return m
}
