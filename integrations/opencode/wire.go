package opencode

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// session is what OpenCode says of a session.
type session struct {
	ID        string `json:"id"`
	Parent    string `json:"parentID,omitempty"` // of a subagent's
	Version   string `json:"version,omitempty"`
	Directory string `json:"directory,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Time      span   `json:"time,omitzero"`
}

// span are times in milliseconds.
type span struct {
	Created   int64 `json:"created,omitempty"`
	Completed int64 `json:"completed,omitempty"`
	Start     int64 `json:"start,omitempty"`
	End       int64 `json:"end,omitempty"`
}

// message is what OpenCode says of a message, without its parts. An assistant's is one
// call of the model.
type message struct {
	ID       string   `json:"id"`
	Session  string   `json:"sessionID,omitempty"`
	Role     string   `json:"role,omitempty"`
	Parent   string   `json:"parentID,omitempty"` // the user's message that it answers
	Agent    string   `json:"agent,omitempty"`
	Mode     string   `json:"mode,omitempty"`
	Model    string   `json:"modelID,omitempty"`
	Provider string   `json:"providerID,omitempty"`
	Cost     float64  `json:"cost,omitempty"`
	Tokens   tokens   `json:"tokens,omitzero"`
	Time     span     `json:"time,omitzero"`
	Finish   string   `json:"finish,omitempty"`
	Error    *failure `json:"error,omitempty"`
}

// compacts reports whether the message is a summary that replaces what came before.
func (m *message) compacts() bool { return m.Agent == "compaction" || m.Mode == "compaction" }

// tokens leave what was cached out of Input, and what was reasoned out of Output.
type tokens struct {
	Input     int64 `json:"input,omitempty"`
	Output    int64 `json:"output,omitempty"`
	Reasoning int64 `json:"reasoning,omitempty"`
	Cache     struct {
		Read  int64 `json:"read,omitempty"`
		Write int64 `json:"write,omitempty"`
	} `json:"cache,omitzero"`
}

// failure is an error as OpenCode names it.
type failure struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message,omitempty"`
		Status  int    `json:"statusCode,omitempty"`
	} `json:"data,omitzero"`
}

// aborted reports whether the user stopped it.
func (f *failure) aborted() bool { return f != nil && f.Name == "MessageAbortedError" }

func (f *failure) text() string {
	if f.Data.Message == "" {
		return f.Name
	}
	return f.Name + ": " + agentkit.Clip(f.Data.Message)
}

// params are those of a request that are recorded.
type params struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"topP,omitempty"`
	TopK        *float64 `json:"topK,omitempty"`
	MaxTokens   *float64 `json:"maxOutputTokens,omitempty"`
}

// part is a piece of a message. Fields of other kinds of parts are empty.
type part struct {
	ID        string `json:"id,omitempty"`
	Message   string `json:"messageID,omitempty"`
	Type      string `json:"type"` // text, reasoning, tool, file, compaction, step-start, step-finish, patch
	Text      string `json:"text,omitempty"`
	Synthetic bool   `json:"synthetic,omitempty"` // OpenCode wrote it in the user's name
	Time      span   `json:"time,omitzero"`

	Tool  string `json:"tool,omitempty"`
	Call  string `json:"callID,omitempty"`
	State state  `json:"state,omitzero"`

	MIME string `json:"mime,omitempty"`
	File string `json:"filename,omitempty"`
	URL  string `json:"url,omitempty"`

	Auto   bool   `json:"auto,omitempty"`   // a compaction that nobody asked for
	Prompt string `json:"prompt,omitempty"` // of a task that the user gave to a subagent
}

// state is how far a tool's call is.
type state struct {
	Status   string          `json:"status,omitempty"` // pending, running, completed, error
	Input    json.RawMessage `json:"input,omitempty"`
	Output   string          `json:"output,omitempty"`
	Error    string          `json:"error,omitempty"`
	Title    string          `json:"title,omitempty"`
	Metadata toolMeta        `json:"metadata,omitzero"`
	Time     span            `json:"time,omitzero"`
}

// toolMeta is what some tools add.
type toolMeta struct {
	Session string `json:"sessionId,omitempty"` // the child that a task runs in
	Parent  string `json:"parentSessionId,omitempty"`
	Apart   bool   `json:"background,omitempty"` // it goes on when the call has ended
	Exit    *int   `json:"exit,omitempty"`       // of a shell command; null if it was stopped
}

// aborted reports whether the output of a command says that the user stopped it. Of one
// that the user ran nothing else does.
func (s *state) aborted() bool {
	return strings.Contains(s.Output, "metadata>\nUser aborted the command\n</")
}

// cancelled reports whether a task says that its subagent was stopped. Of one that the user
// gave it may be said before the sessions say so.
func (s *state) cancelled() bool {
	return s.Status == "error" && strings.HasSuffix(s.Error, "Task cancelled")
}

// whole reports whether a call came to its own end, well.
func (s *state) whole() bool { return s.Status == "completed" && !s.aborted() }

func (s *state) over() bool { return s.Status == "completed" || s.Status == "error" }

// reports reports whether the part is what OpenCode tells the model, as if it were a prompt,
// when a subagent has ended that went on by itself.
func (p *part) reports() bool { return p.Synthetic && strings.HasPrefix(p.Text, `<task id="`) }

// slim drops what is said again later, or of no use.
func (p *part) slim() {
	if p == nil {
		return
	}
	if bytes.Equal(bytes.TrimSpace(p.State.Input), []byte("{}")) && p.State.Status == "pending" {
		p.State.Input = nil
	}
	if p.Type == "file" {
		p.URL = "" // the prompt has it
	}
	if p.Type == "patch" || p.Type == "step-start" || p.Type == "step-finish" || p.Type == "snapshot" {
		*p = part{ID: p.ID, Message: p.Message, Type: p.Type}
	}
}

// at is a moment of OpenCode's; zero if there is none.
func at(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
