package copilot

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// record is one line of a session's log, as far as it is read. data is what its kind
// says, a pointer to one of the types below.
type record struct {
	kind   string
	at     time.Time
	agent  string // the subagent it is of; "" of the root
	offset int64
	data   any
}

// context says where a session is.
type context struct {
	CWD    string `json:"cwd"`
	Repo   string `json:"repository"` // owner/name
	Host   string `json:"repositoryHost"`
	Branch string `json:"branch"`
	SHA    string `json:"headCommit"`
}

type opening struct { // session.start, session.resume
	Version string   `json:"copilotVersion"`
	Model   string   `json:"selectedModel"`
	Effort  string   `json:"reasoningEffort"`
	Context *context `json:"context"`
}

type modelChange struct {
	Model  string `json:"newModel"`
	Effort string `json:"reasoningEffort"`
}

type permissions struct {
	AllowAll string `json:"allowAllPermissionMode"` // on, off
	Mode     string `json:"mode"`                   // what later versions call it
}

type userMessage struct {
	Content     string       `json:"content"`
	Sent        string       `json:"transformedContent"` // what the model is told
	Source      string       `json:"source"`
	Delivery    string       `json:"delivery"` // idle, queued, steering
	Interaction string       `json:"interactionId"`
	Autopilot   bool         `json:"isAutopilotContinuation"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Name string `json:"displayName"`
	MIME string `json:"mimeType"`
	Data string `json:"data"` // base64
}

type systemMessage struct {
	Content string `json:"content"`
}

type round struct { // assistant.turn_start, assistant.turn_end
	Model string `json:"model"`
}

type usageRecord struct {
	Usage struct {
		Model      string  `json:"model"`
		Input      int64   `json:"inputTokens"` // with what was read from a cache or written to one
		Output     int64   `json:"outputTokens"`
		CacheRead  int64   `json:"cacheReadTokens"`
		CacheWrite int64   `json:"cacheWriteTokens"`
		Reasoning  int64   `json:"reasoningTokens"`
		Duration   float64 `json:"duration"` // milliseconds
		FirstToken float64 `json:"timeToFirstTokenMs"`
		Call       string  `json:"apiCallId"`
		Provider   string  `json:"modelProvider"`
		Type       string  `json:"providerType"`
		Finish     string  `json:"finishReason"`
		Effort     string  `json:"reasoningEffort"`
		MaxOutput  int64   `json:"maxOutputTokens"`
	} `json:"usage"`
}

type assistantMessage struct {
	Model     string        `json:"model"`
	Content   string        `json:"content"`
	Reasoning string        `json:"reasoningText"`
	Tools     []toolRequest `json:"toolRequests"`
	Call      string        `json:"apiCallId"`
	Chunk     int           `json:"chunkIndex"`
	Chunks    int           `json:"chunkCount"`
}

type toolRequest struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type toolStart struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
	Server    string          `json:"mcpServerName"`
}

type toolEnd struct {
	ID      string `json:"toolCallId"`
	Success bool   `json:"success"`
	Result  *struct {
		Content string `json:"content"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
		Code    string `json:"code"` // failure, denied
	} `json:"error"`
	Shell *struct {
		ExitCode *int `json:"exitCode"`
	} `json:"shellExecution"`
	Edits []struct {
		Path string `json:"path"`
	} `json:"fileEdits"`
}

type permission struct { // permission.requested, permission.completed
	Request struct {
		Tool string `json:"toolCallId"`
	} `json:"permissionRequest"`
	Tool   string `json:"toolCallId"`
	Result struct {
		Kind string `json:"kind"` // approved…, denied…
	} `json:"result"`
	Decider string `json:"decisionSource"`
}

type subagent struct { // subagent.started, subagent.completed, subagent.failed
	Call      string `json:"toolCallId"`
	Kind      string `json:"agentName"`
	Title     string `json:"agentDisplayName"`
	Mode      string `json:"executionMode"` // sync, background
	Error     string `json:"error"`
	Cancelled bool   `json:"cancelled"`
}

type compacted struct { // session.compaction_start, session.compaction_complete
	ID      string `json:"compactionAttemptId"`
	Success bool   `json:"success"`
	Trigger string `json:"trigger"`
	Summary string `json:"summaryContent"`
	Error   string `json:"error"`
	Reason  string `json:"failureReason"`
	Before  int64  `json:"preCompactionTokens"`
	After   int64  `json:"postCompactionTokens"`
	Tokens  *struct {
		Model      string  `json:"model"`
		Input      int64   `json:"inputTokens"`
		Output     int64   `json:"outputTokens"`
		CacheRead  int64   `json:"cacheReadTokens"`
		CacheWrite int64   `json:"cacheWriteTokens"`
		Duration   float64 `json:"duration"`
	} `json:"compactionTokensUsed"`
}

type sessionError struct {
	Type    string `json:"errorType"`
	Code    string `json:"errorCode"`
	Message string `json:"message"`
}

type aborted struct {
	Reason string `json:"reason"`
}

type hookRun struct { // hook.start, hook.end
	ID    string `json:"hookInvocationId"`
	Type  string `json:"hookType"`
	Input struct {
		Session string          `json:"sessionId"`
		Stamp   json.RawMessage `json:"timestamp"`
	} `json:"input"`
	Output json.RawMessage `json:"output"`
}

// blocks is the prompt that a hook has put in the place of the turn's end; "" if it let
// the turn end.
func (h *hookRun) blocks() string {
	var out struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	if json.Unmarshal(h.Output, &out) != nil || out.Decision != "block" {
		return ""
	}
	return out.Reason
}

// shape is what the data of a line of a kind is decoded into; nil if it is not read.
func shape(kind string) any {
	switch kind {
	case "session.start", "session.resume":
		return &opening{}
	case "session.context_changed":
		return &context{}
	case "session.model_change":
		return &modelChange{}
	case "session.permissions_changed":
		return &permissions{}
	case "user.message":
		return &userMessage{}
	case "system.message", "system.notification":
		return &systemMessage{}
	case "assistant.turn_start", "assistant.turn_end":
		return &round{}
	case "session.usage_record":
		return &usageRecord{}
	case "assistant.message":
		return &assistantMessage{}
	case "tool.execution_start":
		return &toolStart{}
	case "tool.execution_complete":
		return &toolEnd{}
	case "permission.requested", "permission.completed":
		return &permission{}
	case "subagent.started", "subagent.completed", "subagent.failed":
		return &subagent{}
	case "session.compaction_start", "session.compaction_complete":
		return &compacted{}
	case "session.error":
		return &sessionError{}
	case "abort":
		return &aborted{}
	case "session.shutdown":
		return &struct{}{}
	case "hook.start", "hook.end":
		return &hookRun{}
	}
	return nil
}

// begins reports whether a line of the root's may begin a turn, or go on with one.
func (r *record) begins() bool {
	switch r.kind {
	case "user.message", "system.notification", "session.compaction_start", "assistant.turn_start", "assistant.message", "tool.execution_start":
		return true
	}
	return false
}

// parseRecord decodes a line, or reports that it is none that matters. A field of an
// unexpected shape is left out.
func parseRecord(text []byte) (record, bool) {
	if kind := kindOf(text); kind != "" && shape(kind) == nil {
		return record{}, false
	}
	var l struct {
		Kind  string          `json:"type"`
		At    time.Time       `json:"timestamp"`
		Agent string          `json:"agentId"`
		Data  json.RawMessage `json:"data"`
	}
	if agentkit.Decode(text, &l) != nil || l.At.Unix() <= 0 {
		return record{}, false
	}
	r := record{kind: l.Kind, at: l.At, agent: l.Agent, data: shape(l.Kind)}
	if r.data == nil || agentkit.Decode(l.Data, r.data) != nil {
		return record{}, false
	}
	return r, true
}

// content reports whether a line of a kind can neither begin nor end a turn that is ours:
// what need not be decoded of a past that is not.
func content(kind string) bool {
	switch kind {
	case "system.message", "session.usage_record", "assistant.turn_start", "assistant.turn_end", "assistant.message",
		"tool.execution_start", "tool.execution_complete", "permission.requested", "permission.completed",
		"subagent.started", "subagent.completed", "subagent.failed":
		return true
	}
	return false
}

// timeOf is a cheap look at a line's time, which stands behind its data; zero if it does
// not.
func timeOf(text []byte) time.Time {
	const key = `"timestamp":`
	tail := text[max(0, len(text)-256):]
	at := bytes.LastIndex(tail, []byte(key))
	if at < 0 {
		return time.Time{}
	}
	rest := bytes.TrimLeft(tail[at+len(key):], " ")
	end := bytes.IndexByte(rest[min(1, len(rest)):], '"')
	if end < 0 || rest[0] != '"' {
		return time.Time{}
	}
	when, err := time.Parse(time.RFC3339Nano, string(rest[1:end+1]))
	if err != nil {
		return time.Time{}
	}
	return when
}

// kindOf is a cheap look at the first bytes, where lines name their kind, so that what
// the program notes for itself is not decoded; "" if they do not.
func kindOf(text []byte) string {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(text, " "), []byte(`{"type":`))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest[:min(len(rest), 80)], " "), []byte(`"`))
	if end := bytes.IndexByte(rest, '"'); ok && end > 0 {
		return string(rest[:end])
	}
	return ""
}
