package agui

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// said is a message as a run repeats it; ok is false for one that no model reads.
func said(i *item) (m runtypes.Message, ok bool) {
	m = runtypes.Message{Role: string(i.role()), Name: Text(i.Name)}
	switch i.role() {
	case Activity:
		return m, false
	case Developer:
		m.Role = string(System)
	case ToolRole:
		m.ToolCallID = Text(i.ToolCallID)
		if i.Error != nil {
			m.Status = "error"
		}
	case Assistant:
		m.Content = spoken(i, nil)
		return m, true
	}
	m.Content = withoutMedia(i.content())
	return m, true
}

// spoken is what a model said: the reasoning before it, its text, its calls.
func spoken(i *item, reasoning []*item) any {
	text := ""
	if raw := i.content(); kindOf(raw) == stringKind {
		text = textOf(raw)
	}
	if len(i.calls) == 0 && len(reasoning) == 0 {
		return text
	}
	var parts []runtypes.Part
	for _, r := range reasoning {
		if raw := r.content(); kindOf(raw) == stringKind {
			parts = append(parts, runtypes.Part{Type: "reasoning", Text: textOf(raw)})
		}
	}
	if text != "" {
		parts = append(parts, runtypes.Part{Type: "text", Text: text})
	}
	for _, c := range i.calls {
		parts = append(parts, runtypes.Part{Type: "tool_call", ID: c.id, Name: c.name, Args: arguments(c)})
	}
	return parts
}

// arguments are a call's as an object: what the text says, or the text itself.
func arguments(c *call) json.RawMessage {
	text := strings.TrimSpace(c.args.String())
	if text == "" {
		return json.RawMessage("{}")
	}
	if raw, err := tidy([]byte(text)); err == nil && kindOf(raw) == objectKind {
		return raw
	}
	out := append(json.RawMessage(nil), `{"arguments":`...)
	return append(appendString(out, c.args.String()), '}')
}

// withoutMedia returns content with the bytes of inline media replaced by their number.
func withoutMedia(content json.RawMessage) json.RawMessage {
	if kindOf(content) != arrayKind {
		return content
	}
	out := json.RawMessage{'['}
	for n, part := range elementsOf(content) {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, withoutBytes(part)...)
	}
	return append(out, ']')
}

// withoutBytes does so for one part, or for its source: the value of inline data and of
// data URLs, and the data of the older form.
func withoutBytes(part json.RawMessage) json.RawMessage {
	if kindOf(part) != objectKind {
		return part
	}
	inline := string(lookUp(part, "type")) == `"data"`
	out, first := json.RawMessage{'{'}, true
	for _, m := range membersOf(part) {
		value, name := m.value, m.raw
		switch {
		case m.key == "source":
			value = withoutBytes(value)
		case kindOf(value) != stringKind:
		case m.key == "data", m.key == "value" && inline,
			(m.key == "value" || m.key == "url") && strings.HasPrefix(textOf(value), "data:"):
			name, value = `"size"`, sizeOf(textOf(value))
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}')
}

// sizeOf is the number of bytes that base64, or a data URL of it, stands for.
func sizeOf(text string) json.RawMessage {
	if strings.HasPrefix(text, "data:") {
		_, text, _ = strings.Cut(text, ",")
	}
	n, err := json.Marshal(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(text, "="))))
	if err != nil {
		return json.RawMessage("0")
	}
	return n
}

// asked are the last messages of the user, which a run answers, and where they begin:
// len(items) if there are none.
func asked(items []*item) (at int, block []*item) {
	end := len(items)
	for end > 0 && items[end-1].role() != User {
		end--
	}
	at = end
	for at > 0 && items[at-1].role() == User {
		at--
	}
	if end == 0 {
		return len(items), nil
	}
	return at, items[at:end]
}
