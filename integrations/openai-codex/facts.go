package openaicodex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// itemFacts reads what a completed item says of a tool.
func itemFacts(r *record, i *completedItem) *facts {
	f := &facts{
		at: r.at, took: duration(i.Duration), exitCode: i.ExitCode, files: len(i.Changes),
		failed: i.Status == "failed", declined: i.Status == "declined",
		shell:  i.Source == "user_shell",
		nested: nested(i.ID),
	}
	if ms := r.event.CompletedMS; ms > 0 {
		f.at = time.UnixMilli(ms).UTC()
	}
	switch i.Type {
	case "CommandExecution":
		f.name, f.text, f.command = "exec_command", i.Output, shellCommand(i.Command)
		f.input = field("command", f.command)
	case "FileChange":
		f.name, f.text, f.err = "apply_patch", i.Stdout, strings.TrimSpace(i.Stderr)
		f.input = field("changes", i.Changes)
	case "McpToolCall":
		f.name, f.server, f.input = "mcp__"+i.Server+"__"+i.Tool, i.Server, i.Arguments
		f.readResult(i.Result)
		f.err = cmp.Or(f.err, errorText(i.Error))
		f.failed = f.failed || len(i.Error) > 0 && string(i.Error) != "null"
	case "WebSearch":
		f.name, f.input, f.hosted = "web_search", i.Action, true
	case "ImageView":
		f.name, f.input = "view_image", field("path", i.Path)
	default:
		f.name = i.Tool
		f.input = field("prompt", i.Prompt)
	}
	return f
}

// nested reports whether a script ran the item of an id.
func nested(id string) bool { return strings.HasPrefix(id, "exec-") }

// legacyFacts reads the end of a tool in versions that have no items.
func legacyFacts(r *record) *facts {
	e := r.event
	f := &facts{at: r.at, took: duration(e.Duration), exitCode: e.ExitCode, files: len(e.Changes), err: strings.TrimSpace(e.Stderr)}
	if e.Success != nil {
		f.failed = !*e.Success
	}
	var result struct {
		OK  json.RawMessage `json:"Ok"`
		Err json.RawMessage `json:"Err"`
	}
	if json.Unmarshal(e.Result, &result) == nil {
		f.readResult(result.OK)
		if len(result.Err) > 0 {
			f.failed, f.err = true, errorText(result.Err)
		}
	}
	return f
}

// shellFacts reads what versions without items tell the model of a command that the user
// typed; nil if a text is something else.
func shellFacts(r *record, words string) *facts {
	command, rest, ok := strings.Cut(strings.TrimPrefix(words, "<user_shell_command>\n<command>\n"), "\n</command>\n<result>\nExit code: ")
	code, rest, cut := strings.Cut(rest, "\n")
	if !ok || !cut || len(command) == len(words) || r.ordinal >= 0 {
		return nil
	}
	f := &facts{at: r.at, name: "exec_command", command: command, input: field("command", command), shell: true}
	if n, err := strconv.Atoi(code); err == nil {
		f.exitCode = &n
	}
	_, rest, _ = strings.Cut(rest, "Output:\n")
	f.text, _, _ = strings.Cut(rest, "\n</result>")
	return f
}

// readResult reads an MCP result.
func (f *facts) readResult(raw json.RawMessage) {
	var result struct {
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"isError"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &result) != nil {
		return
	}
	f.text = contentText(result.Content)
	if result.IsError {
		f.failed, f.err = true, f.text
	}
}

// exitCode is what the tool's process returned: the item says it, else the answer.
func (t *tool) exitCode() *int {
	if t.facts != nil && t.facts.exitCode != nil {
		return t.facts.exitCode
	}
	for _, line := range strings.SplitN(head(t.text), "\n", 8) {
		for _, prefix := range [...]string{"Process exited with code ", "Exit code: "} {
			if code, ok := strings.CutPrefix(line, prefix); ok {
				if n, err := strconv.Atoi(strings.TrimSpace(code)); err == nil {
					return &n
				}
			}
		}
		if line == "Output:" {
			break // what follows is the command's own
		}
	}
	var old struct {
		Metadata *struct {
			ExitCode *int `json:"exit_code"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(t.text, `{"output":`) && json.Unmarshal([]byte(t.text), &old) == nil && old.Metadata != nil {
		return old.Metadata.ExitCode
	}
	return nil
}

// cellOf is the cell in which a script goes on; "" if it does not.
func cellOf(text string) string {
	_, rest, ok := strings.Cut(head(text), "Script running with cell ID ")
	if !ok {
		return ""
	}
	cell, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(cell)
}

// head is the beginning of an answer, where Codex puts its own words.
func head(text string) string { return text[:min(len(text), 512)] }

// shellCommand is what a shell was told to run, without the shell.
func shellCommand(argv []string) string {
	if n := len(argv); n == 3 && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
		return argv[2]
	}
	return strings.Join(argv, " ")
}

// duration reads {secs, nanos}.
func duration(raw json.RawMessage) *time.Duration {
	var d *struct {
		Secs  int64 `json:"secs"`
		Nanos int64 `json:"nanos"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &d) != nil || d == nil || d.Secs < 0 || d.Secs > 1<<31 {
		return nil
	}
	total := time.Duration(d.Secs)*time.Second + time.Duration(d.Nanos)
	return &total
}

// errorText is an error's words, whether a string or {"message": ...}.
func errorText(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	var object struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(raw, &object) // another shape: it has no words for us
	return object.Message
}

// object keeps arguments that are a JSON object, or the text of one; others are kept
// as text.
func object(arguments json.RawMessage) json.RawMessage {
	var words string
	if json.Unmarshal(arguments, &words) == nil {
		arguments = bytes.TrimSpace([]byte(words))
	}
	if len(arguments) > 0 && arguments[0] == '{' && json.Valid(arguments) {
		return arguments
	}
	return field("arguments", words)
}

// field is a JSON object of one field.
func field(key string, value any) json.RawMessage {
	raw, err := runtypes.Marshal(map[string]any{key: value})
	if err != nil {
		return nil
	}
	return raw
}

func text(s string) json.RawMessage {
	raw, err := runtypes.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}
