package cursor_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Each test is named after something a tracer for Cursor was seen to get wrong.

// of returns the runs of a kind.
func of(runs []runtypes.Wire, kind runtypes.Kind) []runtypes.Wire {
	var list []runtypes.Wire
	for _, r := range runs {
		if r.Kind() == kind {
			list = append(list, r)
		}
	}
	return list
}

func replayed(t *testing.T, name string) []runtypes.Wire {
	t.Helper()
	return play(t, filepath.Join("testdata", name), replay.Options{}).Runs
}

// one returns the only run of a kind.
func one(t *testing.T, runs []runtypes.Wire, kind runtypes.Kind) runtypes.Wire {
	t.Helper()
	list := of(runs, kind)
	if len(list) != 1 {
		t.Fatalf("%d %s runs, want 1", len(list), kind)
	}
	return list[0]
}

func times(t *testing.T, w runtypes.Wire) (start, end time.Time) {
	t.Helper()
	start, end, err := w.Times()
	if err != nil {
		t.Fatal(err)
	}
	return start, end
}

// usage is what a run's tokens are; nil if it has none.
func usage(w runtypes.Wire) map[string]any {
	u, _ := w.Metadata()["usage_metadata"].(map[string]any)
	return u
}

func TestTokensOfTheCacheAreNotAddedToTheInput(t *testing.T) {
	call := of(replayed(t, "subagent"), runtypes.KindLLM)
	u := usage(call[len(call)-1])
	if u["input_tokens"] != json.Number("9000") || u["total_tokens"] != json.Number("9060") {
		t.Errorf("usage %v", u)
	}
	if details, _ := u["input_token_details"].(map[string]any); details["cache_read"] != json.Number("8000") {
		t.Errorf("details %v", details)
	}
}

func TestTokensThatTwoEventsTellCountOnce(t *testing.T) {
	for _, dir := range recordings(t) {
		seen := map[any]int{}
		for _, run := range replayed(t, filepath.Base(dir)) {
			if usage(run) != nil {
				seen[run.Metadata()["turn_id"]]++
				if run.Metadata()["usage_scope"] != "turn" {
					t.Errorf("%s: tokens of a whole turn stand on a call as its own", dir)
				}
			}
		}
		for turn, n := range seen {
			if n != 1 {
				t.Errorf("%s: turn %v has its tokens %d times", dir, turn, n)
			}
		}
	}
}

func TestTokensOfAnInterruptedTurnAreKept(t *testing.T) {
	runs := replayed(t, "interrupt")
	if u := usage(of(runs, runtypes.KindLLM)[0]); u["input_tokens"] != json.Number("2100") {
		t.Errorf("usage %v", u)
	}
}

func TestDurationsAreMilliseconds(t *testing.T) {
	for _, tool := range of(replayed(t, "parallel_tools"), runtypes.KindTool) {
		start, end := times(t, tool)
		switch took := end.Sub(start); tool.Name {
		case "Read":
			if took != 70*time.Millisecond || tool.Metadata()["duration_ms"] != json.Number("3.2") {
				t.Errorf("Read took %v, by its own clock %v", took, tool.Metadata()["duration_ms"])
			}
		case "Shell":
			if took != 1090*time.Millisecond {
				t.Errorf("Shell took %v", took)
			}
		}
	}
}

func TestEachToolStartsWhenItWasCalled(t *testing.T) {
	seen := map[time.Time]bool{}
	for _, tool := range of(replayed(t, "failing_tool"), runtypes.KindTool) {
		start, _ := times(t, tool)
		seen[start] = true
	}
	if len(seen) != 4 {
		t.Errorf("4 tools, one after the other, start at %d times", len(seen))
	}
}

func TestModelCallsBetweenToolsAreRunsOfTheirOwn(t *testing.T) {
	if n := len(of(replayed(t, "failing_tool"), runtypes.KindLLM)); n != 5 {
		t.Errorf("%d model calls around four tools, want 5", n)
	}
	if n := len(of(replayed(t, "parallel_tools"), runtypes.KindLLM)); n != 2 {
		t.Errorf("%d model calls around one batch of tools, want 2", n)
	}
}

func TestThoughtsAreKept(t *testing.T) {
	if call := of(replayed(t, "parallel_tools"), runtypes.KindLLM)[0]; !strings.Contains(string(call.Outputs), `"reasoning","text":"Two independent calls."`) {
		t.Errorf("outputs %s", call.Outputs)
	}
}

func TestWhatTheModelSaidBetweenToolsIsKept(t *testing.T) {
	if call := of(replayed(t, "interrupt"), runtypes.KindLLM)[0]; !strings.Contains(string(call.Outputs), "Running.") {
		t.Errorf("outputs %s", call.Outputs)
	}
}

func TestATurnWithoutAStopIsNotLost(t *testing.T) {
	runs := replayed(t, "crash_no_stop")
	lost, next := one(t, runs, runtypes.KindInterrupted), one(t, runs, runtypes.KindRoot)
	if lost.Metadata()["turn_number"] != json.Number("1") || next.Metadata()["turn_number"] != json.Number("2") {
		t.Errorf("turns %v and %v", lost.Metadata()["turn_number"], next.Metadata()["turn_number"])
	}
	if start, end := times(t, lost); end.Sub(start) > time.Second {
		t.Errorf("it lasted until the next prompt: %v", end.Sub(start))
	}
	if run := one(t, replayed(t, "crash_last"), runtypes.KindInterrupted); run.EndTime == "" {
		t.Error("the last turn is left open")
	}
}

func TestPrintModeIsATurnWithItsPrompt(t *testing.T) {
	runs := replayed(t, "print_mode")
	if root := one(t, runs, runtypes.KindRoot); !strings.Contains(string(root.Inputs), "List files") {
		t.Errorf("inputs %s", root.Inputs)
	}
	if call := one(t, runs, runtypes.KindLLM); !strings.Contains(string(call.Outputs), "One file.") {
		t.Errorf("outputs %s", call.Outputs)
	}
	runs = replayed(t, "print_subagent")
	if root := one(t, runs, runtypes.KindRoot); !strings.Contains(string(root.Outputs), "One file.") {
		t.Errorf("outputs %s", root.Outputs)
	}
	under(t, runs, one(t, runs, runtypes.KindSubagent), "Read")
}

// under demands that every tool of a name hangs under a run.
func under(t *testing.T, runs []runtypes.Wire, parent runtypes.Wire, name string) {
	t.Helper()
	n := 0
	for _, run := range of(runs, runtypes.KindTool) {
		if run.Name == name {
			n++
			if run.ParentRunID != parent.ID {
				t.Errorf("%s hangs under %s", name, run.ParentRunID)
			}
		}
	}
	if n == 0 {
		t.Errorf("no %s", name)
	}
}

func TestAToolThatWasRunningAtTheInterruptIsThere(t *testing.T) {
	runs := replayed(t, "interrupt_tool_open")
	tool := one(t, runs, runtypes.KindTool)
	if tool.Error != "Interrupted by user" || tool.Metadata()["ls_is_error_interrupt"] != true || !strings.Contains(string(tool.Inputs), "sleep 60") {
		t.Errorf("error %q, inputs %s", tool.Error, tool.Inputs)
	}
	if n := len(of(runs, runtypes.KindInterrupted)); n != 1 {
		t.Errorf("%d interrupted roots", n)
	}
}

func TestAModelErrorSaysWhatWentWrong(t *testing.T) {
	runs := replayed(t, "model_error")
	for _, run := range []runtypes.Wire{one(t, runs, runtypes.KindRoot), one(t, runs, runtypes.KindLLM)} {
		if run.Error != "Provider returned 500" || run.Metadata()["ls_is_error_interrupt"] != nil {
			t.Errorf("%s run: error %q", run.Kind(), run.Error)
		}
	}
}

func TestFailuresThatArriveAsSuccessAreFailures(t *testing.T) {
	if tool := one(t, replayed(t, "mcp_tool"), runtypes.KindTool); tool.Error != "boom" || tool.Name != "MCP:query-docs" {
		t.Errorf("%s: error %q", tool.Name, tool.Error)
	}
	want := map[string]string{"exit code 3": "exit_code", "Command timed out after 1s": "timeout", "Permission denied by user": "denied", "File not found: /home/dev/widgets/missing.txt": "failed"}
	for _, tool := range of(replayed(t, "failing_tool"), runtypes.KindTool) {
		if class, ok := want[tool.Error]; !ok || tool.Metadata()["tool_error_class"] != class {
			t.Errorf("error %q is of class %v", tool.Error, tool.Metadata()["tool_error_class"])
		}
	}
}

func TestAPromptThatGoesToAnotherModelLeavesNoPhantom(t *testing.T) {
	runs := replayed(t, "autoswitch_abort")
	if n := len(of(runs, runtypes.KindRoot)); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
	half := one(t, runs, runtypes.KindInterrupted) // something had happened in it
	if half.Metadata()["turn_number"] != json.Number("2") || strings.Contains(half.Error, "user") {
		t.Errorf("turn %v: error %q", half.Metadata()["turn_number"], half.Error)
	}
}

func TestASubagentThatStopsWithoutIdsKeepsItsResult(t *testing.T) {
	runs := replayed(t, "subagent_stop_without_ids")
	agent := one(t, runs, runtypes.KindSubagent)
	if !strings.Contains(string(agent.Outputs), "The title is Widgets.") {
		t.Errorf("outputs %s", agent.Outputs)
	}
	under(t, runs, agent, "Read")
}

func TestSubagentsHangUnderTheCallThatStartedThem(t *testing.T) {
	for _, name := range []string{"subagent", "parallel_subagents", "interrupt_subagent", "print_subagent"} {
		runs := replayed(t, name)
		calls := map[string]string{}
		for _, tool := range of(runs, runtypes.KindTool) {
			if tool.Name == "Task" {
				calls[tool.ID], _ = tool.Metadata()["tool_call_id"].(string)
			}
		}
		for _, agent := range of(runs, runtypes.KindSubagent) {
			if id := agent.Metadata()["ls_subagent_id"]; id == "" || calls[agent.ParentRunID] != id {
				t.Errorf("%s: subagent %v hangs under the call %q", name, id, calls[agent.ParentRunID])
			}
		}
	}
}

func TestToolsOfTwoSubagentsAreNotGuessedAt(t *testing.T) {
	runs := replayed(t, "parallel_subagents")
	for _, agent := range of(runs, runtypes.KindSubagent) {
		want := "a.md"
		if strings.Contains(string(agent.Inputs), "Read b") {
			want = "b"
		}
		for _, tool := range of(runs, runtypes.KindTool) {
			if tool.ParentRunID == agent.ID && !strings.Contains(string(tool.Inputs), "/"+want) {
				t.Errorf("%s has the tool %s", agent.Inputs, tool.Inputs)
			}
		}
	}
	runs = replayed(t, "parallel_subagents_no_files")
	root := one(t, runs, runtypes.KindRoot)
	under(t, runs, root, "Read")
	for _, tool := range of(runs, runtypes.KindTool) {
		if tool.Name == "Read" && tool.Metadata()["subagent_unresolved"] != true {
			t.Error("a tool of nobody knows which subagent does not say so")
		}
	}
}

func TestNobodyIsNamed(t *testing.T) {
	for _, dir := range recordings(t) {
		raw := string(indent(t, replayed(t, filepath.Base(dir))))
		for _, private := range []string{"dev@example.com", "user_email", "local_username", "LANGSMITH_"} {
			if strings.Contains(raw, private) {
				t.Errorf("%s: runs hold %s", dir, private)
			}
		}
	}
}

func TestSecretsDoNotLeave(t *testing.T) {
	raw := string(indent(t, replayed(t, "secrets")))
	for _, secret := range []string{"sk-ant-api03-EXAMPLE", "ghp_EXAMPLE"} {
		if strings.Contains(raw, secret) {
			t.Errorf("runs hold %s", secret)
		}
	}
}

func TestWhatIsToldTwiceCountsOnce(t *testing.T) {
	runs := replayed(t, "registered_twice")
	if roots, calls, tools := len(of(runs, runtypes.KindRoot)), len(of(runs, runtypes.KindLLM)), len(of(runs, runtypes.KindTool)); roots != 1 || calls != 3 || tools != 2 {
		t.Errorf("%d turns, %d model calls, %d tools", roots, calls, tools)
	}
	if n := strings.Count(string(indent(t, runs)), `"text": "A list."`); n != 3 { // once in its call, and in two that repeat it
		t.Errorf("the thought stands %d times", n)
	}
}

func TestAStopHooksFollowUpSaysSo(t *testing.T) {
	roots := of(replayed(t, "stop_followup"), runtypes.KindRoot)
	if len(roots) != 2 || roots[0].Metadata()["loop_count"] != nil || roots[1].Metadata()["loop_count"] != json.Number("1") {
		t.Errorf("%d turns", len(roots))
	}
}
