package openaicodex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// tool is one tool call: of the model, of a script of the model's, or a command that
// the user typed.
type tool struct {
	index   int
	id      string // unique in its turn
	name    string
	server  string // MCP
	input   json.RawMessage
	script  bool  // code mode: others may run inside it
	hosted  bool  // the provider ran it
	parent  *tool // the script that ran it
	start   time.Time
	end     time.Time
	output  json.RawMessage
	text    string // of the output
	session bool   // its process outlives its answer
	cell    string // its script outlives its answer
	running bool
	waits   *tool // the script it waits for
	facts   *facts
	settled bool
	ended   *outcome // how, when its words are gone
}

// facts are what an item or an event says of a tool beside its answer.
type facts struct {
	at       time.Time
	name     string
	server   string
	input    json.RawMessage
	text     string // what it printed
	exitCode *int
	took     *time.Duration
	failed   bool
	declined bool
	err      string
	files    int
	command  string
	shell    bool // the user typed it
	nested   bool // a script ran it
	hosted   bool
}

// began is when the work began at the latest: Codex measures some of it too short.
func (f *facts) began() time.Time {
	if f.took == nil {
		return f.at
	}
	return f.at.Add(-*f.took)
}

func (t *tool) answered() bool { return len(t.output) > 0 }

// final reports whether nothing that may still come changes the tool's run.
func (t *tool) final() bool {
	return t.settled || t.answered() && t.facts != nil && !t.running
}

// called takes a tool call of the model.
func (s *stretch) called(r *record, c *call) *tool {
	i := r.item
	t := &tool{id: i.CallID, name: i.Name, start: r.at, end: r.at, input: i.Action}
	if i.Arguments != nil {
		t.input = object(i.Arguments)
	}
	switch i.Type {
	case "custom_tool_call":
		t.input = field("input", i.Input)
		t.script = i.Name == "exec"
	case "web_search_call":
		t.hosted, t.settled = true, true
	case "image_generation_call":
		t.hosted, t.settled = true, true
		t.input, t.output = field("prompt", i.Revised), field("output", "[image]")
	}
	if server, ok := strings.CutPrefix(i.Namespace, "mcp__"); ok {
		t.server = strings.TrimSuffix(server, "__")
		t.name = "mcp__" + t.server + "__" + t.name
	}
	t.name = cmp.Or(t.name, strings.TrimSuffix(i.Type, "_call"))
	t.id = cmp.Or(t.id, i.ID)
	s.addTool(t)
	if t.script {
		s.scripts = append(s.scripts, t)
	}
	if t.name == "wait" {
		t.waits = s.scriptOf(t.input)
	}
	if f := s.facts[t.id]; f != nil {
		delete(s.facts, t.id)
		t.learn(f)
	}
	return t
}

// addTool gives a tool its place, and an id that no other has. Some providers number
// the calls of each reply anew: what is said of an id is of the last call that has it.
func (s *stretch) addTool(t *tool) {
	t.index = len(s.tools)
	s.tools = append(s.tools, t)
	before := s.byID[t.id]
	if before != nil && before.answered() {
		s.byID[t.id] = t
	}
	if before != nil || t.id == "" {
		t.id = fmt.Sprintf("%s#%d", t.id, t.index+1)
	}
	s.byID[t.id] = t
}

// addOutput takes a tool's answer to the model.
func (s *stretch) addOutput(r *record) {
	if c := s.open; c != nil && c.heard != 0 {
		c.cut = true // versions that say so note the usage of a reply before any answer
	}
	s.open = nil
	for i := len(s.calls) - 1; i >= 0 && s.exact && !s.calls[i].settled; i-- {
		s.calls[i].settled = true
	}
	t := s.byID[r.item.CallID]
	if t == nil || t.answered() {
		return
	}
	t.output, t.text = outputOf(r.item.Output), contentText(r.item.Output)
	if r.item.Tools != nil {
		t.output = field("tools", r.item.Tools)
	}
	if t.facts == nil || t.script { // the answer waited for hooks
		t.end = r.at
	}
	if len(t.output) == 0 {
		t.output = json.RawMessage(`""`)
	}
	t.session = strings.Contains(head(t.text), "Process running with session ID")
	t.cell = cellOf(t.text)
	t.running = t.session && t.facts == nil || t.script && t.cell != ""
	if w := t.waits; w != nil && w.running && t.cell == "" {
		w.running, w.end, w.settled = false, r.at, true
		if strings.HasPrefix(t.text, "Script failed") {
			w.text = t.text
		}
	}
	switch t.name { // older versions have no item that says so
	case "spawn_agent":
		s.tie(link{call: t.id, thread: stringField(json.RawMessage(t.text), "agent_id")})
	case "send_input":
		if stringField(json.RawMessage(t.text), "submission_id") != "" {
			s.tie(link{call: t.id, thread: cmp.Or(stringField(t.input, "target"), stringField(t.input, "id"))})
		}
	}
	s.say(r, runtypes.Message{Role: "tool", ToolCallID: t.id, Content: t.text, Status: t.status()})
	s.entries[len(s.entries)-1].tool = t
}

// learn takes what an item says of a tool: of one that was called, of one that a
// script ran, of a command that the user typed.
func (s *stretch) learn(id string, f *facts) {
	t := s.byID[id]
	switch {
	case t != nil:
		if !t.settled || t.hosted {
			t.learn(f)
		}
	case f.shell:
		if s.shell = cmp.Or(s.shell, f.command); s.prompt == nil {
			s.origin = "user_shell"
		}
		s.inner(id, f, nil)
	case f.nested:
		s.inner(id, f, s.scriptAt(f.began()))
	default:
		s.facts[id] = f // the item of a search stands before its call
	}
}

// inner adds a tool that no call of the model names.
func (s *stretch) inner(id string, f *facts, script *tool) {
	t := &tool{
		id: id, name: f.name, server: f.server, input: f.input, parent: script,
		start: s.ready, end: f.at, facts: f, settled: true, text: f.text,
	}
	if script != nil {
		t.start = script.start
	}
	if began := f.began(); f.took != nil && began.After(t.start) {
		t.start = began
	}
	t.output = outputOf(text(f.text))
	s.addTool(t)
}

// scriptAt is the script that runs something which began at a time: the last one that
// had begun by then and has not ended; else the first that has not ended, else the last.
func (s *stretch) scriptAt(began time.Time) *tool {
	var at *tool
	for i := len(s.scripts) - 1; i >= 0; i-- {
		switch t := s.scripts[i]; {
		case t.answered() && !t.running:
		case !t.start.After(began):
			return t
		default:
			at = t
		}
	}
	if n := len(s.scripts); at == nil && n > 0 {
		return s.scripts[n-1]
	}
	return at
}

// scriptOf is the script whose cell a wait names.
func (s *stretch) scriptOf(input json.RawMessage) *tool {
	var in struct {
		Cell any `json:"cell_id"`
	}
	if json.Unmarshal(input, &in) != nil || in.Cell == nil {
		return nil
	}
	for _, t := range s.scripts {
		if t.running && t.cell == fmt.Sprint(in.Cell) {
			return t
		}
	}
	return nil
}

// learn completes a tool with what an item says of it.
func (t *tool) learn(f *facts) {
	t.facts = f
	if !t.answered() || t.session {
		t.end = f.at
	}
	t.running = t.running && t.script
}

// outcome is how a tool ended: an error, an interrupt, or neither.
func (t *tool) outcome() (err, class string, interrupted bool) {
	if e := t.ended; e != nil {
		return e.err, e.class, e.interrupted
	}
	code := t.exitCode()
	switch f := t.facts; {
	case aborted(t.text):
		return "Interrupted by user", "interrupted", true
	case f != nil && f.declined:
		return "declined by the user", "denied", false
	case code != nil && *code != 0:
		return fmt.Sprintf("exit code %d", *code), "exit_code", false
	case f != nil && f.failed:
		return cmp.Or(f.err, f.text, t.text, "tool failed"), "failed", false
	}
	return t.complaint()
}

// aborted reports whether an answer is what Codex says for a tool that was stopped:
// "Wall time: 2.4 seconds\naborted by user" of a command, "command aborted by user" of
// one that the user typed, "aborted by user after 1.4s" of any other tool.
func aborted(text string) bool {
	if first, rest, more := strings.Cut(text, "\n"); more && strings.HasPrefix(first, "Wall time: ") {
		text = rest
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(text), "command "), "aborted by user")
	return ok && (rest == "" || strings.HasPrefix(rest, " after ") && len(rest) < 32)
}

// complaint reads an answer in which Codex itself says that a call failed.
func (t *tool) complaint() (err, class string, interrupted bool) {
	for _, c := range [...]struct{ prefix, class string }{
		{"unsupported call:", "unknown_tool"},
		{"unsupported custom tool call:", "unknown_tool"},
		{"failed to parse", "invalid_input"},
		{"apply_patch verification failed", "failed"},
		{"unable to locate image at ", "failed"},
		{"unable to read image at ", "failed"},
		{"unable to process image", "failed"},
		{"Script failed", "failed"},
		{"exec_command failed", "failed"},
		{"write_stdin failed", "failed"},
	} {
		if strings.HasPrefix(t.text, c.prefix) {
			return strings.TrimSpace(t.text), c.class, false
		}
	}
	return "", "", false
}

func (t *tool) status() string {
	if err, _, _ := t.outcome(); err != "" {
		return "error"
	}
	return ""
}
