package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// line is what is read of one transcript line. Everything else, the system prompt
// and the tool schemas among it, is never looked at.
type line struct {
	Type       string    `json:"type"`
	Subtype    string    `json:"subtype"`
	UUID       string    `json:"uuid"`
	ParentUUID string    `json:"parentUuid"` // the line before it in the conversation
	Timestamp  time.Time `json:"-"`          // zero: there is none that can be read
	Stamp      any       `json:"timestamp"`
	SessionID  string    `json:"sessionId"`
	Version    string    `json:"version"`
	GitBranch  string    `json:"gitBranch"`
	CWD        string    `json:"cwd"`
	AgentID    string    `json:"agentId"`

	Entrypoint       string          `json:"entrypoint"`
	PromptID         string          `json:"promptId"`
	PermissionMode   string          `json:"permissionMode"`
	TurnOrigin       string          `json:"turnOrigin"`
	PromptSource     string          `json:"promptSource"`
	Origin           *origin         `json:"origin"`
	IsMeta           bool            `json:"isMeta"`
	IsCompactSummary bool            `json:"isCompactSummary"`
	RowSource        string          `json:"rowSource"`
	Message          *message        `json:"message"`
	ToolUseResult    json.RawMessage `json:"toolUseResult"`
	ToolDenialKind   string          `json:"toolDenialKind"`
	Decision         *decision       `json:"permissionDecision"`

	RequestSessionID string `json:"requestSessionId"`
	IsAPIError       bool   `json:"isApiErrorMessage"`
	APIErrorStatus   int    `json:"apiErrorStatus"`
	Aborted          bool   `json:"isAbortedMidStream"`
	Error            any    `json:"error"` // a word on an assistant line, an object on system/api_error

	ID     string         `json:"id"`     // api-request
	Params *requestParams `json:"params"` // api-request

	RetryAttempt int             `json:"retryAttempt"`
	RetryInMs    float64         `json:"retryInMs"`
	Attachment   *attachment     `json:"attachment"`
	Compact      *compactDetails `json:"compactMetadata"`
	HookErrors   []string        `json:"hookErrors"`
	Ending       *submitEnding   `json:"promptSubmitEnding"` // system/informational
	Content      json.RawMessage `json:"content"`            // system lines
}

type origin struct {
	Kind string `json:"kind"`
}

type submitEnding struct {
	Ending struct {
		Kind string `json:"kind"`
	} `json:"ending"`
}

type message struct {
	ID         string          `json:"id"`
	Role       string          `json:"role"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason *string         `json:"stop_reason"`
	Usage      *usage          `json:"usage"`
}

type usage struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	Lifetimes     *struct {
		FiveMinutes int64 `json:"ephemeral_5m_input_tokens"`
		OneHour     int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputDetails *struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

type decision struct {
	Decision string `json:"decision"`
	Source   string `json:"source"`
}

type requestParams struct {
	Model       string   `json:"model"`
	MaxTokens   int64    `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	TopK        *int64   `json:"top_k"`
	Thinking    *struct {
		Type   string `json:"type"`
		Budget int64  `json:"budget_tokens"`
	} `json:"thinking"`
	Output *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

type attachment struct {
	Type        string          `json:"type"`
	Prompt      json.RawMessage `json:"prompt"`
	CommandMode string          `json:"commandMode"`
}

type compactDetails struct {
	Trigger    string  `json:"trigger"`
	PreTokens  int64   `json:"preTokens"`
	PostTokens int64   `json:"postTokens"`
	DurationMs float64 `json:"durationMs"`
	Preserved  struct {
		UUIDs []string `json:"uuids"` // of lines, oldest first
	} `json:"preservedMessages"`
}

// block is one entry of a message's content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

// parseLine decodes a line, or reports that it is none that matters. A field of an
// unexpected shape is left out; the rest of its line counts.
func parseLine(data []byte) (line, bool) {
	if !relevant(data) {
		return line{}, false
	}
	var l line
	var shape *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &l); err != nil && !errors.As(err, &shape) {
		return line{}, false
	}
	if text, ok := l.Stamp.(string); ok {
		l.Timestamp, _ = time.Parse(time.RFC3339Nano, text)
	}
	switch l.Type {
	case "user", "assistant":
		return l, l.Message != nil
	case "api-request":
		return l, l.ID != ""
	case "system":
		return l, true
	case "attachment":
		return l, l.Attachment != nil && l.Attachment.Type == "queued_command"
	default:
		return line{}, false
	}
}

// relevant is a cheap look at the bytes, so that snapshots of prompts and files
// are not decoded at all.
func relevant(data []byte) bool {
	for _, kind := range [...]string{`"user"`, `"assistant"`, `"system"`, `"api-request"`, `"queued_command"`} {
		if bytes.Contains(data, []byte(kind)) {
			return true
		}
	}
	return false
}

// blocks decodes a message's content, which is a string or a list.
func (m *message) blocks() []block {
	if len(m.Content) == 0 {
		return nil
	}
	if m.Content[0] == '"' {
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			return nil
		}
		return []block{{Type: "text", Text: text}}
	}
	var list []block
	if json.Unmarshal(m.Content, &list) != nil {
		return nil
	}
	return list
}

// startsTurn reports whether a user line is the prompt that began a turn. That of a
// scheduled task is a meta line.
func (l *line) startsTurn() bool {
	if l.Type != "user" || l.IsCompactSummary || l.AgentID != "" {
		return false
	}
	if l.TurnOrigin != "" {
		return true
	}
	if l.IsMeta {
		return false
	}
	// Versions before turnOrigin: a prompt is what is left when everything that
	// the program itself writes as user is taken away.
	if l.PromptID == "" || l.RowSource == "harness" {
		return false
	}
	for _, b := range l.Message.blocks() {
		if b.Type == "tool_result" {
			return false
		}
		if b.Type == "text" && (isLocalCommand(b.Text) || isInterruptMarker(b.Text)) {
			return false
		}
	}
	return l.RowSource == "" || l.forksSkill()
}

// forksSkill reports whether a prompt runs a skill in a subagent. The conversation's own
// model is not asked: a note of the program is all that answers it.
func (l *line) forksSkill() bool {
	return l.Type == "user" && l.TurnOrigin == "" && strings.HasPrefix(contentText(l.Message.Content), "/")
}

// printed is what a command of the program printed.
func (l *line) printed() string {
	_, rest, _ := strings.Cut(contentText(l.Content), "<local-command-stdout>")
	text, _, _ := strings.Cut(rest, "</local-command-stdout>")
	return text
}

func isLocalCommand(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<local-command-")
}

// typedCommand reports whether a line is a shell command that the user typed.
func (l *line) typedCommand() bool {
	return l.Type == "user" && !l.IsMeta && strings.HasPrefix(contentText(l.Message.Content), "<bash-input>")
}

// shellOutput reports whether a turn's prompt is the output of a shell command that the
// user typed.
func (l *line) shellOutput() bool {
	return strings.HasPrefix(contentText(l.Message.Content), "<bash-stdout>")
}

// isInterruptMarker matches by prefix: the rest of the sentence says in what.
func isInterruptMarker(text string) bool {
	return strings.HasPrefix(text, "[Request interrupted by user")
}

// blocksPrompt reports whether another hook refused a prompt: its own line is then
// never written.
func (l *line) blocksPrompt() bool {
	return l.Ending != nil && l.Ending.Ending.Kind == "blocked_by_hook"
}

// refusedPrompt is the prompt that another hook refused, as far as the note of it
// repeats it.
func (l *line) refusedPrompt() string {
	_, prompt, _ := strings.Cut(contentText(l.Content), "\nOriginal prompt: ")
	return agentkit.Clip(prompt)
}

// mends reports whether a process that took a conversation up which had been cut off
// wrote the line: the model has to find a result for each call, and a reply to each
// prompt. The turn that was cut off never had them.
func (l *line) mends() bool {
	return l.ToolDenialKind == "interrupted" ||
		l.Type == "assistant" && l.Message.Model == "<synthetic>" && !l.IsAPIError && l.Error == nil
}

// copied reports whether an assistant line belongs to the session this one was
// forked from.
func (l *line) copied() bool {
	return l.RequestSessionID != "" && l.RequestSessionID != l.SessionID
}

// notifies reports whether a line tells of a background task.
func (l *line) notifies() bool {
	return l.Origin != nil && l.Origin.Kind == "task-notification" ||
		l.Attachment != nil && l.Attachment.CommandMode == "task-notification"
}

// task is the background task that a notification tells of: a subagent by its id.
func (l *line) task() string {
	var text json.RawMessage
	switch {
	case l.Attachment != nil:
		text = l.Attachment.Prompt
	case l.Message != nil:
		text = l.Message.Content
	}
	_, rest, _ := strings.Cut(contentText(text), "<task-id>")
	id, _, _ := strings.Cut(rest, "</task-id>")
	return id
}

// queued reports whether a turn's prompt was typed while another turn ran.
func (l *line) queued() bool { return l.PromptSource == "queued" }

// resumes reports whether a line of a subagent's file is a message that it was sent.
// What its own subagents report bears another mark.
func (l *line) resumes() bool {
	return l.Type == "user" && l.Origin != nil && l.Origin.Kind == "coordinator"
}

// clears reports whether a line says that the user began the session by /clear.
func (l *line) clears() bool {
	return strings.HasPrefix(contentText(l.Message.Content), "<command-name>/clear</command-name>")
}
