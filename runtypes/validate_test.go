package runtypes

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// family is a valid trace with a run of each kind.
func traceOfEachKind() []Run {
	r := Finish(root(), start.Add(time.Minute))
	llm := Finish(LLM(r, idgen.Run(start, "llm"), start.Add(time.Second), Model{Name: "m", Provider: "p"}), start.Add(2*time.Second))
	llm.Usage = &Usage{Input: 3, Output: 4}
	tool := Finish(Tool(r, idgen.Run(start, "tool"), start.Add(2*time.Second), "Agent"), start.Add(3*time.Second))
	sub := Finish(Subagent(tool, idgen.Run(start, "sub"), start.Add(2*time.Second), SubagentInfo{ID: "a1", Type: "researcher"}), start.Add(3*time.Second))
	inner := Finish(Tool(sub, idgen.Run(start, "inner"), start.Add(2*time.Second), "bash"), start.Add(3*time.Second))
	compaction := Finish(Chain(r, idgen.Run(start, "chain"), start.Add(4*time.Second), "Compaction", AgentCompaction), start.Add(5*time.Second))
	other := Interrupt(Root(idgen.Run(start, "root 2"), start.Add(time.Hour), identity()), start.Add(2*time.Hour), "Interrupted by user")
	return []Run{*r, *llm, *tool, *sub, *inner, *compaction, *other}
}

func TestAValidTraceHasNoViolations(t *testing.T) {
	for _, v := range Validate(traceOfEachKind()) {
		t.Error(v)
	}
}

func TestKindsAreReadOffTheWire(t *testing.T) {
	want := []Kind{KindRoot, KindLLM, KindTool, KindSubagent, KindTool, KindChain, KindInterrupted}
	for i, r := range traceOfEachKind() {
		if got := encoded(t, Op{Post, &r}).Kind(); got != want[i] {
			t.Errorf("run %d: %s, want %s", i, got, want[i])
		}
	}
}

// Each case breaks one rule of the contract in one run of a valid trace.
func TestEachBreachIsReported(t *testing.T) {
	check := func(name string, run int, wantKey string, change func(w *Wire, meta map[string]any)) {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			var wires []Wire
			for _, r := range traceOfEachKind() {
				wires = append(wires, encoded(t, Op{Post, &r}))
			}
			meta := wires[run].Metadata()
			change(&wires[run], meta)
			extra, err := Marshal(map[string]any{"metadata": meta})
			if err != nil {
				t.Fatal(err)
			}
			if wires[run].Extra != nil {
				wires[run].Extra = extra
			}
			found := ValidateWire(wires)
			for _, v := range found {
				if v.Key == wantKey && v.Run == wires[run].ID {
					return
				}
			}
			t.Errorf("no violation of %s, found %v", wantKey, found)
		})
	}
	const rootRun, llm, tool, sub, inner = 0, 1, 2, 3, 4
	drop := func(key string) func(*Wire, map[string]any) {
		return func(_ *Wire, m map[string]any) { delete(m, key) }
	}
	set := func(key string, value any) func(*Wire, map[string]any) {
		return func(_ *Wire, m map[string]any) { m[key] = value }
	}
	for _, key := range []string{"ls_agent_type", "ls_agent_purpose", "ls_integration", "ls_agent_runtime", "thread_id", "ls_trace_schema_version"} {
		for run := rootRun; run <= inner; run++ {
			check("missing "+key, run, key, drop(key))
		}
	}
	check("tool without its name", tool, "ls_tool_name", drop("ls_tool_name"))
	check("subagent without its type", sub, "ls_subagent_type", drop("ls_subagent_type"))
	for _, key := range []string{"ls_agent_version", "git_branch", "git_commit_sha", "git_repo_url", "working_directory"} {
		check("sibling knows "+key, llm, key, drop(key))
	}
	check("agent type", rootRun, "ls_agent_type", set("ls_agent_type", "boss"))
	check("purpose", llm, "ls_agent_purpose", set("ls_agent_purpose", "cooking"))
	check("schema", llm, "ls_trace_schema_version", set("ls_trace_schema_version", "v0"))
	check("null", tool, "anything", set("anything", nil))
	check("empty", tool, "anything", set("anything", ""))
	check("model on a tool", tool, "ls_model_name", set("ls_model_name", "m"))
	check("tool name on a root", rootRun, "ls_tool_name", set("ls_tool_name", "bash"))
	check("subagent id on a tool", inner, "ls_subagent_id", set("ls_subagent_id", "a1"))
	check("approval policy on a tool", tool, "approval_policy", set("approval_policy", "default"))
	check("usage on a tool", tool, "usage_metadata", set("usage_metadata", map[string]any{"input_tokens": 1}))
	check("skill on an llm", llm, "ls_skill_name", set("ls_skill_name", "x"))
	check("credentials", rootRun, "git_repo_url", set("git_repo_url", "https://u:p@example.com/o/r"))
	check("token as user", rootRun, "git_repo_url", set("git_repo_url", "https://ghp_x@example.com/o/r"))
	check("short sha", rootRun, "git_commit_sha", set("git_commit_sha", "abc123"))
	check("relative directory", rootRun, "working_directory", set("working_directory", "src"))
	check("another thread", llm, "thread_id", set("thread_id", "thread-2"))
	check("turn number zero", rootRun, "turn_number", set("turn_number", 0))
	check("turn number as text", rootRun, "turn_number", set("turn_number", "1"))
	check("aliases disagree", rootRun, "cwd", set("cwd", "/elsewhere"))
	check("totals", llm, "usage_metadata", set("usage_metadata", map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 3}))
	check("details beyond totals", llm, "usage_metadata", set("usage_metadata", map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_token_details": map[string]any{"cache_read": 2}}))
	check("interrupted without error", rootRun, "ls_is_error_interrupt", set("ls_is_error_interrupt", true))

	wire := func(f func(*Wire)) func(*Wire, map[string]any) {
		return func(w *Wire, _ map[string]any) { f(w) }
	}
	check("run type", llm, "run_type", wire(func(w *Wire) { w.RunType = "span" }))
	check("no name", llm, "name", wire(func(w *Wire) { w.Name = "" }))
	check("ends before it starts", llm, "end_time", wire(func(w *Wire) { w.EndTime = "2020-01-01T00:00:00.000000Z" }))
	check("inputs are a list", llm, "inputs", wire(func(w *Wire) { w.Inputs = json.RawMessage(`[]`) }))
	check("three digits", llm, "dotted_order", wire(func(w *Wire) { w.DottedOrder = strings.Replace(w.DottedOrder, "007008Z", "007Z", 1) }))
	check("wrong parent", llm, "parent_run_id", wire(func(w *Wire) { w.ParentRunID = idgen.New().String() }))
	check("root with a parent", rootRun, "parent_run_id", wire(func(w *Wire) { w.ParentRunID = idgen.New().String() }))
	check("another start", llm, "dotted_order", wire(func(w *Wire) { w.StartTime = "2026-11-30T03:05:06.007009Z" }))
	check("foreign trace", llm, "trace_id", wire(func(w *Wire) { w.TraceID = idgen.New().String() }))
	check("no uuid", llm, "id", wire(func(w *Wire) { w.ID = "x" }))
}

func TestARunThatStandsTwiceIsReported(t *testing.T) {
	runs := traceOfEachKind()
	found := Validate(append(runs, runs[1]))
	if len(found) != 1 || found[0].Key != "id" {
		t.Errorf("found %v", found)
	}
}

func TestAMissingParentIsReported(t *testing.T) {
	runs := traceOfEachKind()
	found := Validate(append(runs[:3:3], runs[4:]...)) // without the subagent
	if len(found) != 1 || found[0].Key != "parent_run_id" {
		t.Errorf("found %v", found)
	}
}

func FuzzValidateWire(f *testing.F) {
	for _, r := range traceOfEachKind() {
		w, err := Encode(Op{Post, &r})
		if err != nil {
			f.Fatal(err)
		}
		raw, _ := json.Marshal(w)
		f.Add(raw)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var w Wire
		if json.Unmarshal(raw, &w) == nil {
			ValidateWire([]Wire{w, w})
		}
	})
}
