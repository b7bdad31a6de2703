package openaicodex

import (
	"fmt"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

// guardianLines is what a guardian writes of one look at a call: it has a prompt, and
// no item that says so.
func guardianLines(turn, of string, in int) []string {
	return []string{
		started(turn, of),
		fmt.Sprintf(`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"is it safe?"}],"internal_chat_message_metadata_passthrough":{"turn_id":%q,"content_item_kinds":["user.text"]}}`, turn),
		sayLine(turn, "yes"), usageLine(turn, "g"+turn, in, 1), doneLine(turn, "yes"),
	}
}

func guardianMeta(id string) string {
	return metaLine(id, fmt.Sprintf(`,"session_id":%q,"parent_thread_id":%q,"source":{"subagent":{"other":"guardian"}}`, rootID, rootID))
}

// Its thread is made with the process, before any turn, and works for several.
func TestAGuardianWorksForTheTurnsItNames(t *testing.T) {
	const (
		early = "01a22ab2-4c70-7b03-b35d-b12d169c82f5" // after the thread, before its first turn
		again = "01a22ab2-5d10-7002-a71b-5ecf06410e34"
	)
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "ok"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "ok"))
	lines = append(lines, opening(turnID2)...)
	lines = append(lines, sayLine(turnID2, "ok"), usageLine(turnID2, "r2", 20, 2), doneLine(turnID2, "ok"))
	f := func(name string, guardian []string, want ...string) {
		t.Helper()
		x := tell(t, map[string]string{
			rolloutOf(rootID): write(lines...), rolloutOf(early): write(append([]string{guardianMeta(early)}, guardian...)...),
			rolloutOf(childID): write(metaLine(childID, ""), started(childT, "")), // somebody else's thread
		})
		x.event("SessionStart", start("startup"))
		for _, turn := range []string{turnID, turnID2} {
			x.event("UserPromptSubmit", names(turn))
			x.event("Stop", names(turn))
		}
		x.own(integrations.Grew, integrations.Dead)
		t.Log(name)
		check(t, x, want...)
		for _, id := range x.list {
			if run := x.runs[id]; run.Kind == "subagent" && string(run.Inputs) != `{"messages":[{"role":"user","content":"is it safe?"}]}` {
				t.Errorf("%s: the guardian's inputs are %s", name, run.Inputs)
			}
		}
	}
	first, second := guardianLines(childT, turnID, 5), guardianLines(again, turnID2, 6)
	f("in both", append(first, second...),
		"root Codex Turn", "  llm Codex 10/2", "  subagent guardian Subagent", "    llm Codex 5/1",
		"root Codex Turn", "  llm Codex 20/2", "  subagent guardian Subagent", "    llm Codex 6/1")
	f("in the second only", second,
		"root Codex Turn", "  llm Codex 10/2", "root Codex Turn", "  llm Codex 20/2", "  subagent guardian Subagent", "    llm Codex 6/1")
	f("in one that is not ours", append(guardianLines(childT, "01a22ab2-4c71-7002-a71b-5ecf06410e30", 5), second...),
		"root Codex Turn", "  llm Codex 10/2", "root Codex Turn", "  llm Codex 20/2", "  subagent guardian Subagent", "    llm Codex 6/1")
}

// The hook that tells of a review names the review's own file, and no other comes if
// the process is killed.
func TestAReviewThatIsKilledIsInterrupted(t *testing.T) {
	root := write(metaLine(rootID, ""), started(childT, turnID),
		fmt.Sprintf(`event_msg {"type":"item_completed","thread_id":%q,"turn_id":%q,"item":{"type":"EnteredReviewMode","id":"e","user_facing_hint":"current changes"}}`, rootID, turnID))
	review := write(
		metaLine(childID, fmt.Sprintf(`,"session_id":%q,"parent_thread_id":%q,"source":{"subagent":"review"}`, rootID, rootID)),
		started(childT, turnID), userLine(childID, childT, "review it"), sayLine(childT, "looking"), usageLine(childT, "r9", 5, 1))
	x := tell(t, map[string]string{rolloutOf(rootID): root, rolloutOf(childID): review})
	x.event("UserPromptSubmit", data{Transcript: rolloutOf(childID), Turn: childT})
	x.own(integrations.Grew)
	check(t, x)
	x.own(integrations.Dead)
	check(t, x, "interrupted Codex Turn: Interrupted: the process ended", "  subagent review Subagent: Interrupted", "    llm Codex 5/1")
}

// What a dead process left is closed also where the last look is the first to find it.
// Everything may be on disk when the outermost turn is over.
func TestAnInnerSubagentHangsUnderTheCallThatStartedIt(t *testing.T) {
	const innerID, innerT = "01a22ab2-4ca0-7b03-b35d-b12d169c82f4", "01a22ab2-4ca5-7002-a71b-5ecf06410e37"
	spawn := func(turn, thread string) []string {
		return []string{
			callLine(turn, "c1", "spawn_agent", `{"message":"count"}`), usageLine(turn, "r"+turn, 10, 2),
			fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"SubAgentActivity","id":"c1","kind":"started","agent_thread_id":%q}}`, turn, thread),
			outputLine(turn, "c1", "{}"), doneLine(turn, "ok"),
		}
	}
	meta := func(id, parent string) string {
		return metaLine(id, fmt.Sprintf(`,"session_id":%q,"parent_thread_id":%q,"source":{"subagent":{"thread_spawn":{}}}`, rootID, parent))
	}
	root := append(append([]string{metaLine(rootID, "")}, opening(turnID)...), spawn(turnID, childID)...)
	child := append([]string{meta(childID, rootID), started(childT, turnID)}, spawn(childT, innerID)...)
	x := tell(t, map[string]string{
		rolloutOf(rootID): write(root...), rolloutOf(childID): write(child...),
		rolloutOf(innerID): write(meta(innerID, childID),
			fmt.Sprintf(`event_msg {"type":"task_started","turn_id":%q,"turn_attribution":{"parent_turn_id":%q,"root_turn_id":%q}}`, innerT, childT, turnID),
			sayLine(innerT, "2"), usageLine(innerT, "r9", 5, 1), doneLine(innerT, "2")),
	})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.sorted("root Codex Turn", "  llm Codex 10/2", "  tool spawn_agent", "    subagent default Subagent", "      llm Codex 10/2",
		"      tool spawn_agent", "        subagent default Subagent", "          llm Codex 5/1")
}

// Before there were items a review was told by an event, and the start of the thread
// that works for it, noted in the file that asked, does not say whose it is.
func TestAReviewOfAnOlderVersionIsATurnWithASubagent(t *testing.T) {
	lines := []string{
		metaLine(rootID, ""),
		fmt.Sprintf(`event_msg {"type":"entered_review_mode","turn_id":%q,"user_facing_hint":"current changes"}`, turnID),
		started(childT, ""), `event_msg {"type":"user_message","message":"Review the changes."}`,
		fmt.Sprintf(`event_msg {"type":"exited_review_mode","turn_id":%q}`, turnID), sayLine(turnID, "Fine."), doneLine(turnID, ""),
	}
	child := write(metaLine(childID, fmt.Sprintf(`,"parent_thread_id":%q,"source":{"subagent":"review"}`, rootID)),
		started(childT, ""), userLine(childID, childT, "Review the changes."), sayLine(childT, "Fine."), usageLine(childT, "r1", 5, 1), doneLine(childT, "Fine."))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), rolloutOf(childID): child})
	x.event("UserPromptSubmit", data{Transcript: rolloutOf(childID), Turn: childT})
	x.event("SessionEnd", data{Transcript: rolloutOf(rootID)})
	x.own(integrations.Grew)
	check(t, x, "root Codex Turn", "  subagent review Subagent", "    llm Codex 5/1")
}

func TestWhatIsFoundAtTheEndIsClosedAtTheEnd(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "ok"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "ok"), started(turnID2, ""),
		fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"CommandExecution","id":"u1","source":"user_shell","command":["ls"],"exit_code":0}}`, turnID2))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.own(integrations.Dead)
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "interrupted Codex Turn: Interrupted: the process ended", "  tool exec_command")
	if s := x.r.Status(); s.Open != 0 || s.Waiting {
		t.Errorf("status %+v of a process that is gone", s)
	}
}

func TestASubagentOfAnOlderVersionHangsUnderTheCallThatStartedIt(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, callLine(turnID, "c1", "spawn_agent", `{"message":"count"}`), usageLine(turnID, "r1", 10, 2),
		outputLine(turnID, "c1", fmt.Sprintf(`{"agent_id":%q,"nickname":"Newton"}`, childID)), sayLine(turnID, "ok"), usageLine(turnID, "r2", 20, 2), doneLine(turnID, "ok"))
	child := write(
		metaLine(childID, fmt.Sprintf(`,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q,"depth":1}}}`, rootID)),
		started(childT, ""), userLine(childID, childT, "count"), sayLine(childT, "1"), usageLine(childT, "r9", 5, 1), doneLine(childT, "1"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), rolloutOf(childID): child})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.own(integrations.Grew)
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "  llm Codex 20/2", "  tool spawn_agent", "    subagent default Subagent", "      llm Codex 5/1")
}

// Older versions end a turn that failed as any other, but without a last message.
func TestAFailedTurnOfAnOlderVersionIsOneWithoutALastMessage(t *testing.T) {
	f := func(end, want string) {
		t.Helper()
		lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
		lines = append(lines, sayLine(turnID, "Listing."), callLine(turnID, "c1", "exec_command", `{}`), usageLine(turnID, "r1", 10, 2),
			outputLine(turnID, "c1", "README"), fmt.Sprintf(end, turnID))
		x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
		x.event("SessionStart", start("startup"))
		x.own(integrations.Grew)
		check(t, x, "root Codex Turn"+want, "  llm Codex 10/2", "  tool exec_command")
	}
	f(`event_msg {"type":"task_complete","turn_id":%q,"last_agent_message":null,"completed_at":1796068638}`, ": the turn ended without an answer")
	f(`event_msg {"type":"task_complete","turn_id":%q,"last_agent_message":"Listing.","completed_at":1796068638}`, "")
	f(`event_msg {"type":"task_complete","turn_id":%q,"last_agent_message":null,"started_at":1796068637,"completed_at":1796068638}`, "")
}
