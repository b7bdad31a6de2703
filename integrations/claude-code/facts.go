package claudecode

import (
	"encoding/json"
	"strings"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// errorClass sorts a tool's failure.
func (res *result) errorClass() string {
	text := contentText(res.content)
	switch {
	case res.marked:
		return "interrupted"
	case res.denial == "permission-rule":
		return "denied_by_rule"
	case res.denial != "" || res.decision != nil && res.decision.Decision == "reject":
		return "denied"
	case !res.isError:
		return ""
	case strings.Contains(text, "InputValidationError"):
		return "invalid_input"
	case strings.Contains(text, "No such tool available"):
		return "unknown_tool"
	case strings.HasPrefix(text, "Exit code "):
		return "exit_code"
	default:
		return "failed"
	}
}

// facts adds what hooks and the transcript know of a tool call beside its content.
func (r *reducer) facts(run *runtypes.Run, call block, res *result, timing *timing) {
	if timing != nil && timing.MCP != "" {
		run.Metadata[agentkit.MetaMCPServer] = timing.MCP
	} else if parts := strings.SplitN(call.Name, "__", 3); len(parts) == 3 && parts[0] == "mcp" {
		run.Metadata[agentkit.MetaMCPServer] = parts[1]
	}
	if res == nil {
		return
	}
	if class := res.errorClass(); class != "" {
		run.Metadata[agentkit.MetaErrorClass] = class
	}
	if timing == nil || timing.Asked.IsZero() {
		return
	}
	answered := res.at
	if !timing.Post.IsZero() {
		answered = run.Start // the tool ran from here on
	}
	// On a busy machine the hook that tells of the question may come after the answer.
	run.Metadata[agentkit.MetaWait] = max(0, answered.Sub(timing.Asked).Milliseconds())
	if res.decision != nil {
		run.Metadata[agentkit.MetaDecision] = res.decision.Decision
	}
}

// surface names where the agent runs, from the program's own entrypoint.
func surface(entrypoint string) string {
	switch {
	case entrypoint == "":
		return ""
	case entrypoint == "cli":
		return "cli"
	case strings.HasPrefix(entrypoint, "sdk"):
		return "sdk"
	case strings.Contains(entrypoint, "vscode"), strings.Contains(entrypoint, "jetbrains"), strings.Contains(entrypoint, "ide"):
		return "ide"
	case strings.Contains(entrypoint, "action"), strings.Contains(entrypoint, "ci"):
		return "ci"
	default:
		return entrypoint
	}
}

// work is what a turn's tools did to the repository.
type work struct {
	files   map[string]bool
	commits bool // a command was run that makes commits
}

// work looks through the thread's successful calls.
func (t *thread) work() work {
	w := work{files: map[string]bool{}}
	for _, reply := range t.order {
		for _, b := range reply.blocks {
			res := t.results[b.ID]
			if b.Type != "tool_use" || res == nil || res.isError {
				continue
			}
			var in struct {
				Path     string `json:"file_path"`
				Notebook string `json:"notebook_path"`
				Command  string `json:"command"`
			}
			if json.Unmarshal(b.Input, &in) != nil {
				continue
			}
			switch b.Name {
			case "Write", "Edit", "MultiEdit":
				w.files[in.Path] = true
			case "NotebookEdit":
				w.files[in.Notebook] = true
			case "Bash":
				w.commits = w.commits || agentkit.MayCommit(in.Command)
			}
		}
	}
	delete(w.files, "")
	return w
}

// conclude adds to a root what is known of its turn once it is over.
func (t *turn) conclude(root *runtypes.Run, th *thread) {
	w := th.work()
	if len(w.files) > 0 {
		root.Metadata[agentkit.MetaFilesChanged] = len(w.files)
	}
	if w.commits && len(t.Heads) > 0 {
		root.Metadata[agentkit.MetaCommitsMade] = t.Heads
	}
	if t.located() && t.At.IsZero() || th.garbled {
		root.Metadata[agentkit.MetaPartial] = true // the hook that began it was lost
	}
	for i := len(th.order) - 1; i >= 0; i-- {
		if u := th.order[i].usage.tokens(); u != nil && th.order[i].err == nil && !th.order[i].aborted {
			root.Metadata[agentkit.MetaContextTokens] = u.Input + u.Output
			return
		}
	}
}
