package copilot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// envEvent tells a hook which event it was registered for: payloads do not say so.
const envEvent = "TRACESMITH_EVENT"

// payload is what Copilot gives a hook on standard input, as far as it is read. The
// names with underscores are those of the older, Claude-like spelling of events.
type payload struct {
	Session    string          `json:"sessionId"` // in a subagent: the subagent's id
	Stamp      json.RawMessage `json:"timestamp"` // milliseconds, or RFC 3339
	CWD        string          `json:"cwd"`
	Source     string          `json:"source"`
	Prompt     string          `json:"prompt"`
	Reason     string          `json:"reason"`
	Transcript string          `json:"transcriptPath"` // the root session's log
	Agent      string          `json:"agentId"`
	Parent     string          `json:"parentAgentId"`

	Event        string `json:"hook_event_name"`
	OtherSession string `json:"session_id"`
	OtherPath    string `json:"transcript_path"`
	OtherAgent   string `json:"agent_id"`
	OtherParent  string `json:"parent_agent_id"`
}

// data is what the journal keeps of a payload: references and ids. The prompt is there
// only while the session has no log that holds it.
type data struct {
	Session string `json:"session"`
	Log     string `json:"log,omitempty"`
	Stamp   int64  `json:"stamp,omitempty"` // the agent's own time of the hook, in milliseconds
	Source  string `json:"source,omitempty"`
	Agent   string `json:"agent,omitempty"` // the subagent it ran in or tells of
	Text    string `json:"text,omitempty"`
	Parent  string `json:"parent,omitempty"` // dotted order of the run that started Copilot
}

// claims reports whether a payload is Copilot's: in a folder that it trusts it runs the
// hooks of the project's settings for Claude Code too. Those of a Claude Code that
// Copilot started have its environment, and no time.
func claims(p integrations.Payload) bool {
	return p.Env != nil && p.Env("COPILOT_CLI") == "1" && agentkit.Member(p.Body, "timestamp") != nil
}

// peek reads where a payload belongs. What a subagent's hook tells belongs to the
// session that started it. The agent's process is the one that called the hook.
func peek(p integrations.Payload) (integrations.Route, error) {
	in, err := parsePayload(p)
	if err != nil {
		return integrations.Route{}, err
	}
	if in.nested(p) {
		return integrations.Route{}, integrations.ErrIdle
	}
	route := integrations.Route{Event: in.Event, Session: in.root(), CWD: in.CWD}
	if p.Parent > 1 {
		route.PID = p.Parent
	}
	return route, nil
}

func parsePayload(p integrations.Payload) (payload, error) {
	var in payload
	if err := agentkit.Decode(agentkit.Slim(p.Body, len(p.Body), fields()...), &in); err != nil {
		return in, fmt.Errorf("copilot: payload: %w", err)
	}
	in.Session, in.Transcript = cmp.Or(in.Session, in.OtherSession), cmp.Or(in.Transcript, in.OtherPath)
	in.Agent, in.Parent = cmp.Or(in.Agent, in.OtherAgent), cmp.Or(in.Parent, in.OtherParent)
	in.Event = eventOf(p, &in)
	if in.Session == "" || in.Event == "" {
		return in, errors.New("copilot: payload: no session or event")
	}
	return in, nil
}

func fields() []string {
	return []string{
		"sessionId", "timestamp", "cwd", "source", "prompt", "reason", "transcriptPath", "agentId", "parentAgentId",
		"hook_event_name", "session_id", "transcript_path", "agent_id", "parent_agent_id",
	}
}

// eventOf names the event of a payload: as the payload says, which the Claude-like ones
// do, as it was registered, or by the fields that only one event has.
func eventOf(p integrations.Payload, in *payload) string {
	switch in.Event {
	case "":
	case "UserPromptSubmit":
		return userPrompt
	case "Stop":
		return agentStop
	default:
		return strings.ToLower(in.Event[:1]) + in.Event[1:]
	}
	if p.Env != nil {
		if name := p.Env(envEvent); name != "" {
			return name
		}
	}
	for _, sign := range [...]struct{ field, event string }{
		{"transformedPrompt", "userPromptTransformed"}, {"toolResult", "postToolUse"}, {"permissionSuggestions", "permissionRequest"},
		{"notification_type", "notification"}, {"errorContext", errorOccurred}, {"trigger", "preCompact"},
		{"initialPrompt", sessionStart}, {"source", sessionStart},
	} {
		if agentkit.Member(p.Body, sign.field) != nil {
			return sign.event
		}
	}
	has := func(field string) bool { return agentkit.Member(p.Body, field) != nil }
	switch {
	case has("toolName") && has("error"):
		return "postToolUseFailure"
	case has("toolName"):
		return "preToolUse"
	case has("agentName") && has("stopReason"):
		return subagentStop
	case has("agentName"):
		return "subagentStart"
	case has("stopReason"):
		return agentStop
	case has("prompt"):
		return userPrompt
	case has("reason"):
		return sessionEnd
	}
	return ""
}

// root is the session that a payload belongs to: whose log it names, else the one that
// started the subagent it ran in.
func (in *payload) root() string {
	if id := sessionOf(in.Transcript); id != "" {
		return id
	}
	if in.Agent != "" && in.Agent == in.Session && in.Parent != "" {
		return in.Parent
	}
	return in.Session
}

// nested reports whether the hook ran in the subagent of a subagent and names no session's
// log. Whose it is nothing tells, and the log has all that it says.
func (in *payload) nested(p integrations.Payload) bool {
	if p.Exists == nil || in.root() == in.Session || sessionOf(in.Transcript) != "" {
		return false
	}
	log := logOf(copilotHome(p.Env), in.root())
	return log != "" && !p.Exists(log)
}

// inner reports whether the hook ran in a subagent or tells of one.
func (in *payload) inner() bool { return in.Agent != "" || in.root() != in.Session }

// sessionOf is the session whose log a path names: .../session-state/<id>/events.jsonl.
func sessionOf(log string) string {
	log = strings.ReplaceAll(log, `\`, "/")
	dir, name := path.Split(log)
	if id := path.Base(dir); name == logName && isID(id) {
		return id
	}
	return ""
}

// isID reports whether a session's id has the shape that all have: what has another is
// no folder's name.
func isID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for _, c := range []byte(id) {
		if !strings.ContainsRune("0123456789abcdef-", rune(c)) {
			return false
		}
	}
	return true
}

// project keeps references and drops content, except for a prompt that no log holds.
func project(p integrations.Payload) (json.RawMessage, error) {
	in, err := parsePayload(p)
	if err != nil {
		return nil, err
	}
	d := data{Session: in.root(), Log: in.Transcript, Stamp: stampOf(in.Stamp), Source: in.Source, Agent: in.Agent}
	if in.inner() && d.Agent == "" {
		d.Agent = in.Session
	}
	if sessionOf(d.Log) != d.Session {
		d.Log = logOf(copilotHome(p.Env), d.Session)
	}
	if p.Env != nil {
		if parent, err := runtypes.ParentFromEnv(p.Env); err == nil { // what is no dotted order attaches to nothing
			d.Parent = parent.DottedOrder
		}
	}
	if d.Agent == "" && (d.Log == "" || p.Exists == nil || !p.Exists(d.Log)) {
		d.Text = agentkit.Clip(in.Prompt)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("copilot: project: %w", err)
	}
	return raw, nil
}

// stampOf reads a payload's time in milliseconds; 0 if it has none.
func stampOf(raw json.RawMessage) int64 {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return 0
	}
	var ms float64
	if json.Unmarshal(raw, &ms) == nil && ms > 0 && ms < 1<<52 {
		return int64(ms)
	}
	var at time.Time
	if json.Unmarshal(raw, &at) == nil && at.Unix() > 0 {
		return at.UnixMilli()
	}
	return 0
}

// copilotHome is the folder Copilot keeps its files in; "" if nothing says where.
func copilotHome(env func(string) string) string {
	if env == nil {
		return ""
	}
	if home := env("COPILOT_HOME"); home != "" {
		return home
	}
	for _, key := range [...]string{"HOME", "USERPROFILE"} {
		if home := env(key); home != "" {
			return filepath.Join(home, ".copilot")
		}
	}
	return ""
}

const (
	stateDir = "session-state"
	logName  = "events.jsonl"
)

// logOf is the path of a session's log; "" if it cannot have one.
func logOf(home, session string) string {
	if home == "" || !isID(session) {
		return ""
	}
	return filepath.Join(home, stateDir, session, logName)
}
