package openaicodex

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations"
)

func check(t *testing.T, x *teller, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, x.told()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func start(source string) data { return data{Transcript: rolloutOf(rootID), Source: source} }
func names(turn string) data   { return data{Transcript: rolloutOf(rootID), Turn: turn} }

// opening is a turn up to its first answer.
func opening(turn string) []string {
	return []string{started(turn, ""), contextLine(turn), userLine(rootID, turn, "go")}
}

func TestAStopFinalisesATurnWhoseEndIsNotWritten(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "done"), usageLine(turnID, "r1", 10, 2))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	if !x.r.Status().Waiting {
		t.Error("after Stop nothing is waited for")
	}
	x.own(integrations.Idle)
	check(t, x, "root Codex Turn", "  llm Codex 10/2")

	// Another Stop hook let it go on: that is a root of its own, once.
	lines = append(lines, sayLine(turnID, "more"), usageLine(turnID, "r2", 20, 3), doneLine(turnID, "more"))
	x.src.files[rolloutOf(rootID)] = write(lines...)
	x.own(integrations.Grew)
	x.event("Stop", names(turnID))
	x.own(integrations.Grew, integrations.Dead)
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "root Codex Turn", "  llm Codex 20/3")
	first, second := x.runs[x.list[0]], x.runs[x.list[2]]
	if second.Metadata["continues_run_id"] != first.ID.String() {
		t.Errorf("continues %v, want %s", second.Metadata["continues_run_id"], first.ID)
	}
}

func TestATurnThatEndsAfterItWasClosedIsNotTwo(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "done"), usageLine(turnID, "r1", 10, 2))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.own(integrations.Idle)
	x.src.files[rolloutOf(rootID)] = write(append(lines, doneLine(turnID, "done"))...)
	x.own(integrations.Grew)
	check(t, x, "root Codex Turn", "  llm Codex 10/2")
	if s := x.r.Status(); s.Open != 0 {
		t.Errorf("%d left open", s.Open)
	}
}

func TestAKilledTurnIsCaughtUpAtTheNextStart(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, callLine(turnID, "c1", "exec_command", `{"cmd":"make"}`), usageLine(turnID, "r1", 10, 2))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	lines = append(lines, started(turnID2, ""))
	x.src.files[rolloutOf(rootID)] = write(lines...)
	x.event("SessionStart", start("resume"))
	check(t, x,
		"interrupted Codex Turn: Interrupted", "  llm Codex 10/2", "  tool exec_command: Interrupted")
}

func TestACommandThatOutlivesItsAnswerEndsWithItsItem(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines,
		callLine(turnID, "c1", "exec_command", `{"cmd":"make"}`), usageLine(turnID, "r1", 10, 2),
		outputLine(turnID, "c1", "Chunk ID: 1\nProcess running with session ID 7\nOutput:\n"),
		callLine(turnID, "c2", "write_stdin", `{"session_id":7}`), usageLine(turnID, "r2", 20, 2),
		commandLine(turnID, "c1", 2), outputLine(turnID, "c2", "Process exited with code 2\nOutput:\n"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.own(integrations.Grew)
	for _, id := range x.list {
		if run := x.runs[id]; run.Name == "exec_command" {
			if run.Error != "exit code 2" || run.End.Sub(run.Start).Milliseconds() != 50 {
				t.Errorf("%q after %s", run.Error, run.End.Sub(run.Start))
			}
			return
		}
	}
	t.Errorf("no command: %q", x.told())
}

func TestAScriptThatIsWaitedForKeepsWhatItRan(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines,
		scriptLine(turnID, "c1", "code"), usageLine(turnID, "r1", 10, 2),
		outputLine(turnID, "c1", "Script running with cell ID 1\nWall time 1 seconds\n"),
		callLine(turnID, "c2", "wait", `{"cell_id":"1"}`), usageLine(turnID, "r2", 20, 2),
		commandLine(turnID, "exec-1", 0), outputLine(turnID, "c2", "Script completed\n"),
		sayLine(turnID, "ok"), usageLine(turnID, "r3", 30, 2), doneLine(turnID, "ok"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "  llm Codex 20/2", "  llm Codex 30/2",
		"  tool exec", "  tool wait", "    tool exec_command")
}

func TestAGuardianIsFoundWithoutBeingNamed(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "ok"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "ok"))
	guardian := write(
		metaLine(childID, fmt.Sprintf(`,"session_id":%q,"parent_thread_id":%q,"source":{"subagent":{"other":"guardian"}}`, rootID, rootID)),
		started(childT, turnID), userLine(childID, childT, "is it safe"), sayLine(childT, "yes"), usageLine(childT, "r9", 5, 1), doneLine(childT, "yes"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), rolloutOf(childID): guardian})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "  subagent guardian Subagent", "    llm Codex 5/1")
}

func TestASubagentOfAnOlderVersionIsNoRootOfItsOwn(t *testing.T) {
	child := write(
		metaLine(childID, fmt.Sprintf(`,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q,"depth":1}}}`, rootID)),
		started(childT, ""), userLine(childID, childT, "count"), sayLine(childT, "1"), doneLine(childT, "1"))
	x := tell(t, map[string]string{rolloutOf(childID): child})
	d := data{Session: childID, Transcript: rolloutOf(childID), Source: "startup"}
	x.event("SessionStart", d)
	d.Turn = childT
	x.event("UserPromptSubmit", d)
	x.event("Stop", d)
	x.own(integrations.Grew, integrations.Dead)
	check(t, x)
}

func TestAnOrphanIsClosedWithItsProcess(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, callLine(turnID, "c1", "spawn_agent", `{"message":"count"}`), usageLine(turnID, "r1", 10, 2),
		fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"SubAgentActivity","id":"c1","kind":"started","agent_thread_id":%q}}`, turnID, childID),
		outputLine(turnID, "c1", "{}"), sayLine(turnID, "ok"), usageLine(turnID, "r2", 20, 2), doneLine(turnID, "ok"))
	child := write(
		metaLine(childID, fmt.Sprintf(`,"parent_thread_id":%q,"source":{"subagent":{"thread_spawn":{}}}`, rootID)),
		started(childT, turnID), sayLine(childT, "counting"), usageLine(childT, "r9", 5, 1))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), rolloutOf(childID): child})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	if s := x.r.Status(); s.Open != 1 || len(s.Watch) != 2 {
		t.Errorf("status %+v, want the subagent open and both files watched", s)
	}
	x.own(integrations.Dead)
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "  llm Codex 20/2", "  tool spawn_agent",
		"    subagent default Subagent: Interrupted", "      llm Codex 5/1")
}

func TestASubagentThatIsToldToGoOnHangsUnderTheLaterTurn(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, callLine(turnID, "c1", "spawn_agent", `{"message":"count"}`), usageLine(turnID, "r1", 10, 2),
		fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"SubAgentActivity","id":"c1","kind":"started","agent_thread_id":%q}}`, turnID, childID),
		outputLine(turnID, "c1", "{}"), doneLine(turnID, "ok"))
	lines = append(lines, opening(turnID2)...)
	lines = append(lines, callLine(turnID2, "c1", "send_input", `{}`), usageLine(turnID2, "r2", 20, 2), outputLine(turnID2, "c1", "{}"), doneLine(turnID2, "ok"))
	again := "01a22ab2-5d10-7002-a71b-5ecf06410e34"
	child := write(
		metaLine(childID, fmt.Sprintf(`,"parent_thread_id":%q,"source":{"subagent":{"thread_spawn":{}}}`, rootID)),
		started(childT, turnID), sayLine(childT, "1"), usageLine(childT, "r8", 5, 1), doneLine(childT, "1"),
		started(again, turnID2), sayLine(again, "2"), usageLine(again, "r9", 6, 1), doneLine(again, "2"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), rolloutOf(childID): child})
	x.event("SessionStart", start("startup"))
	for _, turn := range []string{turnID, turnID2} {
		x.event("UserPromptSubmit", names(turn))
		x.event("Stop", names(turn))
	}
	x.own(integrations.Grew)
	var second string
	for _, id := range x.list {
		if run := x.runs[id]; run.Kind == "subagent" {
			second = run.TraceID.String()
		}
	}
	if root := x.runs[second]; root == nil || root.Identity.TurnID != turnID2 {
		t.Error("the second turn of the subagent is not below the turn that told it")
	}
}

func TestANotifyAloneTracesItsTurn(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "one"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "one"))
	lines = append(lines, opening(turnID2)...)
	lines = append(lines, sayLine(turnID2, "two"), usageLine(turnID2, "r2", 20, 2), doneLine(turnID2, "two"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event(notified, data{Turn: turnID2, Home: home})
	x.own(integrations.Grew)
	check(t, x, "root Codex Turn", "  llm Codex 20/2")
	if n := x.runs[x.list[0]].Identity.TurnNumber; n != 2 {
		t.Errorf("turn number %d, want 2: the thread had one before", n)
	}
	// Codex finds titles in threads without a rollout, and tells of them too.
	title := tell(t, map[string]string{})
	title.event(notified, data{Session: childID, Turn: childT, Home: home})
	title.own(integrations.Dead)
	check(t, title)
}

func TestAResumedThreadHasAPastThatIsNotOurs(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "one"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "one"), started(turnID2, ""))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("resume"))
	lines = append(lines, contextLine(turnID2), userLine(rootID, turnID2, "again"), sayLine(turnID2, "two"), usageLine(turnID2, "r2", 20, 2), doneLine(turnID2, "two"))
	x.src.files[rolloutOf(rootID)] = write(lines...)
	x.event("UserPromptSubmit", names(turnID2))
	x.event("Stop", names(turnID2))
	x.event("SessionEnd", data{Transcript: rolloutOf(rootID)})
	x.own(integrations.Grew)
	check(t, x, "root Codex Turn", "  llm Codex 20/2")

	ended := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	ended.event("SessionEnd", data{Transcript: rolloutOf(rootID)}) // opened, looked at, closed
	ended.own(integrations.Grew, integrations.Dead)
	check(t, ended)
}

// Of a thread that begins with commands the user types, the first hook may be that of
// one that is interrupted.
func TestCommandsBeforeTheFirstHookAreOurs(t *testing.T) {
	shell := func(turn, id string, code int) []string {
		return []string{started(turn, ""), fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"CommandExecution","id":%q,"source":"user_shell","command":["ls"],"exit_code":%d}}`, turn, id, code)}
	}
	lines := append([]string{metaLine(rootID, "")}, shell(turnID, "i1", 0)...)
	lines = append(append(lines, doneLine(turnID, "")), shell(turnID2, "i2", -1)...)
	lines = append(lines, fmt.Sprintf(`event_msg {"type":"turn_aborted","turn_id":%q,"reason":"interrupted"}`, turnID2))
	third := "01a22ab2-6c86-7002-a71b-5ecf06410e38"
	lines = append(append(lines, opening(third)...), sayLine(third, "ok"), usageLine(third, "r1", 10, 2), doneLine(third, "ok"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("Interrupt", names(turnID2))
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(third))
	x.event("Stop", names(third))
	x.sorted("root Codex Turn", "  tool exec_command", "interrupted Codex Turn: Interrupted by user", "  tool exec_command: exit code -1",
		"root Codex Turn", "  llm Codex 10/2")
}

func TestARollbackGoesOnInAnotherFile(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "one"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "one"))
	second := strings.TrimSuffix(rolloutOf(rootID), ".jsonl") + "_01a22ab2-5000-7002-a71b-5ecf06410e31.jsonl"
	more := append([]string{metaLine(rootID, fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":2}`, rootID))}, opening(turnID2)...)
	more = append(more, sayLine(turnID2, "two"), usageLine(turnID2, "r2", 20, 2), doneLine(turnID2, "two"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), second: write(more...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.event("SessionEnd", data{Transcript: rolloutOf(rootID)})
	x.event("SessionStart", data{Transcript: second, Source: "resume"})
	x.event("UserPromptSubmit", data{Transcript: second, Turn: turnID2})
	x.event("Stop", data{Transcript: second, Turn: turnID2})
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "root Codex Turn", "  llm Codex 20/2")
	if n := x.runs[x.list[2]].Identity.TurnNumber; n != 2 {
		t.Errorf("turn number %d after a rollback, want 2", n)
	}
}

func TestOnlyWhatIsNewIsRead(t *testing.T) {
	lines := []string{metaLine(rootID, "")}
	ids := make([]string, 60)
	for i := range ids {
		ids[i] = fmt.Sprintf("01a22ab2-%04x-7002-a71b-5ecf06410e31", 0x4c86+i)
		lines = append(lines, opening(ids[i])...)
		lines = append(lines, sayLine(ids[i], strings.Repeat("x", 5000)), usageLine(ids[i], "r", 10, 2), doneLine(ids[i], "x"))
	}
	whole := write(lines...)
	x := tell(t, map[string]string{rolloutOf(rootID): whole})
	x.event("SessionStart", start("startup"))
	for _, id := range ids {
		x.event("UserPromptSubmit", names(id))
		x.event("Stop", names(id))
	}
	// Every event is told to a new process here, which reads an open turn from its
	// beginning: but nothing before it.
	if limit := int64(5 * len(whole)); x.src.read > limit {
		t.Errorf("read %d bytes of a rollout of %d", x.src.read, len(whole))
	}
	if len(x.list) != 2*len(ids) {
		t.Errorf("%d runs, want %d", len(x.list), 2*len(ids))
	}
}

func TestALongTurnIsNotRepeatedByEveryCall(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	for i := range 150 {
		id := fmt.Sprintf("c%d", i)
		lines = append(lines, callLine(turnID, id, "exec_command", `{"cmd":"make"}`), usageLine(turnID, "r"+id, 10, 2), outputLine(turnID, id, strings.Repeat("x", 20_000)))
	}
	lines = append(lines, doneLine(turnID, "ok"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	total := 0
	for _, run := range x.runs {
		total += len(run.Inputs)
	}
	if total > 2*maxRepeated {
		t.Errorf("%d bytes of inputs", total)
	}
}

func TestUsageIsTheChangeOfTheTotalWhereCallsAreNotRecorded(t *testing.T) {
	count := func(in, out int) string {
		return fmt.Sprintf(`event_msg {"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"output_tokens":%d},"last_token_usage":{"input_tokens":999,"output_tokens":9}}}`, in, out)
	}
	lines := append([]string{metaLine(rootID, ""), count(100, 10)}, opening(turnID)...) // a fork begins with the old total
	lines = append(lines, count(100, 10), callLine(turnID, "c1", "exec_command", `{}`), outputLine(turnID, "c1", "x"), count(150, 15), count(150, 15),
		sayLine(turnID, "ok"), count(210, 17), `event_msg {"type":"token_count","info":null}`, doneLine(turnID, "ok"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	check(t, x, "root Codex Turn", "  llm Codex 50/5", "  llm Codex 60/2", "  tool exec_command")
}

func TestProjectKeepsContentOnlyWithoutARollout(t *testing.T) {
	body := []byte(`{"session_id":"s","turn_id":"t","hook_event_name":"UserPromptSubmit","transcript_path":"/r.jsonl","prompt":"secret plan"}`)
	for exists, want := range map[bool]string{true: "", false: "secret plan"} {
		raw, err := project(integrations.Payload{Body: body, Exists: func(string) bool { return exists }})
		if err != nil {
			t.Fatal(err)
		}
		var d data
		if err := json.Unmarshal(raw, &d); err != nil || d.Text != want {
			t.Errorf("exists %v: kept %q (%v)", exists, d.Text, err)
		}
	}
	notify := []byte(`{"type":"agent-turn-complete","thread-id":"th","turn-id":"tu","cwd":"/w","input-messages":["secret"],"last-assistant-message":"secret"}`)
	route, err := peek(integrations.Payload{Body: notify, Parent: 7})
	if err != nil || route.Event != notified || route.Session != "th" || route.CWD != "/w" || route.PID != 0 {
		t.Errorf("route %+v, %v", route, err)
	}
	raw, err := project(integrations.Payload{Body: notify, Env: func(key string) string { return map[string]string{"HOME": "/home/dev"}[key] }})
	if err != nil || strings.Contains(string(raw), "secret") || !strings.Contains(string(raw), "/home/dev/.codex") {
		t.Errorf("kept %s, %v", raw, err)
	}
	route, err = peek(integrations.Payload{Body: body, Parent: 7})
	if err != nil || route.PID != 7 {
		t.Errorf("route %+v, %v: the hook's parent is the agent", route, err)
	}
}

func TestRemotesLoseTheirCredentials(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := cleanRemote(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	f("https://user:token@github.com/acme/widgets.git?x=1", "https://github.com/acme/widgets.git")
	f("git@github.com:acme/widgets.git", "git@github.com:acme/widgets.git")
	f("/srv/git/widgets", "")
	f(`C:\git\widgets`, "")
	f("../widgets", "")
}

func TestALongRolloutIsToldInPieces(t *testing.T) {
	lines := []string{metaLine(rootID, "")}
	var last string
	const turns = 40
	for i := range turns {
		last = fmt.Sprintf("01a22ab2-%04x-7002-a71b-5ecf06410e31", 0x4c86+i)
		lines = append(lines, opening(last)...)
		lines = append(lines, sayLine(last, strings.Repeat("x", 200_000)), usageLine(last, "r", 10, 2), doneLine(last, "x"))
	}
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("Stop", names(last)) // the other turns' hooks were lost
	if s := x.r.Status(); !s.More || !s.Waiting || len(x.list) > turns {
		t.Errorf("%d runs at once, more %v, waiting %v", len(x.list), s.More, s.Waiting)
	}
	for range turns {
		if !x.r.Status().More {
			break
		}
		x.own(integrations.Grew)
	}
	x.own(integrations.Grew)
	if len(x.list) != 2*turns || x.r.Status().Open != 0 {
		t.Errorf("%d runs, %d left open", len(x.list), x.r.Status().Open)
	}
}
