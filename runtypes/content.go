package runtypes

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// conversation wraps what a user or a model said as LangSmith renders it: text
// becomes a message of the role, a list becomes the messages.
func conversation(role string, v any) json.RawMessage {
	switch m := v.(type) {
	case nil:
		return nil
	case string:
		return Messages(Message{Role: role, Content: m})
	case Message:
		v = []Message{m}
	case *Message:
		if m == nil {
			return nil
		}
		v = []*Message{m}
	}
	raw := value(v)
	switch {
	case len(raw) == 0:
	case raw[0] == '[':
		return append(append(json.RawMessage(`{"messages":`), raw...), '}')
	case raw[0] == '"': // text of another type
		return Messages(Message{Role: role, Content: raw})
	}
	return raw
}

// value encodes anything; what cannot be encoded says so in its place. Bytes are
// text, which is what programs print: as base64 nobody could read it, and no
// redaction would see what is in it.
func value(v any) json.RawMessage {
	switch given := v.(type) {
	case nil:
		return nil
	case json.RawMessage:
		if raw, err := Clean(given); err == nil {
			return raw
		}
		v = string(given)
	case []byte:
		if given == nil {
			return nil
		}
		v = string(given)
		if bytes.IndexByte(given, 0) >= 0 {
			v = map[string]string{"unencodable": fmt.Sprintf("%d bytes that are no text", len(given))}
		}
	}
	raw, err := Marshal(v)
	if err != nil {
		raw, _ = Marshal(map[string]string{"unencodable": err.Error()})
	}
	return raw
}

// frozen returns a value of metadata that nobody can change any more, since it is
// written later and elsewhere: texts and numbers as they are, anything else as JSON.
func frozen(v any) any {
	switch v.(type) {
	case nil, string, bool, int, int64, float64, json.Number:
		return v
	}
	return value(v)
}

func frozenMap(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	own := make(map[string]any, len(m))
	for key, v := range m {
		own[key] = frozen(v)
	}
	return own
}
