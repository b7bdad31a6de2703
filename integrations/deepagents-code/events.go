package deepagentscode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// payload is what Deep Agents Code writes to a hook's standard input, as far as it is read.
type payload struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	CWD        string `json:"cwd"`
	Event      string `json:"hook_event_name"`
	Prompt     string `json:"prompt_id"` // the turn; a trace of the agent's own bears it as turn_id
	Mode       string `json:"permission_mode"`

	Model  string `json:"model"`
	Text   string `json:"prompt"`
	Reason string `json:"reason"`
	Notice string `json:"notification_type"`
	Answer string `json:"last_assistant_message"`

	Tool     string          `json:"tool_name"`
	ToolID   string          `json:"tool_use_id"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	Error    string          `json:"error"`
	Halted   bool            `json:"is_interrupt"`
	Duration *float64        `json:"duration_ms"`

	Agent     string `json:"agent_id"`
	AgentType string `json:"agent_type"`
	Trigger   string `json:"trigger"`
}

// data is what the journal keeps of a payload. Content is there only where the agent
// keeps it nowhere else, or not yet: the prompt, and what hooks of tools tell.
type data struct {
	Session    string `json:"session"`
	Prompt     string `json:"prompt,omitempty"` // the turn's id
	Transcript string `json:"transcript,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Native     bool   `json:"native,omitempty"`    // the agent traces itself
	UnderRun   string `json:"under_run,omitempty"` // dotted order of the run that started the agent

	Model  string `json:"model,omitempty"` // with its provider before a colon, where that is known
	Text   string `json:"text,omitempty"`  // the prompt or the answer
	Reason string `json:"reason,omitempty"`
	Notice string `json:"notice,omitempty"`

	Tool     string          `json:"tool,omitempty"`
	ToolID   string          `json:"tool_id,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
	Error    string          `json:"error,omitempty"`
	Halted   bool            `json:"halted,omitempty"`
	Duration *float64        `json:"duration_ms,omitempty"`

	Agent     string `json:"agent,omitempty"`
	AgentType string `json:"agent_type,omitempty"`
	Trigger   string `json:"trigger,omitempty"`
}

// Bounds of what is read of a payload and kept.
const (
	maxField   = 24 << 20 // what is longer is passed over undecoded
	maxContent = 4 << 20  // of a tool's input or response: of a longer one nothing is kept
	maxText    = 1 << 20
)

// peek reads where a payload belongs. The agent's process is the one that called the hook.
func peek(p integrations.Payload) (integrations.Route, error) {
	var in payload
	if err := agentkit.Decode(agentkit.Slim(p.Body, 64<<10, "session_id", "hook_event_name", "cwd"), &in); err != nil {
		return integrations.Route{}, fmt.Errorf("deepagentscode: payload: %w", err)
	}
	if in.Session == "" || in.Event == "" {
		return integrations.Route{}, errors.New("deepagentscode: payload: no session_id or hook_event_name")
	}
	route := integrations.Route{Event: in.Event, Session: in.Session, CWD: in.CWD}
	if p.Parent > 1 {
		route.PID = p.Parent
	}
	return route, nil
}

// fields are the members of payload.
func fields() []string {
	return []string{
		"session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode",
		"model", "prompt", "reason", "notification_type", "last_assistant_message",
		"tool_name", "tool_use_id", "tool_input", "tool_response", "error", "is_interrupt", "duration_ms",
		"agent_id", "agent_type", "trigger",
	}
}

// project keeps what the reducer reads; of a session that the agent traces itself no
// content at all.
func project(p integrations.Payload) (json.RawMessage, error) {
	var in payload
	if err := agentkit.Decode(agentkit.Slim(p.Body, maxField, fields()...), &in); err != nil {
		return nil, fmt.Errorf("deepagentscode: payload: %w", err)
	}
	d := data{Session: in.Session, Prompt: in.Prompt, Native: traces(p.Env)}
	if !d.Native {
		d.keep(&in, p.Env)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("deepagentscode: project: %w", err)
	}
	return raw, nil
}

func (d *data) keep(in *payload, env func(string) string) {
	d.Transcript, d.Mode = in.Transcript, in.Mode
	d.Reason, d.Notice, d.Trigger = in.Reason, in.Notice, in.Trigger
	d.Tool, d.ToolID, d.Error, d.Halted, d.Duration = in.Tool, in.ToolID, clip(in.Error), in.Halted, in.Duration
	d.Agent, d.AgentType = in.Agent, in.AgentType
	d.Model = in.Model
	switch in.Event {
	case userPrompt:
		d.Text = clip(in.Text)
		if env != nil {
			if parent, err := runtypes.ParentFromEnv(env); err == nil { // what is no dotted order attaches to nothing
				d.UnderRun = parent.DottedOrder
			}
		}
	case stop, subagentStop:
		d.Text = clip(in.Answer)
	case sessionStart:
		if env == nil || in.Model == "" {
			break
		}
		if spec := env("DEEPAGENTS_CODE_SERVER_MODEL"); strings.HasSuffix(spec, ":"+in.Model) {
			d.Model = spec
		}
	}
	if len(in.Input) <= maxContent {
		d.Input = in.Input
	}
	if len(in.Response) <= maxContent {
		d.Response = in.Response
	}
}

// traces reports whether the agent traces itself: it leaves the switches in the
// environment as they are in force.
func traces(env func(string) string) bool {
	if env == nil {
		return false
	}
	for _, name := range [...]string{"LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"} {
		switch strings.ToLower(strings.TrimSpace(env(name))) {
		case "1", "true", "yes", "on":
			return true
		}
	}
	return false
}

// clip bounds a text at a rune's edge and says what it left out.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := strings.ToValidUTF8(s[:maxText], "")
	return cut + fmt.Sprintf("\n[… %d bytes left out]", len(s)-len(cut))
}
