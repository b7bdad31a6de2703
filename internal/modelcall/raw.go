package modelcall

import (
	"bytes"
	"encoding/json"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Object decodes a JSON object's members and leaves them as they are; nil if it is
// none.
func Object(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// Values decodes a JSON object whole, but for its numbers, which stay as they are
// written; nil if it is none.
func Values(raw []byte) map[string]any {
	var m map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&m) != nil {
		return nil
	}
	return m
}

// String decodes a JSON string; empty if it is none.
func String(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// List decodes a JSON list's elements; nil if it is none.
func List(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// Pick returns the members that are allowed, decoded. What is null is left out.
func Pick(from map[string]json.RawMessage, allowed ...string) map[string]any {
	picked := map[string]any{}
	for _, key := range allowed {
		raw, ok := from[key]
		if !ok || bytes.Equal(raw, []byte("null")) {
			continue
		}
		picked[key] = raw
	}
	return picked
}

// Inputs writes messages and, where there are any, tools, as LangSmith renders
// them.
func Inputs(messages []json.RawMessage, tools json.RawMessage) json.RawMessage {
	out := append([]byte(`{"messages":[`), bytes.Join(raws(messages), []byte(","))...)
	out = append(out, ']')
	if len(List(tools)) > 0 {
		out = append(append(out, `,"tools":`...), tools...)
	}
	return append(out, '}')
}

// Outputs writes the messages of an answer.
func Outputs(messages ...json.RawMessage) json.RawMessage {
	return Inputs(messages, nil)
}

func raws(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

// Members writes a JSON object of pairs of key and value; a value that has no JSON
// is left out.
func Members(pairs ...any) json.RawMessage {
	out := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, err := runtypes.Marshal(pairs[i])
		if err != nil {
			continue
		}
		value, err := runtypes.Marshal(pairs[i+1])
		if err != nil || len(value) == 0 || string(value) == "null" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}')
}

// Text gathers a text that comes in pieces, within a bound.
type Text struct{ b []byte }

// Add adds a piece; what goes beyond the bound is left out.
func (t *Text) Add(piece string) {
	if room := maxBody - len(t.b); len(piece) > room {
		piece = piece[:room]
	}
	t.b = append(t.b, piece...)
}

// String is what came so far.
func (t *Text) String() string { return string(t.b) }

// Arguments returns a tool's arguments as JSON: what was cut off on the way, or is
// no JSON to begin with, is a string.
func Arguments(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage(`{}`)
	}
	if raw := json.RawMessage(text); json.Valid(raw) {
		return raw
	}
	raw, err := runtypes.Marshal(text)
	if err != nil { // a string always has one
		return json.RawMessage(`""`)
	}
	return raw
}
