package pi

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tool is a tool call that has not ended.
type tool struct {
	Name   string    `json:"name"`
	Args   ref       `json:"args,omitempty"` // what holds its arguments
	Start  time.Time `json:"start"`
	Parent string    `json:"parent,omitempty"` // the call that made it
	Posted bool      `json:"posted,omitempty"` // something hangs under it
	Taken  []int     `json:"taken,omitempty"`  // subagents that sent their own stream
}

// maxTools bounds the tool calls that are open in a turn.
const maxTools = 256

// toolStart takes the start of a tool. Those of one reply begin when it ends, unless
// they wait for each other.
func (h *hearing) toolStart() {
	t, e := h.a.Turn, h.d.Event
	if t == nil || !t.Begun || e.CallID == "" {
		return
	}
	start := h.at
	if !t.Stepped && e.CallParent == "" && !t.Reply.IsZero() {
		start = t.Reply
	}
	h.startTool(t, e.CallID, &tool{Name: e.Tool, Args: h.e.Ref, Start: start, Parent: e.CallParent})
}

func (h *hearing) startTool(t *turn, id string, call *tool) {
	if t.Tools == nil {
		t.Tools = map[string]*tool{}
	}
	if t.Tools[id] == nil && len(t.Tools) < maxTools && !t.told("tool", t.native(id)) {
		t.Tools[id] = call
	}
}

// toolEnd takes the end of a tool.
func (h *hearing) toolEnd() {
	t, e := h.a.Turn, h.d.Event
	if t == nil || !t.Begun || e.CallID == "" {
		return
	}
	result := e.said("")
	if result == nil {
		result = &message{Role: "toolResult", IsError: e.IsError}
	}
	result.Duration = e.Duration
	var structured json.RawMessage
	if e.Result != nil {
		structured = e.Result.Structured
	}
	if t.Tools[e.CallID] == nil { // its start was lost on the way
		h.startTool(t, e.CallID, &tool{Name: e.Tool, Start: h.at.Add(-millis(e.Duration)), Parent: e.CallParent})
	}
	if e.CallParent == "" {
		t.Stepped = true
		if t.Answers == nil {
			t.Answers = map[string]ref{}
		}
		if len(t.Answers) < maxTools {
			t.Answers[e.CallID] = h.e.Ref
		}
	}
	h.finishTool(t, e.CallID, result, structured)
}

// answered takes a tool's result as the next model call will be told it.
func (h *hearing) answered(m *message) {
	t := h.a.Turn
	if t == nil || !t.Begun || m.ToolCallID == "" {
		return
	}
	from, told := t.Answers[m.ToolCallID]
	delete(t.Answers, m.ToolCallID)
	if !told {
		from = h.e.Ref
	}
	if h.past && t.Tools[m.ToolCallID] != nil {
		h.finishTool(t, m.ToolCallID, m, nil)
	}
	t.say(from)
}

// finishTool tells of a tool that has ended, and of the subagents that only its result
// tells of.
func (h *hearing) finishTool(t *turn, id string, result *message, structured json.RawMessage) {
	call := t.Tools[id]
	if call == nil {
		return
	}
	if children := h.d.Event.children(); len(children) > len(call.Taken) {
		h.retell(t, id, children)
	}
	h.endTool(t, id, result, structured, "")
	delete(t.Tools, id)
}

// toolRun builds the run of a tool call as it is when it begins.
func (h *hearing) toolRun(t *turn, id string, call *tool) *runtypes.Run {
	parent := h.r.top(h.a, t)
	if call.Parent != "" && call.Parent != id && t.Tools[call.Parent] != nil {
		parent = h.toolTop(t, call.Parent)
	}
	run := runtypes.Tool(parent, t.id("tool", t.native(id)), call.Start, call.Name)
	run.Inputs = h.args(call.Args, id)
	run.Metadata = map[string]any{agentkit.MetaCallID: id}
	if run.Inputs == nil {
		run.Metadata[agentkit.MetaIncomplete] = true
	}
	return run
}

// toolTop is the run of an open tool for others to hang under: it is posted, if it was
// not before.
func (h *hearing) toolTop(t *turn, id string) *runtypes.Run {
	call := t.Tools[id]
	if call.Posted {
		return h.toolRun(t, id, call)
	}
	call.Posted = true // first: a call that claims to be its own ancestor ends here
	run := h.toolRun(t, id, call)
	pending := *run
	h.post(&pending)
	return run
}

// endTool tells of a tool that has ended, or was cut off: then it has no result.
func (h *hearing) endTool(t *turn, id string, result *message, structured json.RawMessage, why string) {
	call := t.Tools[id]
	posted := call.Posted
	if !t.tell("tool", t.native(id)) {
		return
	}
	call.Posted = true
	run := h.toolRun(t, id, call)
	if result == nil {
		runtypes.Interrupt(run, h.at, why)
	} else {
		h.describe(t, run, result, structured)
	}
	t.ran(run.End)
	if posted {
		h.patch(run)
		return
	}
	h.post(run)
}

// describe completes a tool's run with its result.
func (h *hearing) describe(t *turn, run *runtypes.Run, result *message, structured json.RawMessage) {
	text := textOf(result.Content)
	run.Outputs = object("output", text)
	end := run.Start.Add(millis(result.Duration))
	if result.Duration == 0 && h.past && !result.IsError { // older versions do not say
		end = h.at
	}
	if result.Duration >= 1 {
		run.Metadata[agentkit.MetaDuration] = int64(result.Duration)
	}
	code := exitCode(text)
	if code == nil {
		code = structuredCode(structured)
	}
	if code == nil && run.Name == "bash" && !result.IsError {
		code = new(int) // any other is an error, and the session file says no more
	}
	if code != nil && (run.Name == "bash" || *code != 0) {
		run.Metadata[agentkit.MetaExitCode] = *code
	}
	if !result.IsError {
		h.changed(t, run)
		runtypes.Finish(run, end)
		return
	}
	class := class(text, code)
	run.Metadata[agentkit.MetaErrorClass] = class
	if class == "interrupted" {
		runtypes.Interrupt(run, end, "Interrupted by user")
		return
	}
	run.Error = strings.TrimSpace(text)
	if run.Error == "" {
		run.Error = "the tool failed"
	}
	runtypes.Finish(run, end)
}

// class sorts a tool's failure.
func class(text string, code *int) string {
	text = strings.TrimSpace(text)
	switch {
	case code != nil && *code != 0:
		return "exit_code"
	case strings.HasSuffix(text, "Command aborted"), strings.HasSuffix(text, "Operation aborted"), text == "Aborted",
		strings.HasSuffix(text, " was aborted"): // as subagents say
		return "interrupted"
	case strings.HasPrefix(text, "Validation failed"):
		return "invalid_input"
	case strings.HasPrefix(text, "Tool ") && strings.HasSuffix(text, " not found"):
		return "unknown_tool"
	}
	return "failed"
}

func structuredCode(raw json.RawMessage) *int {
	var in struct {
		Code *int `json:"exit_code"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &in) != nil {
		return nil
	}
	return in.Code
}

// changed notes files that a tool changed, and commands that may have made commits.
func (h *hearing) changed(t *turn, run *runtypes.Run) {
	var in struct {
		Path    string `json:"path"`
		Command string `json:"command"`
	}
	if json.Unmarshal(run.Inputs, &in) != nil {
		return
	}
	switch run.Name {
	case "edit", "write":
		if name := agentkit.HashText(in.Path)[:8]; !slices.Contains(t.Files, name) && len(t.Files) < maxFiles {
			t.Files = append(t.Files, name)
		}
	case "bash":
		t.Commits = t.Commits || agentkit.MayCommit(in.Command)
	}
}

// args reads the arguments of a call, off its start or off the reply that made it.
func (h *hearing) args(from ref, id string) json.RawMessage {
	d, err := h.r.recall(h.src, from)
	if err != nil {
		return nil
	}
	if len(d.Event.Args) > 0 && d.Event.CallID == id {
		return d.Event.Args
	}
	if m := d.Event.said(from); m != nil {
		for _, p := range m.calls() {
			if p.ID == id {
				return p.Arguments
			}
		}
	}
	return nil
}

// object is a JSON object of one text.
func object(key, text string) json.RawMessage {
	raw, err := runtypes.Marshal(map[string]string{key: text})
	if err != nil {
		return nil // a string always encodes
	}
	return raw
}

// textMessage is what a user said, as a message.
func textMessage(text string) message {
	raw, err := runtypes.Marshal(text)
	if err != nil {
		raw = nil // a string always encodes
	}
	return message{Role: "user", Content: raw}
}

// parseMessage reads a message; nil if it is none.
func parseMessage(raw json.RawMessage) *message {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.Role == "" {
		return nil
	}
	return &m
}
