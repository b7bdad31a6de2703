package runtypes

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// leftOut stands where a tool's content was.
const leftOut = "[left out]"

// stripTools takes out of a run what tools were given and what they gave: a tool's
// own inputs and outputs, and the calls and results among the messages of the others.
func stripTools(r *Run) {
	r.Attachments = nil // screenshots and files that tools read, as far as can be told
	events := slices.Clone(r.Events)
	for i := range events {
		events[i].Data = nil
	}
	r.Events = events
	if r.Kind == KindTool {
		r.Inputs, r.Outputs = nil, nil
		r.Metadata = plainValues(r.Metadata, plainKeys())
		r.Error = outlineError(r)
		return
	}
	r.Inputs, r.Outputs = withoutTools(r.Inputs), withoutTools(r.Outputs)
}

// withoutTools rewrites a document of messages. One that cannot be read, or holds
// something else than messages, is left out: it may be anything.
func withoutTools(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil
	}
	kept := map[string]any{}
	for key, v := range doc {
		switch list, isList := v.([]any); {
		case key == "messages" && isList:
			kept[key] = eachMessage(list)
		default:
			if text, ok := v.(string); ok && (key == "output" || key == "input" || key == "prompt") {
				kept[key] = text
			}
		}
	}
	clean, err := Marshal(kept)
	if err != nil {
		return nil
	}
	return clean
}

// eachMessage keeps who spoke, and what was said if that was no tool.
func eachMessage(list []any) []any {
	out := make([]any, 0, len(list))
	for _, each := range list {
		m, _ := each.(map[string]any)
		role, _ := m["role"].(string)
		if role == "" {
			role, _ = m["type"].(string) // as LangChain has it
		}
		kept := only(m, "role", "type", "id", "name", "tool_call_id", "status")
		if calls, ok := m["tool_calls"].([]any); ok {
			kept["tool_calls"] = eachCall(calls)
		}
		switch strings.ToLower(role) {
		case "user", "human", "assistant", "ai", "model", "system", "developer":
			if content := speech(m["content"]); content != nil {
				kept["content"] = content
			}
		default:
			kept["content"] = leftOut
		}
		out = append(out, kept)
	}
	return out
}

// speech keeps text, and of the blocks of a message those that hold speech.
func speech(v any) any {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		out := make([]any, 0, len(v))
		for _, each := range v {
			block, _ := each.(map[string]any)
			switch block["type"] {
			case "text", "input_text", "output_text":
				out = append(out, only(block, "type", "text"))
			case "reasoning", "thinking":
				out = append(out, only(block, "type", "text", "thinking", "reasoning"))
			default:
				out = append(out, onlyCall(block))
			}
		}
		return out
	}
	return nil
}

func eachCall(calls []any) []any {
	out := make([]any, 0, len(calls))
	for _, each := range calls {
		call, _ := each.(map[string]any)
		out = append(out, onlyCall(call))
	}
	return out
}

// onlyCall keeps of a call or a result which one it is.
func onlyCall(call map[string]any) map[string]any {
	kept := only(call, "type", "id", "name", "tool_call_id", "tool_use_id", "call_id")
	if f, ok := call["function"].(map[string]any); ok {
		kept["function"] = only(f, "name")
	}
	return kept
}

// only keeps the texts among the members of these names.
func only(m map[string]any, names ...string) map[string]any {
	kept := map[string]any{}
	for _, name := range names {
		if text, ok := m[name].(string); ok {
			kept[name] = text
		}
	}
	return kept
}
