package cursor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// payload is what Cursor writes to a hook's standard input, as far as it is read.
type payload struct {
	Conversation string   `json:"conversation_id"`
	Session      string   `json:"session_id"` // the same, in every payload that was captured
	Generation   string   `json:"generation_id"`
	Event        string   `json:"hook_event_name"`
	Model        string   `json:"model"`
	ModelID      string   `json:"model_id"`
	Params       []param  `json:"model_params"`
	Version      string   `json:"cursor_version"`
	Roots        []string `json:"workspace_roots"`
	CWD          string   `json:"cwd"`
	Transcript   string   `json:"transcript_path"`

	Mode        string          `json:"composer_mode"`
	Prompt      string          `json:"prompt"`
	Attachments json.RawMessage `json:"attachments"`
	Text        string          `json:"text"`
	tokens

	Tool        string          `json:"tool_name"`
	ToolID      string          `json:"tool_use_id"`
	Input       json.RawMessage `json:"tool_input"`
	Output      json.RawMessage `json:"tool_output"`
	DurationMS  *float64        `json:"duration"`
	SessionMS   *float64        `json:"duration_ms"`
	Error       string          `json:"error_message"`
	FailureType string          `json:"failure_type"`
	Interrupt   bool            `json:"is_interrupt"`

	Agent      string `json:"subagent_id"`
	AgentCall  string `json:"tool_call_id"`
	AgentType  string `json:"subagent_type"`
	AgentModel string `json:"subagent_model"`
	Task       string `json:"task"`
	Summary    string `json:"summary"`
	Parent     string `json:"parent_conversation_id"`
	AgentFile  string `json:"agent_transcript_path"`

	Status  string `json:"status"`
	Loop    int    `json:"loop_count"`
	Reason  string `json:"reason"`
	Trigger string `json:"trigger"`
	Context int64  `json:"context_tokens"`
}

// tokens are a turn's, all of its model calls together. The input holds the cache's.
type tokens struct {
	Input      *int64 `json:"input_tokens,omitempty"`
	Output     *int64 `json:"output_tokens,omitempty"`
	CacheRead  int64  `json:"cache_read_tokens,omitempty"`
	CacheWrite int64  `json:"cache_write_tokens,omitempty"`
}

// param is a setting of a model, such as its effort.
type param struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

// data is what the journal keeps of a payload. Hooks are the only source, so content is
// among it; who the user is and what nobody reads is not.
type data struct {
	Conversation string  `json:"conversation"`
	Generation   string  `json:"generation,omitempty"`
	Model        string  `json:"model,omitempty"`
	ModelID      string  `json:"model_id,omitempty"`
	Params       []param `json:"params,omitempty"`
	Version      string  `json:"version,omitempty"`
	Transcript   string  `json:"transcript,omitempty"`
	PID          int     `json:"pid,omitempty"`       // the agent's process
	UnderRun     string  `json:"under_run,omitempty"` // dotted order of the run that started the agent

	Mode        string   `json:"mode,omitempty"`
	Attachments []string `json:"attachments,omitempty"` // paths
	Text        string   `json:"text,omitempty"`        // prompt, thought, response, task or summary
	Config      string   `json:"config,omitempty"`      // folder of programs' settings
	Hash        string   `json:"hash,omitempty"`        // of the prompt or task as Cursor's own files have it
	Tokens      *tokens  `json:"tokens,omitempty"`

	Tool        string          `json:"tool,omitempty"`
	ToolID      string          `json:"tool_id,omitempty"`
	InputHash   string          `json:"input_hash,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
	DurationMS  *float64        `json:"duration_ms,omitempty"`
	Error       string          `json:"error,omitempty"`
	FailureType string          `json:"failure_type,omitempty"`
	Interrupt   bool            `json:"interrupt,omitempty"`

	Agent      string `json:"agent,omitempty"` // the id of the call that started it
	AgentType  string `json:"agent_type,omitempty"`
	AgentModel string `json:"agent_model,omitempty"`
	Parent     string `json:"parent,omitempty"` // its parent's conversation
	AgentFile  string `json:"agent_file,omitempty"`

	Status  string `json:"status,omitempty"` // how it ended
	Loop    int    `json:"loop,omitempty"`
	Trigger string `json:"trigger,omitempty"`
	Context int64  `json:"context,omitempty"`
}

// Bounds of what is read of a payload and kept.
const (
	maxField   = 24 << 20 // what is longer is passed over undecoded
	maxContent = 4 << 20  // of a tool's input or output; of a longer one the beginning is kept
	maxText    = 1 << 20  // of a prompt, a thought or a response
)

// claims reports whether a payload is Cursor's: it runs the hooks in Claude Code's
// settings too. The variable alone says little, since it reaches whatever is started
// in Cursor's terminal.
func claims(p integrations.Payload) bool {
	if !bytes.Contains(p.Body, []byte(`_id"`)) {
		return false
	}
	if version := agentkit.Member(p.Body, "cursor_version"); len(version) > 2 && version[0] == '"' {
		return true
	}
	return p.Env != nil && p.Env("CURSOR_VERSION") != "" &&
		agentkit.Member(p.Body, "conversation_id") != nil && agentkit.Member(p.Body, "generation_id") != nil
}

// peek reads where a payload belongs: to its workspace.
func peek(p integrations.Payload) (integrations.Route, error) {
	var in payload
	if err := agentkit.Decode(agentkit.Slim(p.Body, 64<<10, "conversation_id", "session_id", "hook_event_name", "workspace_roots"), &in); err != nil {
		return integrations.Route{}, fmt.Errorf("cursor: payload: %w", err)
	}
	if cmp.Or(in.Conversation, in.Session) == "" || in.Event == "" {
		return integrations.Route{}, errors.New("cursor: payload: no conversation_id or hook_event_name")
	}
	route := integrations.Route{Event: native(in.Event), CWD: in.root()}
	route.Session = cmp.Or(route.CWD, "no folder") + owner(p.Env)
	if p.Parent > 1 {
		route.PID = p.Parent
	}
	return route, nil
}

// root is the workspace's first folder.
func (in *payload) root() string {
	if len(in.Roots) == 0 {
		return ""
	}
	return in.Roots[0]
}

// owner tells the journals of two shells apart that have keys of their own: what one of
// them records in a workspace is not for the other.
func owner(env func(string) string) string {
	if env == nil {
		return ""
	}
	for _, name := range [...]string{"LANGSMITH_CURSOR_API_KEY", "LANGSMITH_API_KEY", "TRACESMITH_API_KEY"} {
		if key := env(name); key != "" {
			return " #" + agentkit.HashText(key)[:8]
		}
	}
	return ""
}

// native is Cursor's name of an event that came by Claude Code's.
func native(event string) string {
	if event == "UserPromptSubmit" {
		return "beforeSubmitPrompt"
	}
	return strings.ToLower(event[:1]) + event[1:]
}

// fields are the members of payload.
var fields = []string{
	"conversation_id", "session_id", "generation_id", "hook_event_name", "model", "model_id", "model_params",
	"cursor_version", "workspace_roots", "transcript_path", "composer_mode", "prompt", "attachments", "text",
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
	"tool_name", "tool_use_id", "tool_input", "tool_output", "duration", "duration_ms", "error_message", "failure_type", "is_interrupt",
	"subagent_id", "tool_call_id", "subagent_type", "subagent_model", "task", "summary", "parent_conversation_id",
	"agent_transcript_path", "status", "loop_count", "reason", "trigger", "context_tokens",
}

// project keeps what the reducer reads. The user's address and what duplicates
// something else stays behind.
func project(p integrations.Payload) (json.RawMessage, error) {
	var in payload
	if err := agentkit.Decode(agentkit.Slim(p.Body, maxField, fields...), &in); err != nil {
		return nil, fmt.Errorf("cursor: payload: %w", err)
	}
	d := data{
		Conversation: cmp.Or(in.Conversation, in.Session), Generation: in.Generation,
		Model: in.Model, ModelID: in.ModelID, Params: in.Params, Version: in.Version,
		Transcript: in.Transcript, PID: p.Parent, Mode: in.Mode,
		Tool: in.Tool, ToolID: in.ToolID, DurationMS: in.DurationMS,
		Error: clip(in.Error), FailureType: in.FailureType, Interrupt: in.Interrupt,
		Agent: cmp.Or(in.Agent, in.AgentCall), AgentType: in.AgentType, AgentModel: in.AgentModel,
		Parent: in.Parent, AgentFile: in.AgentFile,
		Status: cmp.Or(in.Status, in.Reason), Loop: in.Loop, Trigger: in.Trigger, Context: in.Context,
	}
	if in.Input != nil {
		d.InputHash = agentkit.HashJSON(in.Input)
		if task := taskOf(in.Input); startsAgent(in.Tool) && task != "" {
			d.Hash = agentkit.HashText(task)
		}
		d.Input = bounded(in.Input)
	}
	if in.Output != nil {
		d.Output = bounded(unquoted(in.Output))
	}
	if in.tokens.Input != nil || in.tokens.Output != nil {
		used := in.tokens
		d.Tokens = &used
	}
	switch native(cmp.Or(in.Event, " ")) {
	case "beforeSubmitPrompt":
		d.Text, d.Hash, d.Attachments = clip(in.Prompt), agentkit.HashText(in.Prompt), paths(in.Attachments)
		if p.Env != nil {
			d.Config = cmp.Or(p.Env("XDG_CONFIG_HOME"), p.Env("APPDATA"))
			if parent, err := runtypes.ParentFromEnv(p.Env); err == nil {
				d.UnderRun = parent.DottedOrder
			}
		}
	case "subagentStart":
		d.Text, d.Hash = clip(in.Task), agentkit.HashText(in.Task)
	case "subagentStop":
		d.Text, d.Hash = clip(in.Summary), agentkit.HashText(in.Task)
	case "sessionEnd":
		d.DurationMS = in.SessionMS
	default:
		d.Text = clip(in.Text)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("cursor: project: %w", err)
	}
	return raw, nil
}

// taskOf is the task in the input of a call that starts a subagent.
func taskOf(input json.RawMessage) string {
	var task struct {
		Prompt string `json:"prompt"`
	}
	if agentkit.Decode(input, &task) != nil {
		return ""
	}
	return task.Prompt
}

// startsAgent reports whether a tool is the one that starts subagents.
func startsAgent(tool string) bool { return tool == "Task" || tool == "Subagent" }

// clip bounds a text at a rune's edge and says what it left out.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := strings.ToValidUTF8(s[:maxText], "")
	return cut + fmt.Sprintf("\n[… %d bytes left out]", len(s)-len(cut))
}

// unquoted is the JSON in a string of JSON, so that redaction sees its keys; any other
// value as it is.
func unquoted(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil && len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return raw
}

// bounded keeps of a long value the beginning, as text.
func bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxContent {
		return raw
	}
	text, err := json.Marshal(clip(string(raw)))
	if err != nil {
		return nil
	}
	return text
}

// paths lists the files that go with a prompt.
func paths(attachments json.RawMessage) []string {
	var list []struct {
		Path string `json:"file_path"`
	}
	if agentkit.Decode(attachments, &list) != nil {
		return nil // of a shape of its own
	}
	var found []string
	for _, each := range list {
		if each.Path != "" && len(found) < 64 {
			found = append(found, each.Path)
		}
	}
	return found
}
