package cursor_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Each hook is a process of its own: one may overtake another, and some tell alone of
// what happened.

func TestPrintModeThatUsesNoToolIsATurn(t *testing.T) {
	runs := replayed(t, "print_no_tools")
	root, call := one(t, runs, runtypes.KindRoot), one(t, runs, runtypes.KindLLM)
	if !strings.Contains(string(root.Inputs), "Say hello") || !strings.Contains(string(root.Outputs), "Hello.") {
		t.Errorf("inputs %s, outputs %s", root.Inputs, root.Outputs)
	}
	if start, end := times(t, call); end.Sub(start).Milliseconds() != 1900 {
		t.Errorf("took %s, the session 1.9 s", end.Sub(start))
	}
}

func TestSubagentsOfCallsWithoutIdsAreFoundByTheirTasks(t *testing.T) {
	runs := replayed(t, "parallel_subagents_empty_ids")
	tasks := map[string]string{}
	for _, tool := range of(runs, runtypes.KindTool) {
		var in struct{ Prompt string }
		if err := json.Unmarshal(tool.Inputs, &in); err == nil && in.Prompt != "" {
			tasks[tool.ID] = in.Prompt
		}
	}
	agents := of(runs, runtypes.KindSubagent)
	for _, agent := range agents {
		if task := tasks[agent.ParentRunID]; task == "" || !strings.Contains(string(agent.Inputs), task) {
			t.Errorf("%s hangs under the call for %q", agent.Inputs, task)
		}
	}
	if len(tasks) != 2 || len(agents) != 2 {
		t.Errorf("%d calls and %d subagents, want 2 of each", len(tasks), len(agents))
	}
}

func TestTheEndOfAToolThatItsSubagentsStopOvertakesIsNoSecondCall(t *testing.T) {
	reads := 0
	for _, tool := range of(replayed(t, "parallel_subagents_empty_ids"), runtypes.KindTool) {
		if tool.Name == "Read" {
			reads++
		}
		if tool.Metadata()["subagent_unresolved"] != nil {
			t.Errorf("%s is nobody's", tool.Name)
		}
	}
	if reads != 2 {
		t.Errorf("%d calls, want 2", reads)
	}
}

func TestAStopThatIsOvertakenStillSaysHowItsTurnEnded(t *testing.T) {
	runs := replayed(t, "stop_overtaken")
	if root := one(t, runs, runtypes.KindInterrupted); root.Error != "Interrupted by user" { // by the next prompt
		t.Errorf("error %q", root.Error)
	}
	if root := one(t, runs, runtypes.KindRoot); root.Error != "" { // by the session's end
		t.Errorf("error %q", root.Error)
	}
	used := map[any]bool{}
	for _, call := range of(runs, runtypes.KindLLM) {
		used[usage(call)["input_tokens"]] = true
	}
	if !used[json.Number("2100")] || !used[json.Number("2300")] {
		t.Errorf("tokens %v", used)
	}
}

func TestAnErrorThatTheSessionsEndNamesIsTold(t *testing.T) {
	runs := replayed(t, "error_at_session_end")
	for _, kind := range []runtypes.Kind{runtypes.KindRoot, runtypes.KindLLM} {
		if run := one(t, runs, kind); run.Error != "Rate limit hit" {
			t.Errorf("%s: error %q", kind, run.Error)
		}
	}
}

func TestAPromptThatWentToAnotherModelDoesNotSpeakWithItsWords(t *testing.T) {
	runs := replayed(t, "autoswitch_tools")
	if half := one(t, runs, runtypes.KindInterrupted); strings.Contains(string(half.Outputs), "Widgets.") {
		t.Errorf("outputs %s", half.Outputs)
	}
	if root := one(t, runs, runtypes.KindRoot); !strings.Contains(string(root.Outputs), "Widgets.") {
		t.Errorf("outputs %s", root.Outputs)
	}
}

func TestASubagentThatIsToldToGoOnIsASecondRun(t *testing.T) {
	runs := replayed(t, "subagent_resumed")
	agents := map[string]string{} // by the file that its tool read
	for _, tool := range of(runs, runtypes.KindTool) {
		if tool.Name == "Read" {
			agents[string(tool.Inputs)] = tool.ParentRunID
		}
	}
	if a, b := agents[`{"file_path":"a1.md"}`], agents[`{"file_path":"a2.md"}`]; a == "" || b == "" || a == b {
		t.Errorf("the tools hang under %v", agents)
	}
}

func TestASubagentOutlivesTheTurnThatStartedIt(t *testing.T) {
	runs := replayed(t, "background_subagent")
	agent := one(t, runs, runtypes.KindSubagent)
	if !strings.Contains(string(agent.Outputs), "It is done.") || agent.Error != "" {
		t.Errorf("outputs %s, error %q", agent.Outputs, agent.Error)
	}
	var last time.Time
	for _, call := range of(runs, runtypes.KindLLM) {
		if call.TraceID != agent.TraceID || call.ParentRunID != agent.TraceID {
			continue
		}
		start, end := times(t, call)
		if start.Before(last) {
			t.Errorf("a model call began %s before the one before it ended", last.Sub(start))
		}
		last = end
	}
}
