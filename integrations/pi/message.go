package pi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// message is a message of Pi's, in the stream and in the session file alike.
type message struct {
	Role      string          `json:"role"` // user, assistant, toolResult, custom, bashExecution
	Content   json.RawMessage `json:"content,omitempty"`
	Timestamp int64           `json:"timestamp,omitempty"` // milliseconds: when it began

	// Of the assistant.
	Provider      string  `json:"provider,omitempty"`
	Model         string  `json:"model,omitempty"`
	Usage         *usage  `json:"usage,omitempty"`
	StopReason    string  `json:"stopReason,omitempty"` // stop, length, toolUse, error, aborted
	ErrorMessage  string  `json:"errorMessage,omitempty"`
	ResponseID    string  `json:"responseId,omitempty"`
	ResponseModel string  `json:"responseModel,omitempty"`
	Duration      float64 `json:"durationMs,omitempty"` // also of a tool's result; 0: it did not run
	Thinking      string  `json:"thinkingLevel,omitempty"`

	// Of a tool's result.
	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Details    json.RawMessage `json:"details,omitempty"`

	// Of a command that the user typed.
	Command   string `json:"command,omitempty"`
	Output    string `json:"output,omitempty"`
	ExitCode  *int   `json:"exitCode,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
}

// part is one block of a message's content.
type part struct {
	Type      string          `json:"type"` // text, thinking, toolCall, image
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Data      string          `json:"data,omitempty"` // base64
	MIMEType  string          `json:"mimeType,omitempty"`
}

// usage counts tokens: input without what the cache had, output with the reasoning.
type usage struct {
	Input        int64 `json:"input"`
	Output       int64 `json:"output"`
	CacheRead    int64 `json:"cacheRead"`
	CacheWrite   int64 `json:"cacheWrite"`
	CacheWrite1h int64 `json:"cacheWrite1h,omitempty"` // of CacheWrite
	Reasoning    int64 `json:"reasoning,omitempty"`
	Cost         struct {
		Total float64 `json:"total"`
	} `json:"cost"`
}

func (m *message) start() time.Time { return milli(m.Timestamp) }

// end is when the model had said everything.
func (m *message) end() time.Time { return m.start().Add(millis(m.Duration)) }

// native names a model's reply in its session: by the time it began, which the stream
// and the session file both have.
func (m *message) native() string { return strconv.FormatInt(m.Timestamp, 10) }

// unasked is the error of a reply that was interrupted before its request: by that alone
// the session file, which has no requests, tells it from others.
const unasked = "This operation was aborted"

// empty reports whether no model gave this reply: Pi leaves one when an interrupt came
// between two calls. asked tells whether a request was made for it, as far as is known.
func (m *message) empty(asked bool) bool {
	if m.StopReason != "aborted" || m.ResponseID != "" || len(m.parts()) > 0 {
		return false
	}
	return m.Duration == 0 || !asked
}

// used reports whether the model's next call is told of this reply: a failed one is
// tried again as if it had not been.
func (m *message) used() bool { return m.StopReason != "error" && m.StopReason != "aborted" }

func milli(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// millis is a duration, of a day at most: it is input.
func millis(ms float64) time.Duration {
	if !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms, 86_400_000) * float64(time.Millisecond))
}

// parts are the blocks of the content; a string is one block of text.
func (m *message) parts() []part { return partsOf(m.Content) }

func partsOf(raw json.RawMessage) []part {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil
		}
		return []part{{Type: "text", Text: text}}
	}
	var list []part
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// text flattens content: images are named.
func textOf(raw json.RawMessage) string {
	var out []string
	for _, p := range partsOf(raw) {
		switch p.Type {
		case "text":
			out = append(out, p.Text)
		case "image":
			out = append(out, p.media())
		}
	}
	return strings.Join(out, "\n")
}

// media names an image by its type and size; the bytes stay out of the conversation,
// which repeats them in every call.
func (p part) media() string {
	return fmt.Sprintf("[image %s, %d bytes]", p.MIMEType, len(p.Data)*3/4)
}

// maxImage bounds the base64 of an image that a turn's own inputs show.
const maxImage = 4 << 20

// prompt renders what the user said, with the images.
func (m *message) prompt() runtypes.Message {
	list := m.parts()
	if len(list) == 1 && list[0].Type == "text" {
		return runtypes.Message{Role: "user", Content: list[0].Text}
	}
	parts := render(list)
	for i, p := range list {
		if p.Type == "image" && len(p.Data) <= maxImage {
			parts[i] = runtypes.Part{Type: "image", Base64: p.Data, MIMEType: p.MIMEType}
		}
	}
	return runtypes.Message{Role: "user", Content: parts}
}

// render gives a message in LangSmith's dialect.
func (m *message) render() runtypes.Message {
	switch m.Role {
	case "assistant":
		return runtypes.Message{Role: "assistant", Content: render(m.parts())}
	case "toolResult":
		out := runtypes.Message{Role: "tool", ToolCallID: m.ToolCallID, Name: m.ToolName, Content: textOf(m.Content)}
		if m.IsError {
			out.Status = "error"
		}
		return out
	case "bashExecution":
		return runtypes.Message{Role: "user", Content: "!" + m.Command + "\n" + m.Output}
	}
	list := m.parts()
	if len(list) == 1 && list[0].Type == "text" {
		return runtypes.Message{Role: "user", Content: list[0].Text}
	}
	return runtypes.Message{Role: "user", Content: render(list)}
}

func render(list []part) []runtypes.Part {
	out := make([]runtypes.Part, 0, len(list))
	for _, p := range list {
		switch p.Type {
		case "text":
			out = append(out, runtypes.Part{Type: "text", Text: p.Text})
		case "thinking":
			text := p.Thinking
			if text == "" {
				text = "[redacted by the provider]"
			}
			out = append(out, runtypes.Part{Type: "reasoning", Text: text})
		case "toolCall":
			out = append(out, runtypes.Part{Type: "tool_call", ID: p.ID, Name: p.Name, Args: p.Arguments})
		case "image":
			out = append(out, runtypes.Part{Type: "text", Text: p.media()})
		default:
			out = append(out, runtypes.Part{Type: "text", Text: "[" + p.Type + "]"})
		}
	}
	return out
}

// calls lists the tool calls of a reply.
func (m *message) calls() []part {
	var list []part
	for _, p := range m.parts() {
		if p.Type == "toolCall" {
			list = append(list, p)
		}
	}
	return list
}

// tokens turns Pi's counts into totals; nil where the model counted nothing. A price of
// nothing is one that is not known.
func (u *usage) tokens() *runtypes.Usage {
	if u == nil || u.Input+u.Output+u.CacheRead+u.CacheWrite == 0 {
		return nil
	}
	t := &runtypes.Usage{
		Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output,
		CacheRead: u.CacheRead, CacheCreation: u.CacheWrite, Reasoning: u.Reasoning,
		TotalCost: u.Cost.Total,
	}
	if u.CacheWrite1h > 0 && u.CacheWrite1h <= u.CacheWrite {
		t.Ephemeral1h, t.Ephemeral5m = u.CacheWrite1h, u.CacheWrite-u.CacheWrite1h
	}
	return t
}

// failure is the class of a model's error: the status it was refused with.
func failure(text string) string {
	status, _, ok := strings.Cut(text, ":")
	if n, err := strconv.Atoi(status); ok && err == nil && n >= 400 && n < 600 {
		return "http_" + status
	}
	return "model_error"
}

// exited matches the last line of a command that failed. It is compiled when it is
// first needed: the package is linked into a hook.
var exited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\n)Command exited with code (\d{1,9})\s*$`)
})

// exitCode reads the exit code off a command's text; nil if it says none.
func exitCode(text string) *int {
	found := exited().FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	code, err := strconv.Atoi(found[1])
	if err != nil {
		return nil
	}
	return &code
}
