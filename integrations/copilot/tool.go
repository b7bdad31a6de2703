package copilot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tool is one tool call.
type tool struct {
	index    int
	id       string // unique in its stretch
	what     toolStart
	start    time.Time
	end      time.Time
	done     bool
	result   toolEnd
	asked    time.Time // when permission was asked for
	wait     time.Duration
	decision string

	background bool // the subagent that it started goes on by itself
}

// called takes the beginning of a tool. The call that asked for it has said all.
func (s *stretch) called(r *record, d *toolStart) {
	if c := s.open; c != nil && c.heard && c.pieces >= c.of {
		s.settle()
	}
	t := &tool{index: len(s.tools), id: d.ID, what: *d, start: r.at, end: r.at}
	if t.id == "" || s.byID[t.id] != nil {
		t.id = fmt.Sprintf("%s#%d", t.id, t.index+1)
	}
	s.byID[t.id] = t
	s.tools = append(s.tools, t)
	s.last = r.at
}

// answered takes the end of a tool.
func (s *stretch) answered(r *record, d *toolEnd) {
	t := s.running(d.ID)
	if t == nil {
		return
	}
	t.done, t.end, t.result = true, r.at, *d
	m := runtypes.Message{Role: "tool", ToolCallID: d.ID, Content: t.text()}
	if err, _ := t.failure(); err != "" {
		m.Status = "error"
	}
	s.say(r, m)
}

// running is the tool of an id that has not ended: ids may come again.
func (s *stretch) running(id string) *tool {
	for i := len(s.tools) - 1; i >= 0; i-- {
		if t := s.tools[i]; t.what.ID == id && !t.done {
			return t
		}
	}
	return nil
}

// decided takes a request for permission or its answer.
func (s *stretch) decided(r *record, d *permission) {
	t := s.running(cmp.Or(d.Tool, d.Request.Tool))
	switch {
	case t == nil:
	case r.kind == "permission.requested":
		t.asked = r.at
	default:
		t.decision = "reject"
		if strings.HasPrefix(d.Result.Kind, "approved") {
			t.decision = "accept"
		}
		if !t.asked.IsZero() && d.Decider == "human_response" {
			t.wait = r.at.Sub(t.asked)
		}
	}
}

// text is what the tool told the model.
func (t *tool) text() string {
	switch {
	case t.result.Result != nil:
		return t.result.Result.Content
	case t.result.Error != nil:
		return t.result.Error.Message
	}
	return ""
}

func (t *tool) exitCode() *int {
	if t.result.Shell == nil {
		return nil
	}
	return t.result.Shell.ExitCode
}

// failure is why the tool failed; "" if it did not. A command that returns something
// else than 0 counts as a success in the log.
func (t *tool) failure() (err, class string) {
	code := t.exitCode()
	switch {
	case t.result.Success && code != nil && *code != 0:
		return fmt.Sprintf("exit code %d", *code), "exit_code"
	case t.result.Success:
		return "", ""
	case t.result.Error != nil:
		return cmp.Or(t.result.Error.Message, t.text(), "tool failed"), cmp.Or(t.result.Error.Code, "failed")
	}
	return cmp.Or(t.text(), "tool failed"), "failed"
}

// output is what the run of the tool shows of its answer.
func (t *tool) output() json.RawMessage {
	if !t.done {
		return nil
	}
	out := map[string]any{"output": t.text()}
	if code := t.exitCode(); code != nil {
		out["exit_code"] = *code
	}
	raw, err := runtypes.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}

// skill is the skill that a skill tool invoked.
func (t *tool) skill() string {
	if t.what.Name != "skill" {
		return ""
	}
	var in struct {
		Skill string `json:"skill"`
		Name  string `json:"name"`
	}
	if json.Unmarshal(t.what.Arguments, &in) != nil {
		return ""
	}
	return cmp.Or(in.Skill, in.Name)
}

// task is what the tool asked a subagent to do.
func (t *tool) task() string {
	var in struct {
		Prompt string `json:"prompt"`
	}
	if agentkit.Decode(t.what.Arguments, &in) != nil {
		return ""
	}
	return in.Prompt
}

// command is the shell command that the tool ran.
func (t *tool) command() string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(t.what.Arguments, &in) != nil {
		return ""
	}
	return in.Command
}

// object keeps arguments that are a JSON object; others are kept below a key.
func object(arguments json.RawMessage) json.RawMessage {
	raw := bytes.TrimSpace(arguments)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] == '{' {
		return raw
	}
	wrapped, err := runtypes.Marshal(map[string]any{"arguments": json.RawMessage(raw)})
	if err != nil {
		return nil
	}
	return wrapped
}
