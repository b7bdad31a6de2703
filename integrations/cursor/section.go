package cursor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// section is what Cursor's transcript has of one turn. The file has no ids and no
// times, and is written anew when a conversation is resumed: a turn is found by its
// prompt and its place among the others.
type section struct {
	index  int // among the file's
	prompt string
	rows   []row
	whole  bool   // its end is there
	status string // how it ended, where that is there: success, aborted, error
	err    string
}

// row is one message of the model's.
type row struct {
	text  string
	tools []string
}

// line is one line of a transcript.
type line struct {
	Role    string `json:"role"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Type   string `json:"type"`
	Status string `json:"status"`
	Error  any    `json:"error"`
}

// sections reads a transcript. One that is not there has none.
func sections(src integrations.Source, path string) ([]*section, error) {
	var list []*section
	if path == "" {
		return nil, nil
	}
	for l, err := range src.Lines(path, 0) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return list, err
		}
		var in line
		if agentkit.Decode(l.Data, &in) != nil {
			continue
		}
		last := len(list) - 1
		switch {
		case in.Role == "user":
			text, _ := content(in.Message.Content)
			if text == "" {
				continue
			}
			if last >= 0 {
				list[last].whole = true
			}
			list = append(list, &section{index: last + 1, prompt: query(text)})
		case last < 0:
		case in.Role == "assistant":
			text, tools := content(in.Message.Content)
			list[last].rows = append(list[last].rows, row{text, tools})
		case in.Type == "turn_ended":
			list[last].whole, list[last].status, list[last].err = true, in.Status, complaint(in.Error)
		}
	}
	return list, nil
}

// content is the text of a message, and the names of the tools it calls.
func content(raw json.RawMessage) (text string, tools []string) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var blocks []struct {
		Type, Text, Name string
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return "", nil
	}
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			tools = append(tools, b.Name)
		}
	}
	return strings.Join(texts, "\n"), tools
}

// query is what the user typed, without what Cursor puts around it.
func query(text string) string {
	if _, rest, ok := strings.Cut(text, "<user_query>"); ok {
		text, _, _ = strings.Cut(rest, "</user_query>")
	}
	return strings.TrimSpace(text)
}

// complaint is an error's text, whatever shape it has.
func complaint(v any) string {
	switch e := v.(type) {
	case nil:
		return ""
	case string:
		return e
	case map[string]any:
		if text, ok := e["message"].(string); ok {
			return text
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// pick finds a turn's section at or after a place: the one with its prompt or, where no
// hook told of that, with its tools.
func pick(list []*section, from int, hash string, tools []string, over *ending, replaced bool) *section {
	for _, s := range list {
		if s.index < from || !s.agrees(over, replaced) {
			continue
		}
		if hash != "" && agentkit.HashText(s.prompt) == hash || hash == "" && s.calls(tools) {
			return s
		}
	}
	return nil
}

// agrees reports whether a turn that ended so may be this one: a prompt that was
// submitted again may stand here twice, or only as it was the last time.
func (s *section) agrees(over *ending, replaced bool) bool {
	switch {
	case s.status == "" || over == nil:
		return true
	case replaced:
		return s.status == "aborted"
	}
	return over.Status != "completed" || s.status != "aborted"
}

// calls reports whether the tools that hooks told of are called here, in that order.
func (s *section) calls(tools []string) bool {
	for _, r := range s.rows {
		for _, name := range r.tools {
			if len(tools) > 0 && same(tools[0], name) {
				tools = tools[1:]
			}
		}
	}
	return len(tools) == 0
}

// same reports whether two names mean one tool: a server's tool is told of with and
// without its prefix.
func same(hook, transcript string) bool {
	return hook == transcript || strings.TrimPrefix(hook, "MCP:") == transcript ||
		strings.HasPrefix(hook, "MCP:") && strings.HasSuffix(transcript, strings.TrimPrefix(hook, "MCP:"))
}

// attach gives the story what the model said: a row belongs to the segment that calls
// its tools, and the last one to the answer.
func (t *story) attach(s *section) {
	at := 0
	for i, r := range s.rows {
		if len(r.tools) == 0 {
			if i == len(s.rows)-1 {
				t.conclude(r.text)
			}
			continue
		}
		for n := at; n < len(t.segments); n++ {
			seg := t.segments[n]
			if slices.ContainsFunc(seg.calls, func(c *call) bool { return same(c.name, r.tools[0]) }) {
				if r.text != "" && !strings.Contains(seg.said, r.text) {
					seg.said = strings.TrimPrefix(seg.said+"\n"+r.text, "\n")
				}
				at = n
				if len(seg.calls) <= len(r.tools) {
					at = n + 1
				}
				break
			}
		}
	}
}

// conclude takes the model's last words where no hook told of them.
func (t *story) conclude(text string) {
	if text == "" || t.answer != "" {
		return
	}
	seg := t.current(true)
	if seg.said == "" {
		seg.said = text
	}
}

// messages are the conversation before a section.
func messages(list []*section, before int) []runtypes.Message {
	var all []runtypes.Message
	for _, s := range list {
		if s.index >= before {
			break
		}
		all = append(all, runtypes.Message{Role: "user", Content: s.prompt})
		for _, r := range s.rows {
			if r.text != "" {
				all = append(all, runtypes.Message{Role: "assistant", Content: r.text})
			}
		}
	}
	return all
}
