package pi

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// line is one line of the stream, as far as it is read.
type line struct {
	T       int64           `json:"t"` // milliseconds
	PID     int             `json:"pid"`
	PPID    int             `json:"ppid"`
	Name    string          `json:"name"`
	Event   json.RawMessage `json:"event"`
	Context context         `json:"ctx"`
	// Parent is the Pi that started this one, where one did.
	Parent *parent `json:"parent"`
	Lost   int     `json:"lost"` // lines dropped before this one
}

// context is where Pi stood when the event came.
type context struct {
	CWD     string `json:"cwd"`
	Mode    string `json:"mode"` // tui, rpc, json, print
	Session string `json:"sessionId"`
	File    string `json:"sessionFile"` // none with --no-session
	Version string `json:"version"`
	Model   struct {
		Provider string `json:"provider"`
		ID       string `json:"id"`
	} `json:"model"`
}

// parent names the session whose process started another, and the first of such a
// chain, whose thread all of them belong to.
type parent struct {
	Session string `json:"session"`
	Root    string `json:"root"`
}

// data is what the journal keeps of a line.
type data struct {
	T        int64  `json:"t,omitempty"`
	Session  string `json:"session,omitempty"`
	PID      int    `json:"pid,omitempty"`
	PPID     int    `json:"ppid,omitempty"`
	Parent   string `json:"parent,omitempty"` // the session whose process started this one
	File     string `json:"file,omitempty"`
	Mode     string `json:"mode,omitempty"`
	Version  string `json:"version,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Under    string `json:"under,omitempty"`  // dotted order of the run that started Pi
	Before   int    `json:"before,omitempty"` // turns of the thread that are not told

	Event *event `json:"event,omitempty"`
	// Past is where an event of the past stands in a session file.
	Past *place `json:"past,omitempty"`
}

// place is a line of a session file.
type place struct {
	Path string `json:"path"`
	At   int64  `json:"at"`
}

// event holds what is read of all the events.
type event struct {
	Reason      string          `json:"reason,omitempty"`
	MessageType string          `json:"messageType,omitempty"` // user, custom
	Prompt      string          `json:"prompt,omitempty"`
	Message     *message        `json:"message,omitempty"`
	CallID      string          `json:"toolCallId,omitempty"`
	CallParent  string          `json:"parentToolCallId,omitempty"`
	Tool        string          `json:"toolName,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"`
	Result      *result         `json:"result,omitempty"`
	IsError     bool            `json:"isError,omitempty"`
	Duration    float64         `json:"durationMs,omitempty"`
	Aborted     bool            `json:"aborted,omitempty"`
	Error       string          `json:"errorMessage,omitempty"`
	Compaction  *compaction     `json:"compactionEntry,omitempty"`
	Summary     *compaction     `json:"summaryEntry,omitempty"` // of a branch that was left
	Delta       *delta          `json:"assistantMessageEvent,omitempty"`
	Command     string          `json:"command,omitempty"`
	Payload     *params         `json:"payload,omitempty"`
}

// result is what a tool gave back.
type result struct {
	Content    json.RawMessage `json:"content,omitempty"`
	Details    json.RawMessage `json:"details,omitempty"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
}

// compaction is the entry that replaces a conversation, or sums a branch up.
type compaction struct {
	ID           string `json:"id,omitempty"`
	Timestamp    string `json:"timestamp,omitempty"`
	Summary      string `json:"summary,omitempty"`
	TokensBefore int64  `json:"tokensBefore,omitempty"`
	Usage        *usage `json:"usage,omitempty"`
}

// delta is a piece of a reply.
type delta struct {
	Type string `json:"type,omitempty"` // text_delta, thinking_delta, ...
	Text string `json:"delta,omitempty"`
}

// params are the parameters of a model call that are known to hold no secret.
type params struct {
	MaxTokens           *int64   `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int64   `json:"max_completion_tokens,omitempty"`
	MaxOutputTokens     *int64   `json:"max_output_tokens,omitempty"`
	Temperature         *float64 `json:"temperature,omitempty"`
	TopP                *float64 `json:"top_p,omitempty"`
	Effort              string   `json:"reasoning_effort,omitempty"`
}

// parseLine reads a line. An event of another shape than expected is none.
func parseLine(body []byte) (line, error) {
	var in line
	if err := json.Unmarshal(body, &in); err != nil {
		return in, fmt.Errorf("pi: line: %w", err)
	}
	if in.Name == "" {
		return in, errors.New("pi: line: no name")
	}
	return in, nil
}

// project keeps of an event what is read of it. A tool's answer is told twice: as the
// end of its call and as a message, of which the place in the conversation is enough.
func project(p integrations.Payload) (json.RawMessage, error) {
	in, err := parseLine(p.Body)
	if err != nil {
		return nil, err
	}
	d := data{
		T: in.T, Session: in.Context.Session, PID: in.PID, PPID: in.PPID, File: in.Context.File,
		Mode: in.Context.Mode, Version: in.Context.Version,
		Provider: in.Context.Model.Provider, Model: in.Context.Model.ID,
	}
	if in.Parent != nil {
		d.Parent = in.Parent.Session
	}
	if p.Env != nil && in.Name == "before_agent_start" {
		if under, err := runtypes.ParentFromEnv(p.Env); err == nil { // what is no dotted order attaches to nothing
			d.Under = under.DottedOrder
		}
	}
	e := &event{}
	if len(in.Event) > 0 {
		if err := json.Unmarshal(in.Event, e); err != nil {
			return nil, fmt.Errorf("pi: %s: %w", in.Name, err)
		}
	}
	trim(e)
	d.Event = e
	raw, err := runtypes.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("pi: project: %w", err)
	}
	return raw, nil
}

// trim takes out what is kept elsewhere or never read.
func trim(e *event) {
	if m := e.Message; m != nil {
		switch m.Role {
		case "user", "assistant", "custom":
		default:
			e.Message = &message{Role: m.Role, Timestamp: m.Timestamp, ToolCallID: m.ToolCallID, ToolName: m.ToolName}
		}
		e.Message.Details = nil
	}
	if e.Delta != nil && e.Delta.Type != "text_delta" && e.Delta.Type != "thinking_delta" {
		e.Delta.Text = ""
	}
	if r := e.Result; r != nil {
		if len(childrenOf(r.Details)) == 0 {
			r.Details = nil
		}
		r.Structured = codeOf(r.Structured)
	}
}

// codeOf leaves of a structured result its exit code: the rest is in the content.
func codeOf(raw json.RawMessage) json.RawMessage {
	var in struct {
		Code *int `json:"exit_code"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &in) != nil || in.Code == nil {
		return nil
	}
	return json.RawMessage(fmt.Sprintf(`{"exit_code":%d}`, *in.Code))
}

// child is what a tool's result repeats of a subagent.
type child struct {
	Agent    string            `json:"agent"`
	Task     string            `json:"task"`
	Status   string            `json:"status"` // completed, failed, aborted, running
	Error    string            `json:"errorMessage"`
	Messages []json.RawMessage `json:"messages"`
}

// childrenOf reads the subagents that a tool's details tell of.
func childrenOf(details json.RawMessage) []child {
	var in struct {
		Results []child `json:"results"`
	}
	if len(details) == 0 || json.Unmarshal(details, &in) != nil {
		return nil
	}
	for _, c := range in.Results {
		if len(c.Messages) > 0 {
			return in.Results
		}
	}
	return nil
}
