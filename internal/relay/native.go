package relay

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// identity reads the identity block, which stands on native runs. Of one that has it not
// in full the rest is that of its turn.
func identity(w *write) runtypes.Identity {
	m := w.meta
	who := runtypes.Identity{
		Integration: Integration,
		Runtime:     runtimeName, RuntimeVersion: text(m, "ls_agent_runtime_version"),
		ThreadID: cmp.Or(text(m, "thread_id"), w.thread), TurnID: cmp.Or(text(m, "turn_id"), w.turn), TurnNumber: w.number,
		Repo: runtypes.Repo{
			URL: w.remote(cmp.Or(text(m, "git_repo_url"), text(m, "repository_url"))), Branch: cmp.Or(text(m, "git_branch"), w.head.Branch),
			SHA: strings.ToLower(cmp.Or(text(m, "git_commit_sha"), w.head.SHA)),
		},
		WorkingDirectory: cmp.Or(text(m, "working_directory"), text(m, "cwd"), w.dir),
		SandboxType:      text(m, "sandbox_type"), UserID: text(m, "user_id"), ApprovalPolicy: text(m, "approval_policy"),
	}
	if who.ThreadID == "" {
		who.ThreadID = w.wire.TraceID // a thread of its own: absent is not allowed
	}
	if len(who.Repo.SHA) != 40 && len(who.Repo.SHA) != 64 || strings.Trim(who.Repo.SHA, "0123456789abcdef") != "" {
		who.Repo.SHA = ""
	}
	if !path.IsAbs(who.WorkingDirectory) && !drive(who.WorkingDirectory) {
		who.WorkingDirectory = ""
	}
	if m["dcode_auto_approve"] == true && who.ApprovalPolicy == "" {
		who.ApprovalPolicy = "bypassPermissions"
	}
	return who
}

// remote is the repository's address as it is spelled there, where the client tells of the
// same one: it tells what a browser opens.
func (w *write) remote(native string) string {
	told, _, _ := runtypes.Repo{URL: native}.Web()
	if found, _, _ := (runtypes.Repo{URL: w.origin}).Web(); found != "" && (native == "" || strings.EqualFold(found, told)) {
		return w.origin
	}
	return native
}

// drive reports whether a path is an absolute one of Windows.
func drive(dir string) bool {
	return len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/') || strings.HasPrefix(dir, `\\`)
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// metadata adds what a native run says beyond the contract's keys, which the run
// itself has. What the graph notes of its own work is left out, and so are variables
// of the environment: they are as they may be.
func metadata(have, native map[string]any) map[string]any {
	out := make(map[string]any, len(have)+4)
	for key, value := range have {
		out[key] = value
	}
	for key, value := range native {
		switch {
		case strings.HasPrefix(key, "LANGSMITH_"), strings.HasPrefix(key, "LANGCHAIN_"), strings.HasPrefix(key, "langgraph_"),
			key == "checkpoint_ns", key == "versions", key == "ls_integration", key == "turn_number":
		default:
			out[key] = value
		}
	}
	if old := text(native, "ls_integration"); old != "" && old != Integration {
		out["ls_llm_integration"] = old
	}
	return out
}

// tags leaves out those that the graph sets by itself.
func tags(native []string) (kept []string) {
	for _, tag := range native {
		if !strings.HasPrefix(tag, "graph:step:") && !strings.HasPrefix(tag, "seq:step:") && !strings.HasPrefix(tag, "langsmith:") {
			kept = append(kept, tag)
		}
	}
	return kept
}

// maxMoments bounds the events of a run: a stream has one for each token.
const maxMoments = 32

// moments reads a run's events. What they carry is left out, as LangSmith's own
// clients do, and of the tokens only the first tells anything.
func moments(native json.RawMessage) (list []runtypes.RunEvent) {
	var events []struct {
		Name string          `json:"name"`
		Time json.RawMessage `json:"time"`
	}
	if len(native) == 0 || agentkit.Decode(native, &events) != nil {
		return nil
	}
	tokens := 0
	for _, e := range events {
		var at time.Time
		if e.Name == "new_token" {
			tokens++
		}
		if json.Unmarshal(e.Time, &at) != nil || e.Name == "" || e.Name == "new_token" && tokens > 1 {
			continue
		}
		if list = append(list, runtypes.RunEvent{Name: e.Name, Time: at}); len(list) == maxMoments {
			break
		}
	}
	return list
}

// parameters are those of a model's invocation that say how it was asked, from an
// allow list: clients are built with keys too.
func parameters(extra json.RawMessage) map[string]any {
	var in struct {
		Params map[string]any `json:"invocation_params"`
	}
	if len(extra) == 0 || agentkit.Decode(extra, &in) != nil {
		return nil
	}
	out := map[string]any{}
	for _, key := range []string{
		"model", "model_name", "temperature", "max_tokens", "max_completion_tokens", "max_output_tokens", "top_p", "top_k",
		"stop", "stream", "seed", "n", "reasoning", "reasoning_effort", "thinking", "tool_choice", "parallel_tool_calls",
	} {
		if value, ok := in.Params[key]; ok && value != nil {
			out[key] = value
		}
	}
	return out
}

// withTools puts the definitions of the tools where LangSmith shows them.
func withTools(inputs, extra json.RawMessage) json.RawMessage {
	var in struct {
		Params struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"invocation_params"`
		Options struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"options"`
	}
	var object map[string]json.RawMessage
	if len(extra) == 0 || agentkit.Decode(extra, &in) != nil || json.Unmarshal(inputs, &object) != nil || object == nil {
		return inputs
	}
	tools := in.Params.Tools
	if len(tools) == 0 || string(tools) == "null" {
		tools = in.Options.Tools
	}
	if len(tools) == 0 || tools[0] != '[' || object["tools"] != nil {
		return inputs
	}
	object["tools"] = tools
	out, err := runtypes.Marshal(object)
	if err != nil {
		return inputs
	}
	return out
}
