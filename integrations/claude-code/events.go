package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// payload is what Claude Code writes to a hook's standard input, as far as it is
// read. The transcript path is always that of the main thread.
type payload struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	CWD        string `json:"cwd"`
	Event      string `json:"hook_event_name"`
	Prompt     string `json:"prompt_id"`
	Mode       string `json:"permission_mode"`
	Agent      string `json:"agent_id"`
	AgentType  string `json:"agent_type"`
	AgentPath  string `json:"agent_transcript_path"`

	Source       string   `json:"source"`
	Reason       string   `json:"reason"`
	Model        string   `json:"model"`
	Trigger      string   `json:"trigger"`
	Error        string   `json:"error"`
	Tool         string   `json:"tool_name"`
	ToolID       string   `json:"tool_use_id"`
	DurationMS   *float64 `json:"duration_ms"`
	Interrupt    bool     `json:"is_interrupt"`
	Notification string   `json:"notification_type"`
	MCP          *struct {
		Name string `json:"name"`
	} `json:"mcp_server"`
}

// maxField bounds the fields that are read of every payload; content is read apart,
// where it is needed.
const maxField = 64 << 10

// fields are the members of payload.
var fields = []string{
	"session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode",
	"agent_id", "agent_type", "agent_transcript_path", "source", "reason", "model", "trigger", "error",
	"tool_name", "tool_use_id", "duration_ms", "is_interrupt", "notification_type", "mcp_server",
}

// data is what the journal keeps of a payload: references, ids and times. The
// content fields are filled only where no transcript holds the content.
type data struct {
	Session    string   `json:"session"`
	Transcript string   `json:"transcript,omitempty"`
	Prompt     string   `json:"prompt,omitempty"`
	Mode       string   `json:"mode,omitempty"`
	Agent      string   `json:"agent,omitempty"`
	AgentType  string   `json:"agent_type,omitempty"`
	AgentPath  string   `json:"agent_path,omitempty"`
	Source     string   `json:"source,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Model      string   `json:"model,omitempty"`
	Trigger    string   `json:"trigger,omitempty"`
	Tool       string   `json:"tool,omitempty"`
	ToolID     string   `json:"tool_id,omitempty"`
	InputHash  string   `json:"input_hash,omitempty"` // PermissionRequest has no tool id: matched by input
	MCP        string   `json:"mcp,omitempty"`
	DurationMS *float64 `json:"duration_ms,omitempty"`
	Interrupt  bool     `json:"interrupt,omitempty"`
	LastHash   string   `json:"last_hash,omitempty"`
	ErrorClass string   `json:"error_class,omitempty"` // StopFailure's word, never content
	Entrypoint string   `json:"entrypoint,omitempty"`
	Version    string   `json:"version,omitempty"`
	Parent     string   `json:"parent,omitempty"` // dotted order of the run that started the agent

	Text     string          `json:"text,omitempty"` // prompt, last message, error or summary
	Input    json.RawMessage `json:"input,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
}

// mayKeepNone reports whether a session may keep no transcript at all. Interactive
// ones always do, but begin it late, with the first reply.
func (d *data) mayKeepNone() bool { return d.Entrypoint != "cli" }

// peek reads where a payload belongs.
func peek(p integrations.Payload) (integrations.Route, error) {
	var in struct {
		Session string `json:"session_id"`
		Event   string `json:"hook_event_name"`
		CWD     string `json:"cwd"`
		Cursor  string `json:"cursor_version"`
	}
	if err := json.Unmarshal(agentkit.Slim(p.Body, maxField, "session_id", "hook_event_name", "cwd", "cursor_version"), &in); err != nil {
		return integrations.Route{}, fmt.Errorf("claudecode: payload: %w", err)
	}
	if in.Cursor != "" { // Cursor runs the hooks in Claude Code's settings as well
		return integrations.Route{}, integrations.ErrForeign
	}
	if in.Session == "" || in.Event == "" {
		return integrations.Route{}, errors.New("claudecode: payload: no session_id or hook_event_name")
	}
	pid := 0
	if p.Env != nil {
		pid, _ = strconv.Atoi(p.Env("CLAUDE_PID"))
	}
	return integrations.Route{Event: in.Event, Session: in.Session, CWD: in.CWD, PID: pid}, nil
}

// project keeps references and drops content, except where the transcript is not
// there: it does not exist at the first prompt, and never does with
// --no-session-persistence.
func project(p integrations.Payload) (json.RawMessage, error) {
	var in payload
	if err := json.Unmarshal(agentkit.Slim(p.Body, maxField, fields...), &in); err != nil {
		return nil, fmt.Errorf("claudecode: payload: %w", err)
	}
	d := data{
		Session: in.Session, Transcript: in.Transcript, Prompt: in.Prompt, Mode: in.Mode,
		Agent: in.Agent, AgentType: in.AgentType, AgentPath: in.AgentPath,
		Source: in.Source, Reason: in.Reason, Model: in.Model, Trigger: in.Trigger,
		Tool: in.Tool, ToolID: in.ToolID, DurationMS: in.DurationMS, Interrupt: in.Interrupt,
	}
	if in.MCP != nil {
		d.MCP = in.MCP.Name
	}
	if p.Env != nil {
		d.Entrypoint = p.Env("CLAUDE_CODE_ENTRYPOINT")
		d.Version = versionOf(p.Env("AI_AGENT"))
		if parent, err := runtypes.ParentFromEnv(p.Env); err == nil { // what is no dotted order attaches to nothing
			d.Parent = parent.DottedOrder
		}
	}
	switch in.Event {
	case "Stop", "StopFailure", "SubagentStop":
		d.LastHash = lastHash(p.Body)
		d.ErrorClass = in.Error
	case "PreToolUse", "PermissionRequest":
		d.InputHash = agentkit.HashJSON(agentkit.Member(p.Body, "tool_input"))
	case "Notification":
		d.Reason = in.Notification
	}
	if p.Exists == nil || !p.Exists(in.Transcript) {
		d.carry(in.Event, p.Body)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("claudecode: project: %w", err)
	}
	return raw, nil
}

// versionOf reads the program's version off the name it gives the agent it is, such
// as claude-code_2-1-332_harness.
func versionOf(agent string) string {
	name, rest, _ := strings.Cut(agent, "_")
	if name != Name {
		return ""
	}
	version, _, _ := strings.Cut(rest, "_")
	return strings.ReplaceAll(version, "-", ".")
}

// carry keeps the content that no transcript holds.
func (d *data) carry(event string, body []byte) {
	text := func(name string) string { return agentkit.ClipJSON(agentkit.Member(body, name)) }
	switch event {
	case "UserPromptSubmit":
		d.Text = text("prompt")
	case "Stop", "StopFailure", "SubagentStop":
		d.Text = text("last_assistant_message")
	case "PostToolUseFailure":
		d.Text = text("error")
		d.Input = agentkit.Member(body, "tool_input")
	case "PostToolUse":
		d.Input, d.Response = agentkit.Member(body, "tool_input"), agentkit.Member(body, "tool_response")
	case "PreToolUse":
		d.Input = agentkit.Member(body, "tool_input")
	case "PostCompact":
		d.Text = text("compact_summary")
	}
}

// lastHash names the reply that a Stop hook announces.
func lastHash(body []byte) string {
	var last string
	if json.Unmarshal(agentkit.Member(body, "last_assistant_message"), &last) != nil || last == "" {
		return ""
	}
	return agentkit.HashText(last)
}
