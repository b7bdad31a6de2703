package claudecode_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Each test is named after something a tracer for Claude Code was seen to get wrong.

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

func TestAPIErrorsAreFailuresAndNotUserInterrupts(t *testing.T) {
	for _, name := range []string{"api-error-400", "api-error-401", "api-error-429", "api-error-500", "api-error-529-no-stopfailure"} {
		runs := replayed(t, name)
		for _, run := range []runtypes.Wire{one(t, runs, runtypes.KindRoot), one(t, runs, runtypes.KindLLM)} {
			if run.Error == "" || strings.Contains(run.Error, "nterrupt") {
				t.Errorf("%s: %s run's error is %q", name, run.Kind(), run.Error)
			}
		}
		if meta := one(t, runs, runtypes.KindLLM).Metadata(); meta["usage_metadata"] != nil || meta["ls_model_name"] == "<synthetic>" {
			t.Errorf("%s: a failed call carries %v", name, meta)
		}
	}
}

func TestALimitTheProgramRanIntoIsNoModelCall(t *testing.T) {
	runs := replayed(t, "max-tokens")
	if n := len(of(runs, runtypes.KindLLM)); n != 4 {
		t.Errorf("%d model calls, the API was asked 4 times", n)
	}
	if err := one(t, runs, runtypes.KindRoot).Error; !strings.Contains(err, "output token maximum") {
		t.Errorf("the turn's error is %q", err)
	}
}

func TestAPromptTypedWhileBusyJoinsTheRunningTurn(t *testing.T) {
	runs := replayed(t, "tui-queued-prompt")
	root := one(t, runs, runtypes.KindRoot)
	llm := of(runs, runtypes.KindLLM)
	if root.Error != "" || len(llm) != 2 || len(of(runs, runtypes.KindTool)) != 4 {
		t.Fatalf("error %q, %d model calls", root.Error, len(llm))
	}
	if in := string(llm[1].Inputs); !strings.Contains(in, "queued while busy") {
		t.Errorf("the queued prompt is not among the last call's inputs: %s", in)
	}
	if in := string(root.Inputs); strings.Contains(in, "queued while busy") {
		t.Errorf("the queued prompt stands for the turn's own: %s", in)
	}
}

// Its hook named the turn that ran when it was typed, and an interrupted turn has no Stop.
func TestAQueuedPromptThatIsInterruptedIsATurn(t *testing.T) {
	runs := replayed(t, "tui-queued-interrupted")
	cut := of(runs, runtypes.KindInterrupted)
	if len(cut) != 2 || len(of(runs, runtypes.KindRoot)) != 1 {
		t.Fatalf("%d interrupted turns, want 2 before one that ended", len(cut))
	}
	queued := cut[1]
	if !strings.Contains(string(queued.Inputs), "SCENARIO:slow two") || queued.Error != "Interrupted by user" {
		t.Errorf("the queued turn was asked %s and says %q", queued.Inputs, queued.Error)
	}
	if meta := queued.Metadata(); meta["turn_number"] != json.Number("2") || meta["partial"] != nil {
		t.Errorf("turn number %v, partial %v", meta["turn_number"], meta["partial"])
	}
	if last := one(t, runs, runtypes.KindRoot).Metadata(); last["turn_number"] != json.Number("3") {
		t.Errorf("the next turn's number is %v", last["turn_number"])
	}
}

func TestATurnThatAShellCommandBeganSaysTheCommand(t *testing.T) {
	turn := of(replayed(t, "tui-bash-mode"), runtypes.KindRoot)[0]
	if !strings.Contains(string(turn.Inputs), "echo hello from bash") {
		t.Errorf("the turn was asked %s", turn.Inputs)
	}
	if turn.Metadata()["partial"] != nil {
		t.Error("the turn is partial: no hook tells of such a prompt, none was lost")
	}
}

func TestCopiedHistoryOfAForkIsNotTracedAgain(t *testing.T) {
	threads := map[any][]runtypes.Wire{}
	for _, run := range replayed(t, "resume-and-fork") {
		thread := run.Metadata()["thread_id"]
		threads[thread] = append(threads[thread], run)
	}
	fork := threads["4b4d222f-4025-4ed9-8ffc-86e9eb258143"]
	if len(fork) != 2 || !strings.Contains(string(one(t, fork, runtypes.KindRoot).Inputs), "SCENARIO:plain fork") {
		t.Errorf("the fork has %d runs", len(fork))
	}
	for i, root := range of(threads["11111111-2222-4333-8444-555555555555"], runtypes.KindRoot) {
		if n := root.Metadata()["turn_number"].(interface{ String() string }).String(); n != string(rune('1'+i)) {
			t.Errorf("turn %d has number %s: numbers go on after a resume", i+1, n)
		}
	}
}

func TestAStopHookThatBlocksKeepsTheTurnOpen(t *testing.T) {
	runs := replayed(t, "stop-hook-blocks")
	if n := len(of(runs, runtypes.KindLLM)); n != 3 {
		t.Errorf("%d model calls, the transcript has 3", n)
	}
	if root := one(t, runs, runtypes.KindRoot); root.Error != "" {
		t.Errorf("error %q", root.Error)
	}
}

func TestANestedSubagentKeepsItsModelAndToolCalls(t *testing.T) {
	runs := replayed(t, "nested-subagents")
	agents := of(runs, runtypes.KindSubagent)
	if len(agents) != 2 {
		t.Fatalf("%d subagents, want 2", len(agents))
	}
	depth := func(w runtypes.Wire) int { return strings.Count(w.DottedOrder, ".") }
	if depth(agents[0]) != 2 || depth(agents[1]) != 4 {
		t.Errorf("depths %d and %d: each hangs under the call that started it", depth(agents[0]), depth(agents[1]))
	}
	below := 0
	for _, run := range runs {
		if run.ParentRunID == agents[1].ID {
			below++
			if run.Metadata()["ls_agent_type"] != "subagent" {
				t.Errorf("%s below a subagent is of agent type %v", run.Name, run.Metadata()["ls_agent_type"])
			}
		}
	}
	if below != 4 {
		t.Errorf("%d runs below the inner subagent, want 2 model and 2 tool calls", below)
	}
}

func TestAnInterruptedSubagentIsTraced(t *testing.T) {
	runs := replayed(t, "interrupt-subagent-sigkill")
	agent := one(t, runs, runtypes.KindSubagent)
	if agent.Metadata()["ls_is_error_interrupt"] != true || agent.EndTime == "" {
		t.Errorf("subagent: error %q, end %q", agent.Error, agent.EndTime)
	}
	if n := len(of(runs, runtypes.KindTool)); n != 2 {
		t.Errorf("%d tool calls, want the Agent call and the one inside", n)
	}
}

func TestASubagentThatOutlivesItsTurnStaysInItsTrace(t *testing.T) {
	runs := replayed(t, "background-agent")
	agent := one(t, runs, runtypes.KindSubagent)
	roots := of(runs, runtypes.KindRoot)
	_, rootEnd := times(t, roots[0])
	if _, end := times(t, agent); agent.TraceID != roots[0].ID || !end.After(rootEnd) {
		t.Errorf("subagent of trace %s ends %v, its turn %s at %v", agent.TraceID, end, roots[0].ID, rootEnd)
	}
}

func TestFailedDeniedAndUnknownToolsHaveAnError(t *testing.T) {
	want := map[string]map[string]int{
		"failing":             {"exit_code": 1, "failed": 1, "invalid_input": 1, "unknown_tool": 1},
		"tool-denied-by-rule": {"denied_by_rule": 1},
		"permission-headless": {"denied": 1},
		"tui-esc-tool":        {"interrupted": 1},
	}
	for name, classes := range want {
		for _, run := range of(replayed(t, name), runtypes.KindTool) {
			class, _ := run.Metadata()["tool_error_class"].(string)
			if run.Error == "" || strings.Contains(run.Error, "<tool_use_error>") {
				t.Errorf("%s: %s has error %q", name, run.Name, run.Error)
			}
			classes[class]--
		}
		for class, n := range classes {
			if n != 0 {
				t.Errorf("%s: %s is off by %d", name, class, n)
			}
		}
	}
}

func TestAModelCallLastsFromItsRequestToItsLastBlock(t *testing.T) {
	runs := replayed(t, "parallel")
	llm := of(runs, runtypes.KindLLM)
	for _, run := range llm {
		if start, end := times(t, run); !end.After(start) {
			t.Errorf("a model call took no time: %v to %v", start, end)
		}
	}
	_, end := times(t, llm[0])
	for _, tool := range of(runs, runtypes.KindTool) {
		if start, _ := times(t, tool); tool.Name == "Bash" && start.Before(end) {
			t.Errorf("the model call stretches to %v, over a tool that ran from %v", end, start)
		}
	}
}

func TestAToolsTimeIsItsOwnAndWaitingIsShownApart(t *testing.T) {
	for _, tool := range of(replayed(t, "tui-permission-accept"), runtypes.KindTool) {
		if tool.Name != "Write" {
			continue
		}
		start, end := times(t, tool)
		if end.Sub(start) > 100*time.Millisecond {
			t.Errorf("Write ran for %v, Claude Code says 62 ms", end.Sub(start))
		}
		wait, _ := tool.Metadata()["permission_wait_ms"].(interface{ Int64() (int64, error) }).Int64()
		if wait < 1000 || wait > 1200 {
			t.Errorf("a person took %d ms to answer, want about 1.1 s", wait)
		}
	}
}

func TestAKilledProcessLeavesNoTurnOpen(t *testing.T) {
	root := one(t, replayed(t, "interrupt-stream-sigkill"), runtypes.KindInterrupted)
	start, end := times(t, root)
	if end.Sub(start) > time.Second {
		t.Errorf("the turn ends %v after it began: at the last sign of life, not when somebody noticed", end.Sub(start))
	}
}

// The process that takes the conversation up writes results and a reply for the model.
func TestATurnThatWasKilledStaysInterruptedWhenItsSessionIsResumed(t *testing.T) {
	runs := replayed(t, "resume-after-kill")
	killed := one(t, runs, runtypes.KindInterrupted)
	if _, end := times(t, killed); killed.Error != "Interrupted" || end.Second() != 40 {
		t.Errorf("the turn says %q and ends at %s, want the last sign of life", killed.Error, killed.EndTime)
	}
	cut := 0
	for _, tool := range of(runs, runtypes.KindTool) {
		if tool.Error == "Interrupted" {
			cut++
		}
	}
	if cut != 2 {
		t.Errorf("%d tools were cut off, want the subagent's and the call that started it", cut)
	}
	if n := len(of(runs, runtypes.KindRoot)); n != 2 {
		t.Errorf("%d turns that ended, want the resumed and the forked one", n)
	}
}

func TestAnInterruptEndsTheTurnWhenItHappened(t *testing.T) {
	root := one(t, replayed(t, "tui-esc-stream"), runtypes.KindInterrupted)
	if _, end := times(t, root); end.Format("15:04:05.000") != "04:42:30.249" {
		t.Errorf("the turn ends at %v, the marker stands at 04:42:30.249", end)
	}
	if root.Error != "Interrupted by user" {
		t.Errorf("error %q", root.Error)
	}
}

func TestAnAbortedReplyKeepsItsTextAndInventsNoUsage(t *testing.T) {
	for _, run := range of(replayed(t, "tui-esc-stream"), runtypes.KindLLM)[:1] {
		if run.Metadata()["usage_metadata"] != nil {
			t.Errorf("usage %v", run.Metadata()["usage_metadata"])
		}
		if !strings.Contains(string(run.Outputs), "Line 7:") {
			t.Errorf("the partial text is gone: %s", run.Outputs)
		}
	}
}

func TestACompactionIsNoSubagent(t *testing.T) {
	for _, name := range []string{"tui-compact", "resume-compact"} {
		runs := replayed(t, name)
		if n := len(of(runs, runtypes.KindSubagent)); n != 0 {
			t.Errorf("%s: %d subagents", name, n)
		}
		c := one(t, runs, runtypes.KindChain)
		meta := c.Metadata()
		if meta["ls_agent_type"] != "compaction" || meta["compaction_trigger"] != "manual" || c.ParentRunID != "" || len(c.Outputs) == 0 {
			t.Errorf("%s: compaction %v", name, meta)
		}
	}
}

func TestRetriesOfACallAreOneRun(t *testing.T) {
	llm := one(t, replayed(t, "api-retry-recovers"), runtypes.KindLLM)
	if n := strings.Count(string(llm.Events), `"name":"retry"`); n != 2 {
		t.Errorf("%d retries in its events, want 2: %s", n, llm.Events)
	}
	if start, end := times(t, llm); end.Sub(start) < 1500*time.Millisecond || llm.Error != "" {
		t.Errorf("the run lasts %v: its failed attempts belong to it", end.Sub(start))
	}
}

func TestANotificationsTurnStartsWithTheNotification(t *testing.T) {
	root := of(replayed(t, "background-agent"), runtypes.KindRoot)[1]
	if in := string(root.Inputs); !strings.Contains(in, "<task-notification>") || strings.Contains(in, "system-reminder") {
		t.Errorf("inputs %s", in)
	}
	if root.Metadata()["turn_origin"] != "task_notification" || root.ParentRunID != "" {
		t.Errorf("metadata %v", root.Metadata())
	}
}

func TestAPromptThatAHookRefusedIsShownAsSuch(t *testing.T) {
	root := one(t, replayed(t, "prompt-blocked-by-hook"), runtypes.KindInterrupted)
	if root.Error != "Prompt blocked by a hook" || !strings.Contains(string(root.Inputs), "SCENARIO:plain") {
		t.Errorf("error %q, inputs %s", root.Error, root.Inputs)
	}
}

func TestASkillIsNamed(t *testing.T) {
	tool := one(t, replayed(t, "skill"), runtypes.KindTool)
	if tool.Metadata()["ls_skill_name"] != "widget-facts" {
		t.Errorf("metadata %v", tool.Metadata())
	}
}

func TestASessionThatKeepsNoTranscriptIsTracedFromItsHooks(t *testing.T) {
	runs := replayed(t, "no-session-persistence")
	root := one(t, runs, runtypes.KindRoot)
	if !strings.Contains(string(root.Inputs), "SCENARIO:parallel") || !strings.Contains(string(root.Outputs), "main.go prints") {
		t.Errorf("inputs %s, outputs %s", root.Inputs, root.Outputs)
	}
	if n := len(of(runs, runtypes.KindTool)); n != 2 {
		t.Errorf("%d tool calls, want 2", n)
	}
}

func TestASubagentThatKeepsNoTranscriptIsTracedFromItsHooks(t *testing.T) {
	runs := replayed(t, "no-session-persistence-subagent")
	if diff := cmp.Diff([]string{"under Agent: Bash Read"}, outline(runs)); diff != "" {
		t.Errorf("subagents (-want +got):\n%s", diff)
	}
	agent := one(t, runs, runtypes.KindSubagent)
	if start, end := times(t, agent); !strings.Contains(string(agent.Outputs), "There are 2 widgets.") || !start.Before(end) {
		t.Errorf("the subagent says %s from %s to %s", agent.Outputs, start, end)
	}
	for _, tool := range of(runs, runtypes.KindTool) {
		if len(tool.Inputs) == 0 || len(tool.Outputs) == 0 || tool.Metadata()["content_missing"] != nil {
			t.Errorf("%s: in %s, out %s", tool.Name, tool.Inputs, tool.Outputs)
		}
	}
}

func TestTwoSubagentsAtOnceAreBothClosed(t *testing.T) {
	runs := replayed(t, "two-subagents")
	agents := of(runs, runtypes.KindSubagent)
	if len(agents) != 2 || agents[0].ParentRunID == agents[1].ParentRunID {
		t.Fatalf("%d subagents, want one below each call", len(agents))
	}
	if n := len(of(runs, runtypes.KindLLM)); n != 6 {
		t.Errorf("%d model calls, want 6", n)
	}
}

func TestAWorkflowsStagesHangUnderItsCall(t *testing.T) {
	runs := replayed(t, "workflow-stages")
	agents := of(runs, runtypes.KindSubagent)
	if len(agents) != 2 {
		t.Fatalf("%d stages, want 2", len(agents))
	}
	for _, tool := range of(runs, runtypes.KindTool) {
		if tool.Name == "Workflow" && (agents[0].ParentRunID != tool.ID || agents[1].ParentRunID != tool.ID) {
			t.Errorf("the stages hang under %s and %s", agents[0].ParentRunID, agents[1].ParentRunID)
		}
	}
}

func TestANotificationThatLandsMidTurnJoinsTheTurn(t *testing.T) {
	runs := replayed(t, "notification-mid-turn")
	root := one(t, runs, runtypes.KindRoot)
	if root.Error != "" || len(of(runs, runtypes.KindLLM)) != 5 || len(of(runs, runtypes.KindTool)) != 4 {
		t.Errorf("error %q, %d runs", root.Error, len(runs))
	}
}

func TestAnAutomaticCompactionBelongsToItsTurn(t *testing.T) {
	runs := replayed(t, "auto-compact")
	c := one(t, runs, runtypes.KindChain)
	if meta := c.Metadata(); c.ParentRunID != one(t, runs, runtypes.KindRoot).ID || meta["compaction_trigger"] != "auto" || meta["ls_agent_type"] != "compaction" {
		t.Errorf("parent %s, metadata %v", c.ParentRunID, meta)
	}
}

func TestACompactionOfASubagentBelongsToTheSubagent(t *testing.T) {
	runs := replayed(t, "subagent-compacts")
	c := one(t, runs, runtypes.KindChain)
	if c.ParentRunID != one(t, runs, runtypes.KindSubagent).ID || c.Name != "Context Compaction (auto)" || len(c.Outputs) == 0 {
		t.Errorf("%s under %s says %s", c.Name, c.ParentRunID, c.Outputs)
	}
}

func TestMCPToolsNameTheirServer(t *testing.T) {
	for _, tool := range of(replayed(t, "mcp-tools"), runtypes.KindTool) {
		if tool.Metadata()["mcp_server"] != "stock" {
			t.Errorf("%s: %v", tool.Name, tool.Metadata()["mcp_server"])
		}
	}
}

func TestASkillThatTheModelRunsInASubagentHangsUnderItsCall(t *testing.T) {
	runs := replayed(t, "forked-skill")
	agents := of(runs, runtypes.KindSubagent)
	if len(agents) != 2 {
		t.Fatalf("%d subagents, want 2", len(agents))
	}
	for _, tool := range of(runs, runtypes.KindTool) {
		if tool.Name == "Skill" && agents[1].ParentRunID != tool.ID {
			t.Errorf("the subagent is below %s, want %s", agents[1].ParentRunID, tool.ID)
		}
	}
}

// No model of the conversation is asked then, and the program's note may be the only answer.
func TestASkillThatTheUserRunsInASubagentIsATurn(t *testing.T) {
	for name, want := range map[string][2]string{
		"forked-skill":     {"/forky by user", "There are 2 widgets."},
		"tui-forked-skill": {"/forky tui user", "Running in the background as @forky"},
	} {
		runs := replayed(t, name)
		turn, agent := of(runs, runtypes.KindRoot)[0], of(runs, runtypes.KindSubagent)[0]
		if turn.Error != "" || agent.ParentRunID != turn.ID || turn.Metadata()["turn_number"] != json.Number("1") {
			t.Errorf("%s: error %q, subagent below %s, turn number %v", name, turn.Error, agent.ParentRunID, turn.Metadata()["turn_number"])
		}
		if !strings.Contains(string(turn.Inputs), want[0]) || !strings.Contains(string(turn.Outputs), want[1]) {
			t.Errorf("%s: the turn was asked %s and said %s", name, turn.Inputs, turn.Outputs)
		}
	}
}

// Its hooks bear the new session's id, and a prompt id that is no turn's.
func TestASubagentThatOutlivesAClearGoesOnInTheNextSession(t *testing.T) {
	said := 0
	for _, agent := range of(replayed(t, "tui-clear-background"), runtypes.KindSubagent) {
		if strings.Contains(string(agent.Outputs), "Sub4 done.") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("%d subagents say what it said last, want 1", said)
	}
}

func TestAScheduledPromptBeginsATurn(t *testing.T) {
	runs := replayed(t, "tui-scheduled")
	roots := of(runs, runtypes.KindRoot)
	if len(roots) != 2 || len(of(runs, runtypes.KindLLM)) != 3 {
		t.Fatalf("%d turns and %d model calls, want 2 and 3", len(roots), len(of(runs, runtypes.KindLLM)))
	}
	turn := roots[1]
	if !strings.Contains(string(turn.Inputs), "cron fired") || !strings.Contains(string(turn.Outputs), "Fast reply.") {
		t.Errorf("the turn was asked %s and said %s", turn.Inputs, turn.Outputs)
	}
	if origin := turn.Metadata()["turn_origin"]; origin != "scheduled" {
		t.Errorf("turn_origin is %v", origin)
	}
}
