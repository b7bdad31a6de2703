package toy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/tracesmith/tracesmith/internal/modelserver"
)

// maxReply bounds a reply, in bytes.
const maxReply = 16 << 20

// Model is a model behind Anthropic's Messages API.
type Model struct {
	Name string
	HTTP *http.Client

	url, key string
	tools    []Tool
	scripted *modelserver.Server
}

// NewModel returns the real model where ANTHROPIC_API_KEY is set, else one that
// plays scripts: the replies of the one that a prompt names, one after the other.
// The tools are what the model may call.
func NewModel(scripts map[string]modelserver.Scenario, tools []Tool) (*Model, error) {
	m := &Model{Name: "claude-opus-4-5", HTTP: &http.Client{}, tools: tools, url: "https://api.anthropic.com", key: os.Getenv("ANTHROPIC_API_KEY")}
	if base := os.Getenv("ANTHROPIC_BASE_URL"); base != "" {
		m.url = strings.TrimRight(base, "/")
	}
	if m.key != "" {
		return m, nil
	}
	server, err := modelserver.Start(modelserver.Config{Scenarios: scripts})
	if err != nil {
		return nil, fmt.Errorf("toy: scripted model: %w", err)
	}
	m.scripted, m.url, m.key = server, server.URL(), "scripted"
	return m, nil
}

// Prompt returns a prompt that names its script, in brackets that a real model does
// not mind.
func Prompt(text, script string) string { return text + " [SCENARIO:" + script + "]" }

// Close ends the scripted model.
func (m *Model) Close() error {
	m.HTTP.CloseIdleConnections()
	if m.scripted == nil {
		return nil
	}
	return m.scripted.Close()
}

// Message is one entry of a conversation, as the API has it.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// Block is a part of a message: text, a tool call, or its result.
type Block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`

	ID    string          `json:"id,omitempty"` // tool_use
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string `json:"tool_use_id,omitempty"` // tool_result
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
}

// Usage is what a call took, in tokens. Input leaves out what a cache held.
type Usage struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// User is what the user says.
func User(text string) Message {
	return Message{Role: "user", Content: []Block{{Type: "text", Text: text}}}
}

// Result is what a tool call gave, for the model to read.
func Result(id, output string, err error) Block {
	b := Block{Type: "tool_result", ToolUseID: id, Content: output}
	if err != nil {
		b.IsError, b.Content = true, strings.TrimSpace(output+"\n"+err.Error())
	}
	return b
}

// Text is what the message says, without its tool calls.
func (m Message) Text() string {
	var texts []string
	for _, b := range m.Content {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Calls are the tools the message asks for.
func (m Message) Calls() []Block {
	var calls []Block
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			calls = append(calls, b)
		}
	}
	return calls
}

// Ask returns the model's next message.
func (m *Model) Ask(ctx context.Context, conversation []Message) (Message, error) {
	resp, err := m.post(ctx, conversation, false)
	if err != nil {
		return Message{}, err
	}
	defer resp.Body.Close()
	var reply Message
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(&reply); err != nil {
		return Message{}, fmt.Errorf("toy: reply: %w", err)
	}
	return reply, nil
}

// post sends the conversation. The answer is a good one.
func (m *Model) post(ctx context.Context, conversation []Message, stream bool) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{
		"model": m.Name, "max_tokens": 4096, "stream": stream, "messages": conversation, "tools": m.tools,
		"system": "You are a coding agent in a small Go repository. Be brief.",
	})
	if err != nil {
		return nil, fmt.Errorf("toy: request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("toy: request: %w", err)
	}
	for key, value := range map[string]string{
		"Content-Type": "application/json", "X-Api-Key": m.key, "Anthropic-Version": "2023-06-01",
	} {
		req.Header.Set(key, value)
	}
	resp, err := m.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("toy: ask: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return nil, fmt.Errorf("toy: ask: %s: %s", resp.Status, text)
	}
	return resp, nil
}
