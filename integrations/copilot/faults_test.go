package copilot_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// What other tracers get wrong, each with a recording that shows it.

func replayed(t *testing.T, name string) []runtypes.Wire {
	t.Helper()
	return play(t, filepath.Join("testdata", name), replay.Options{}).Runs
}

func of(runs []runtypes.Wire, kind runtypes.Kind) []runtypes.Wire {
	var list []runtypes.Wire
	for _, r := range runs {
		if r.Kind() == kind {
			list = append(list, r)
		}
	}
	return list
}

func one(t *testing.T, runs []runtypes.Wire, kind runtypes.Kind) runtypes.Wire {
	t.Helper()
	list := of(runs, kind)
	if len(list) != 1 {
		t.Fatalf("%d %s runs, want 1", len(list), kind)
	}
	return list[0]
}

func named(t *testing.T, runs []runtypes.Wire, name string) runtypes.Wire {
	t.Helper()
	for _, r := range runs {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no run is named %s", name)
	return runtypes.Wire{}
}

func messages(t *testing.T, raw json.RawMessage) []map[string]any {
	t.Helper()
	var m struct{ Messages []map[string]any }
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m.Messages
}

func when(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestAModelErrorIsNoUserInterrupt(t *testing.T) {
	root := one(t, replayed(t, "model_error"), runtypes.KindRoot)
	if root.Error != "400 fake upstream failure" || root.Metadata()["ls_is_error_interrupt"] != nil {
		t.Errorf("error %q, metadata %v", root.Error, root.Metadata())
	}
}

func TestAPromptTypedWhileBusyJoinsItsTurnAndLosesNoCall(t *testing.T) {
	runs := replayed(t, "interactive_steering")
	one(t, runs, runtypes.KindRoot)
	calls := of(runs, runtypes.KindLLM)
	if len(calls) != 2 {
		t.Fatalf("%d calls, want 2", len(calls))
	}
	if in := string(calls[1].Inputs); !strings.Contains(in, "also be quick") {
		t.Errorf("inputs %s", in)
	}
}

func TestANotificationBeginsAPartAndClosesNothing(t *testing.T) {
	roots := of(replayed(t, "background_subagent"), runtypes.KindRoot)
	if len(roots) != 2 {
		t.Fatalf("%d roots, want 2", len(roots))
	}
	m := roots[1].Metadata()
	if m["turn_origin"] != "task_notification" || m["continues_run_id"] != roots[0].ID || m["turn_id"] != roots[0].Metadata()["turn_id"] {
		t.Errorf("metadata %v", m)
	}
	if roots[0].Error != "" || !strings.Contains(string(roots[0].Outputs), "Started it") {
		t.Errorf("the turn that it continues: error %q, outputs %s", roots[0].Error, roots[0].Outputs)
	}
}

func TestABlockedStopTracesEveryCallInOneTurn(t *testing.T) {
	runs := replayed(t, "stop_block")
	one(t, runs, runtypes.KindRoot)
	if n := len(of(runs, runtypes.KindLLM)); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

func TestFailedAndDeniedToolsHaveErrors(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"failing_tool":      {"view": "Path does not exist", "bash": "exit code 3"},
		"permission_denied": {"bash": "Permission denied", "view": ""},
		"unknown_tool":      {"no_such_tool": "Tool"},
	} {
		for _, tool := range of(replayed(t, name), runtypes.KindTool) {
			if w := want[tool.Name]; !strings.HasPrefix(tool.Error, w) || w == "" && tool.Error != "" {
				t.Errorf("%s: %s has the error %q, want %q", name, tool.Name, tool.Error, w)
			}
		}
	}
	if m := named(t, replayed(t, "permission_denied"), "bash").Metadata(); m["tool_error_class"] != "denied" || m["permission_decision"] != "reject" {
		t.Errorf("a denied tool says %v", m)
	}
	if out := string(named(t, replayed(t, "failing_tool"), "bash").Outputs); !strings.Contains(out, `"exit_code":3`) {
		t.Errorf("outputs %s", out)
	}
}

// A call takes as long as the agent says that it took, and never began before its round.
func TestModelCallsTakeTheTimeThatTheyTook(t *testing.T) {
	calls := of(replayed(t, "plain"), runtypes.KindLLM)
	if took := when(t, calls[0].EndTime).Sub(when(t, calls[0].StartTime)); took != 64*time.Millisecond {
		t.Errorf("took %v, want 64ms", took)
	}
	for _, dir := range recordings(t) {
		parents := map[string]time.Time{}
		for _, r := range play(t, dir, replay.Options{}).Runs {
			if r.Kind() != runtypes.KindLLM {
				continue
			}
			if at := when(t, r.StartTime); at.Before(parents[r.ParentRunID]) {
				t.Errorf("%s: a call began at %s, the one before ended at %s", dir, r.StartTime, parents[r.ParentRunID])
			}
			parents[r.ParentRunID] = when(t, r.EndTime)
		}
	}
}

func TestAKilledProcessLeavesItsTurnInterrupted(t *testing.T) {
	for _, name := range []string{"interrupt_sigkill_tool", "interrupt_sigint_tool", "interrupt_sigterm_tool", "interrupt_sigint_model"} {
		runs := replayed(t, name)
		one(t, runs, runtypes.KindInterrupted)
		for _, tool := range of(runs, runtypes.KindTool) {
			if tool.Metadata()["ls_is_error_interrupt"] != true {
				t.Errorf("%s: tool %s is not interrupted", name, tool.Name)
			}
		}
	}
}

func TestAnAbortedReplyReportsNoTokens(t *testing.T) {
	call := one(t, replayed(t, "interrupt_sigint_model"), runtypes.KindLLM)
	if m := call.Metadata(); m["usage_metadata"] != nil || m["ls_is_error_interrupt"] != true || m["ls_model_name"] != "gpt-5.4" {
		t.Errorf("metadata %v", m)
	}
}

func TestACompactionHasItsTokens(t *testing.T) {
	runs := replayed(t, "compact_clear")
	chain := named(t, runs, "Context Compaction (manual)")
	if chain.ParentRunID != "" || chain.Metadata()["ls_agent_type"] != "compaction" {
		t.Errorf("parent %q, metadata %v", chain.ParentRunID, chain.Metadata())
	}
	for _, call := range of(runs, runtypes.KindLLM) {
		if call.ParentRunID == chain.ID && number(call.Metadata(), "usage_metadata", "input_tokens") == 1077 {
			return
		}
	}
	t.Error("no call below the compaction")
}

func TestNestedSubagentsKeepTheirCallsUnderTheirOwnTools(t *testing.T) {
	runs := replayed(t, "nested_subagents")
	byID := map[string]runtypes.Wire{}
	for _, r := range runs {
		byID[r.ID] = r
	}
	agents := of(runs, runtypes.KindSubagent)
	if len(agents) != 2 {
		t.Fatalf("%d subagents, want 2", len(agents))
	}
	for _, a := range agents {
		if up := byID[a.ParentRunID]; up.Name != "task" {
			t.Errorf("%s hangs under %s", a.Name, up.Name)
		}
		calls := 0
		for _, r := range of(runs, runtypes.KindLLM) {
			if r.ParentRunID == a.ID {
				calls++
			}
		}
		if calls != 2 {
			t.Errorf("%s has %d calls, want 2", a.Name, calls)
		}
	}
	if outer := byID[byID[byID[agents[1].ParentRunID].ParentRunID].ID]; outer.ID != agents[0].ID {
		t.Errorf("the inner subagent hangs below %s", outer.Name)
	}
}

func TestASubagentOutlivesItsTurnAndIsNotCutOff(t *testing.T) {
	runs := replayed(t, "background_subagent")
	agent, root := one(t, runs, runtypes.KindSubagent), of(runs, runtypes.KindRoot)[0]
	if agent.Error != "" || !when(t, agent.EndTime).After(when(t, root.EndTime)) {
		t.Errorf("error %q, ended %s, its turn %s", agent.Error, agent.EndTime, root.EndTime)
	}
	if call := named(t, runs, "task"); agent.ParentRunID != call.ID || call.Metadata()["is_background"] != true {
		t.Errorf("parent %s, the call is %s with %v", agent.ParentRunID, call.ID, call.Metadata())
	}
}

// What the program says in the model's name is no call of the model's.
func TestASyntheticMessageIsNoCall(t *testing.T) {
	runs := replayed(t, "background_subagent")
	named(t, runs, "read_agent")
	for _, call := range of(runs, runtypes.KindLLM) {
		if call.Metadata()["usage_metadata"] == nil {
			t.Errorf("call %s has no usage", call.ID)
		}
	}
}

func TestInputsAreWhatTheModelWasTold(t *testing.T) {
	calls := of(replayed(t, "reasoning_openai"), runtypes.KindLLM)
	var roles []any
	for _, m := range messages(t, calls[1].Inputs) {
		roles = append(roles, m["role"])
	}
	want := []any{"system", "user", "assistant", "tool"}
	if len(roles) != len(want) {
		t.Fatalf("roles %v, want %v", roles, want)
	}
	for i := range want {
		if roles[i] != want[i] {
			t.Fatalf("roles %v, want %v", roles, want)
		}
	}
	if in := string(calls[0].Inputs); !strings.Contains(in, "<current_datetime>") {
		t.Errorf("inputs %s", in)
	}
	if out := string(calls[0].Outputs); !strings.Contains(out, `"type":"reasoning"`) {
		t.Errorf("outputs %s", out)
	}
	root := one(t, replayed(t, "reasoning_openai"), runtypes.KindRoot)
	if strings.Contains(string(root.Inputs), "<current_datetime>") {
		t.Errorf("the turn's inputs are %s, want what the user typed", root.Inputs)
	}
}

func TestLaterTurnsCanRepeatTheConversation(t *testing.T) {
	last := func(o replay.Options) int {
		calls := of(play(t, "testdata/two_turns_resume", o).Runs, runtypes.KindLLM)
		return len(messages(t, calls[len(calls)-1].Inputs))
	}
	if n := last(replay.Options{}); n != 4 {
		t.Errorf("turn: %d messages, want 4", n)
	}
	if n := last(replay.Options{Inputs: "thread", Cut: true}); n != 7 {
		t.Errorf("thread: %d messages, want 7", n)
	}
	if n := last(replay.Options{Inputs: "delta"}); n != 2 {
		t.Errorf("delta: %d messages, want the two answers", n)
	}
}

func TestNumbersGoOnAfterAResume(t *testing.T) {
	for i, root := range of(replayed(t, "two_turns_resume"), runtypes.KindRoot) {
		if n := number(root.Metadata(), "turn_number"); n != int64(i+1) {
			t.Errorf("turn %d has number %d", i+1, n)
		}
	}
}

func TestOldLogsWithoutUsageGiveRunsWithoutIt(t *testing.T) {
	runs := replayed(t, "v1.0.70_plain_and_subagent")
	if n := len(of(runs, runtypes.KindLLM)); n != 5 {
		t.Errorf("%d calls, want 5", n)
	}
	for _, call := range of(runs, runtypes.KindLLM) {
		if m := call.Metadata(); m["usage_metadata"] != nil || m["ls_model_name"] != "gpt-5.4" || m["ls_provider"] != "openai" {
			t.Errorf("metadata %v", m)
		}
	}
	agent := one(t, runs, runtypes.KindSubagent) // whose prompt only the call that started it holds
	if !strings.Contains(string(agent.Inputs), "SCENARIO:subchild") {
		t.Errorf("inputs %s", agent.Inputs)
	}
	for _, call := range of(runs, runtypes.KindLLM) {
		if call.ParentRunID == agent.ID && !strings.Contains(string(call.Inputs), "SCENARIO:subchild") {
			t.Errorf("a call's inputs %s", call.Inputs)
		}
	}
}

func TestASessionWithoutALogShowsWhatItsHooksCarry(t *testing.T) {
	root := one(t, replayed(t, "otel_subagent"), runtypes.KindRoot)
	if !strings.Contains(string(root.Inputs), "SCENARIO:subagent otel") || root.Metadata()["partial"] != true {
		t.Errorf("inputs %s, metadata %v", root.Inputs, root.Metadata())
	}
}

func TestFilesThatWereEditedAreCounted(t *testing.T) {
	if n := number(one(t, replayed(t, "edit"), runtypes.KindRoot).Metadata(), "files_changed"); n != 1 {
		t.Errorf("files_changed %d, want 1", n)
	}
}

func TestTokensOfTheCacheArePartOfTheInput(t *testing.T) {
	m := of(replayed(t, "subagent_anthropic"), runtypes.KindLLM)[0].Metadata()
	in, read := number(m, "usage_metadata", "input_tokens"), number(m, "usage_metadata", "input_token_details", "cache_read")
	if made := number(m, "usage_metadata", "input_token_details", "cache_creation"); in != 568 || read != 400 || made != 50 {
		t.Errorf("input %d, read %d, created %d", in, read, made)
	}
	if m["ls_provider"] != "anthropic" {
		t.Errorf("provider %v", m["ls_provider"])
	}
}
