package openaicodex_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// What other tracers of Codex get wrong, each with a recording that shows it.

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

func one(t *testing.T, runs []runtypes.Wire, kind runtypes.Kind) runtypes.Wire {
	t.Helper()
	list := of(runs, kind)
	if len(list) != 1 {
		t.Fatalf("%d %s runs, want 1", len(list), kind)
	}
	return list[0]
}

func messages(raw json.RawMessage) int {
	var m struct{ Messages []json.RawMessage }
	if json.Unmarshal(raw, &m) != nil {
		return -1
	}
	return len(m.Messages)
}

func TestUsageOfACallWithToolsStaysOnTheCall(t *testing.T) {
	for _, name := range []string{"tools", "fail", "code", "sub_v1", "v145_tools", "v128_tools"} {
		runs := replayed(t, name)
		for _, r := range of(runs, runtypes.KindLLM) {
			if r.Metadata()["usage_metadata"] == nil {
				t.Errorf("%s: a model call has no usage", name)
			}
		}
		for _, r := range of(runs, runtypes.KindTool) {
			if r.Metadata()["usage_metadata"] != nil {
				t.Errorf("%s: tool %s has usage", name, r.Name)
			}
		}
	}
}

func TestReasoningTokensAreOutputAndCachedTokensInput(t *testing.T) {
	m := of(replayed(t, "tools"), runtypes.KindLLM)[0].Metadata()
	if got := number(m, "usage_metadata", "output_token_details", "reasoning"); got != 48 {
		t.Errorf("reasoning %d, want 48", got)
	}
	if got := number(m, "usage_metadata", "input_token_details", "cache_read"); got != 1024 {
		t.Errorf("cache_read %d, want 1024", got)
	}
	if got := number(m, "usage_metadata", "input_token_details", "cache_creation"); got != 0 {
		t.Errorf("cache_creation %d, want none", got)
	}
}

func TestFailedToolsSaySo(t *testing.T) {
	var errs []string
	for _, r := range of(replayed(t, "fail"), runtypes.KindTool) {
		errs = append(errs, r.Error)
	}
	want := []string{"exit code 3", "exit code 1", "unsupported call: no_such_tool", "failed to parse function arguments"}
	if len(errs) != len(want) {
		t.Fatalf("errors %q", errs)
	}
	for i := range want {
		if !strings.HasPrefix(errs[i], want[i]) {
			t.Errorf("error %q, want %q", errs[i], want[i])
		}
	}
	if boom := named(t, replayed(t, "v145_mcp"), "mcp__echo__boom"); boom.Error != "boom failed" {
		t.Errorf("MCP error %q", boom.Error)
	}
}

func TestWhatAScriptRanIsBelowItsCall(t *testing.T) {
	runs := replayed(t, "code")
	scripts := map[string]bool{}
	for _, r := range runs {
		if r.Name == "exec" {
			scripts[r.ID] = true
		}
	}
	inner := 0
	for _, r := range runs {
		if r.Name == "exec_command" || r.Name == "apply_patch" {
			inner++
			if !scripts[r.ParentRunID] {
				t.Errorf("%s hangs elsewhere", r.Name)
			}
		}
	}
	if inner != 4 || len(scripts) != 4 {
		t.Errorf("%d inner tools and %d scripts, want 4 of each", inner, len(scripts))
	}
}

func TestAForkedSubagentIsASubagentAndRepeatsNothing(t *testing.T) {
	runs := replayed(t, "sub_fork")
	child := one(t, runs, runtypes.KindSubagent)
	if child.Metadata()["ls_agent_type"] != "subagent" || child.Metadata()["ls_subagent_id"] == nil {
		t.Error("the forked thread is not a subagent")
	}
	if spawn := named(t, runs, "spawn_agent"); child.ParentRunID != spawn.ID {
		t.Error("the subagent does not hang under the call that started it")
	}
	for _, r := range runs {
		if r.Error != "" {
			t.Errorf("%s has the error %q of a copied turn", r.Name, r.Error)
		}
	}
}

func TestFailedTurnsAreSent(t *testing.T) {
	for _, name := range []string{"err400", "err401", "err500final", "failed_quota", "v128_err500final", "v145_err500final"} {
		if root := one(t, replayed(t, name), runtypes.KindRoot); root.Error == "" || root.EndTime == "" {
			t.Errorf("%s: root without an error or an end", name)
		}
	}
}

func TestInterruptedTurnsAreSent(t *testing.T) {
	for _, name := range []string{"intr_sigint", "intr_tool", "intr_sigterm", "intr_sigkill", "tui_esc_tool", "tui_esc_stream", "tui_approve", "v128_intr_midway"} {
		one(t, replayed(t, name), runtypes.KindInterrupted)
	}
}

func TestASessionWithoutARolloutShowsWhatItsHooksCarry(t *testing.T) {
	root := one(t, replayed(t, "ephemeral"), runtypes.KindRoot)
	if !strings.Contains(string(root.Inputs), "Hi [[scn:tools]]") || !strings.Contains(string(root.Outputs), "one README") {
		t.Errorf("inputs %s, outputs %s", root.Inputs, root.Outputs)
	}
}

func TestATurnThatAStopHookLetsGoOnIsOneTurn(t *testing.T) {
	runs := replayed(t, "stop_block")
	root := one(t, runs, runtypes.KindRoot)
	if n := len(of(runs, runtypes.KindLLM)); n != 3 {
		t.Errorf("%d model calls, want 3", n)
	}
	if !strings.Contains(string(root.Outputs), "Nothing else to do") {
		t.Errorf("outputs %s", root.Outputs)
	}
}

func TestACompactionHasItsOwnCallAndUsage(t *testing.T) {
	for name, trigger := range map[string]string{"tui_compact": "manual", "v128_compact_auto": "auto"} {
		runs := replayed(t, name)
		chain := named(t, runs, "Context Compaction ("+trigger+")")
		if chain.Metadata()["ls_agent_type"] != "compaction" {
			t.Errorf("%s: ls_agent_type %v", name, chain.Metadata()["ls_agent_type"])
		}
		found := false
		for _, r := range of(runs, runtypes.KindLLM) {
			if r.ParentRunID == chain.ID {
				found = number(r.Metadata(), "usage_metadata", "input_tokens") == 3000 && number(r.Metadata(), "usage_metadata", "output_tokens") == 80
			}
		}
		if !found {
			t.Errorf("%s: no call of 3000 and 80 tokens below the compaction", name)
		}
	}
}

func TestLaterTurnsCanRepeatTheConversation(t *testing.T) {
	last := func(o replay.Options) int {
		calls := of(play(t, "testdata/resume", o).Runs, runtypes.KindLLM)
		return messages(calls[len(calls)-1].Inputs)
	}
	if n := last(replay.Options{}); n != 1 {
		t.Errorf("turn: %d messages, want 1", n)
	}
	if n := last(replay.Options{Inputs: "thread", Cut: true}); n != 6 {
		t.Errorf("thread: %d messages, want 6", n)
	}
	calls := of(play(t, "testdata/tools", replay.Options{Inputs: "delta"}).Runs, runtypes.KindLLM)
	if n := messages(calls[1].Inputs); n != 2 {
		t.Errorf("delta: %d messages, want the two answers", n)
	}
}

func TestSubagentsHaveInputsWhereTheirFilesHideThem(t *testing.T) {
	for _, r := range of(replayed(t, "sub_v2"), runtypes.KindSubagent) {
		if in := string(r.Inputs); !strings.Contains(in, "scn:child_") {
			t.Errorf("inputs %s", in)
		}
	}
}

func TestAWebSearchIsATool(t *testing.T) {
	for _, name := range []string{"web", "v145_web", "v128_web"} {
		if r := one(t, replayed(t, name), runtypes.KindTool); r.Name != "web_search" || !strings.Contains(string(r.Inputs), "what is a widget") {
			t.Errorf("%s: tool %s, inputs %s", name, r.Name, r.Inputs)
		}
	}
}

func TestAReviewIsATurnWithASubagent(t *testing.T) {
	runs := replayed(t, "review")
	root, child := one(t, runs, runtypes.KindRoot), one(t, runs, runtypes.KindSubagent)
	if child.ParentRunID != root.ID || child.Metadata()["ls_subagent_type"] != "review" {
		t.Errorf("the review is %v", child.Metadata()["ls_subagent_type"])
	}
	if call := one(t, runs, runtypes.KindLLM); call.ParentRunID != child.ID {
		t.Error("the call is not the review's")
	}
}

func TestAClosedSubagentIsInterrupted(t *testing.T) {
	closed := 0
	for _, r := range of(replayed(t, "sub_v1_closed"), runtypes.KindSubagent) {
		if r.Error != "" {
			closed++
		}
	}
	if closed != 1 {
		t.Errorf("%d interrupted subagents, want 1", closed)
	}
}

func TestNumbersGoOnInAForkAndAfterAResume(t *testing.T) {
	for _, name := range []string{"resume", "fork", "v128_resume", "v145_resume", "tui_two_turns"} {
		for i, root := range of(replayed(t, name), runtypes.KindRoot) {
			if n := number(root.Metadata(), "turn_number"); n != int64(i+1) {
				t.Errorf("%s: turn %d has number %d", name, i+1, n)
			}
		}
	}
}

func TestACommandThatTheUserTypedIsATurn(t *testing.T) {
	for _, r := range of(replayed(t, "tui_new"), runtypes.KindRoot) {
		if r.Metadata()["turn_origin"] == "user_shell" && strings.Contains(string(r.Inputs), "!ls -la") {
			return
		}
	}
	t.Error("no turn of a command that the user typed")
}
