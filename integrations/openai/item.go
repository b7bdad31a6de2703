package openai

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/internal/modelcall"
)

// inputMessages are the instructions and the input of a request as messages that
// LangSmith renders.
func inputMessages(request map[string]json.RawMessage) []json.RawMessage {
	var messages []json.RawMessage
	if s := modelcall.String(request["instructions"]); s != "" {
		messages = append(messages, modelcall.Members("role", "system", "content", s))
	}
	if s := modelcall.String(request["input"]); s != "" {
		return append(messages, modelcall.Members("role", "user", "content", s))
	}
	for _, raw := range modelcall.List(request["input"]) {
		messages = append(messages, itemMessages(raw)...)
	}
	return messages
}

// itemMessages is an item of the Responses API as messages: what was said, called
// and answered. An item of any other type stands as it is, in an assistant's
// message.
func itemMessages(raw json.RawMessage) []json.RawMessage {
	var i struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Summary   json.RawMessage `json:"summary"`
		ID        string          `json:"id"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Input     json.RawMessage `json:"input"`
		Output    json.RawMessage `json:"output"`
	}
	if json.Unmarshal(raw, &i) != nil {
		return nil
	}
	one := func(pairs ...any) []json.RawMessage { return []json.RawMessage{modelcall.Members(pairs...)} }
	switch i.Type {
	case "", "message":
		role := i.Role
		if role == "developer" {
			role = "system"
		}
		return one("role", text(role), "content", content(i.Content))
	case "reasoning":
		parts := append(texts(i.Summary, "reasoning"), texts(i.Content, "reasoning")...)
		if len(parts) == 0 {
			return nil // sealed
		}
		return one("role", "assistant", "content", parts)
	case "function_call":
		return one("role", "assistant", "content", parts(modelcall.Members("type", "tool_call", "id", i.CallID, "name", i.Name,
			"args", modelcall.Arguments(modelcall.String(i.Arguments)))))
	case "custom_tool_call":
		return one("role", "assistant", "content", parts(modelcall.Members("type", "tool_call", "id", i.CallID, "name", i.Name,
			"args", modelcall.Members("input", i.Input))))
	case "function_call_output", "custom_tool_call_output":
		return one("role", "tool", "tool_call_id", i.CallID, "content", content(i.Output))
	case "item_reference":
		return nil // the server holds it
	}
	return one("role", "assistant", "content", parts(raw))
}

func parts(list ...json.RawMessage) []json.RawMessage { return list }

// content is a message's content in LangSmith's dialect: input_text and
// output_text are text; other parts stand as they are.
func content(raw json.RawMessage) any {
	list := modelcall.List(raw)
	if list == nil {
		if len(raw) == 0 {
			return nil
		}
		return raw
	}
	for n, part := range list {
		var p struct {
			Type    string `json:"type"`
			Text    string `json:"text"`
			Refusal string `json:"refusal"`
		}
		if json.Unmarshal(part, &p) != nil {
			continue
		}
		switch p.Type {
		case "input_text", "output_text":
			list[n] = modelcall.Members("type", "text", "text", p.Text)
		case "refusal":
			list[n] = modelcall.Members("type", "text", "text", p.Refusal)
		}
	}
	return list
}

// texts are the parts of a list as parts of one type.
func texts(raw json.RawMessage, kind string) []json.RawMessage {
	var list []json.RawMessage
	for _, part := range modelcall.List(raw) {
		if s := modelcall.String(modelcall.Object(part)["text"]); s != "" {
			list = append(list, modelcall.Members("type", kind, "text", s))
		}
	}
	return list
}
