package deepagentscode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// block is a part of a message's content, in the shapes that LangChain's models have.
type block struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	Reasoning string `json:"reasoning"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// blocks are the parts of a content: a text is one.
func blocks(content json.RawMessage) []block {
	var said string
	if json.Unmarshal(content, &said) == nil {
		if said == "" {
			return nil
		}
		return []block{{Type: "text", Text: said}}
	}
	var raw []json.RawMessage
	_ = json.Unmarshal(content, &raw) // what is no list has no parts
	var list []block
	for _, one := range raw {
		if json.Unmarshal(one, &said) == nil {
			list = append(list, block{Type: "text", Text: said})
			continue
		}
		var b block
		if json.Unmarshal(one, &b) == nil {
			list = append(list, b)
		}
	}
	return list
}

// words is the text of a content.
func words(content json.RawMessage) string {
	var said []string
	for _, b := range blocks(content) {
		if b.Type == "text" && b.Text != "" {
			said = append(said, b.Text)
		}
	}
	return strings.Join(said, "\n")
}

// answer renders what the model said: thoughts, text and tool calls.
func (n *note) answer() runtypes.Message {
	var parts []runtypes.Part
	for _, b := range blocks(n.Content) {
		thought := cmp.Or(b.Thinking, b.Reasoning)
		for _, s := range b.Summary {
			thought += s.Text
		}
		switch {
		case b.Type == "text" && b.Text != "":
			parts = append(parts, runtypes.Part{Type: "text", Text: b.Text})
		case thought != "":
			parts = append(parts, runtypes.Part{Type: "reasoning", Text: thought})
		}
	}
	for _, c := range n.Calls {
		parts = append(parts, runtypes.Part{Type: "tool_call", ID: c.ID, Name: c.Name, Args: object(c.Args)})
	}
	m := runtypes.Message{Role: "assistant"}
	if len(parts) > 0 {
		m.Content = parts
	}
	return m
}

// result renders what a tool gave back.
func (n *note) result() runtypes.Message {
	m := runtypes.Message{Role: "tool", Content: words(n.Content), ToolCallID: n.Call, Name: n.Name}
	if n.Status == "error" {
		m.Status = n.Status
	}
	return m
}

// usage is the tokens as LangSmith counts them; nil where the model told none. LangChain
// counts what was written to the cache once: by its lifetime, where that is known.
func (n *note) usage() *runtypes.Usage {
	if n.Usage == nil {
		return nil
	}
	u := &runtypes.Usage{
		Input: n.Usage.Input, Output: n.Usage.Output, CacheRead: n.Usage.In.CacheRead,
		CacheCreation: n.Usage.In.CacheCreation, Ephemeral5m: n.Usage.In.Short, Ephemeral1h: n.Usage.In.Long,
		Reasoning: n.Usage.Out.Reasoning,
	}
	if n.Usage.In.Audio > 0 {
		u.InputDetails = map[string]int64{"audio": n.Usage.In.Audio}
	}
	if n.Usage.Out.Audio > 0 {
		u.OutputDetails = map[string]int64{"audio": n.Usage.Out.Audio}
	}
	return u
}

// object is a JSON object as it is; anything else under a name.
func object(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] == '{' {
		return raw
	}
	wrapped, err := json.Marshal(map[string]json.RawMessage{"input": raw})
	if err != nil {
		return nil
	}
	return wrapped
}

// output is a text as the outputs of a run; nothing of an empty one.
func output(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	raw, err := json.Marshal(map[string]string{"output": text})
	if err != nil {
		return nil
	}
	return raw
}

// failure is Python's print of an exception as people read it, and whether it says that
// the work was called off.
func failure(printed string) (what string, called bool) {
	name, rest, ok := strings.Cut(strings.TrimSpace(printed), "(")
	if !ok {
		return printed, false
	}
	called = name == "CancelledError" || name == "KeyboardInterrupt"
	rest = strings.TrimSuffix(rest, ")")
	if len(rest) > 1 && (rest[0] == '\'' || rest[0] == '"') && rest[len(rest)-1] == rest[0] {
		rest = strings.NewReplacer(`\'`, `'`, `\"`, `"`, `\n`, "\n", `\\`, `\`).Replace(rest[1 : len(rest)-1])
	}
	if rest == "" {
		return name, called
	}
	return name + ": " + rest, called
}

// modelOf splits a model's name from its provider.
func modelOf(spec string) runtypes.Model {
	provider, name, ok := strings.Cut(spec, ":")
	if !ok {
		return runtypes.Model{Name: spec}
	}
	return runtypes.Model{Name: name, Provider: providerOf(provider)}
}

// model is the one that answered; nothing where the answer does not say.
func (n *note) model() runtypes.Model {
	return runtypes.Model{Name: n.Response.Model, Provider: providerOf(n.Response.Provider)}
}

// model is the one of a call that says nothing of it, such as one that failed: the
// turn's other calls know its provider, where the session does not.
func (s *story) model(session runtypes.Model) runtypes.Model {
	for _, one := range s.scopes {
		for _, c := range one.calls {
			if c.note == nil || c.note.Response.Model == "" {
				continue
			}
			if m := c.note.model(); session.Name == "" || session.Provider == "" && session.Name == m.Name {
				return m
			}
		}
	}
	return session
}

// providerOf maps LangChain's name of a provider to the one that LangSmith prices.
func providerOf(name string) string {
	switch name {
	case "bedrock", "bedrock_converse", "anthropic_bedrock":
		return "amazon_bedrock"
	case "azure_openai", "azure_ai":
		return "azure"
	case "google":
		return "google_genai"
	case "vertexai":
		return "google_vertexai"
	}
	return name
}

// nativeTool is the agent's own name of a tool that its hooks call by Claude Code's.
func nativeTool(wire string) string {
	switch wire {
	case "Bash":
		return "execute"
	case "Read":
		return "read_file"
	case "Write":
		return "write_file"
	case "Edit":
		return "edit_file"
	case "Glob", "Grep", "LS":
		return strings.ToLower(wire)
	}
	return wire
}
