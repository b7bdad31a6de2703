package claudecode

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Metadata beside the contract that a team asks for later. The names are the same
// for every agent; each stands on one kind of run only.
const (
	// Tool runs.
	metaCallID       = "tool_call_id"
	metaWait         = "permission_wait_ms"  // time a person took to answer
	metaDecision     = "permission_decision" // accept, reject
	metaErrorClass   = "tool_error_class"
	metaMCPServer    = "mcp_server"
	metaRetryOf      = "retry_of"      // tool_call_id of the failed call that this one repeats
	metaBackgroundOf = "is_background" // the call returned before its work was done

	// Model calls.
	metaStopReason = "stop_reason"

	// Compactions.
	metaTrigger    = "compaction_trigger" // manual, auto
	metaPostTokens = "context_tokens_after"

	// Compactions: before it. Roots: after the last model call.
	metaContextTokens = "context_tokens"

	// Roots.
	metaOrigin       = "turn_origin"
	metaSurface      = "surface" // cli, ide, sdk, ci
	metaPartial      = "partial" // something of the turn is known to be missing
	metaCommitsMade  = "commits_made"
	metaFilesChanged = "files_changed"
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
		run.Metadata[metaMCPServer] = timing.MCP
	} else if parts := strings.SplitN(call.Name, "__", 3); len(parts) == 3 && parts[0] == "mcp" {
		run.Metadata[metaMCPServer] = parts[1]
	}
	if res == nil {
		return
	}
	if class := res.errorClass(); class != "" {
		run.Metadata[metaErrorClass] = class
	}
	if timing == nil || timing.Asked.IsZero() {
		return
	}
	answered := res.at
	if !timing.Post.IsZero() {
		answered = run.Start // the tool ran from here on
	}
	// On a busy machine the hook that tells of the question may come after the answer.
	run.Metadata[metaWait] = max(0, answered.Sub(timing.Asked).Milliseconds())
	if res.decision != nil {
		run.Metadata[metaDecision] = res.decision.Decision
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

// committing matches a shell command that may make commits. It is compiled when it
// is first needed: the package is linked into a hook.
var committing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bgit\b[^|;&]*\b(commit|merge|cherry-pick|revert|rebase|am|pull)\b`)
})

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
				w.commits = w.commits || committing().MatchString(in.Command)
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
		root.Metadata[metaFilesChanged] = len(w.files)
	}
	if w.commits && len(t.Heads) > 0 {
		root.Metadata[metaCommitsMade] = t.Heads
	}
	if t.located() && t.At.IsZero() {
		root.Metadata[metaPartial] = true // the hook that began it was lost
	}
	for i := len(th.order) - 1; i >= 0; i-- {
		if u := th.order[i].usage.tokens(); u != nil && th.order[i].err == nil && !th.order[i].aborted {
			root.Metadata[metaContextTokens] = u.Input + u.Output
			return
		}
	}
}
