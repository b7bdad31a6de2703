package openaicodex

import (
	"fmt"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

const againT = "01a22ab2-5d10-7002-a71b-5ecf06410e34" // of the child, in the second turn

func childMeta() string {
	return metaLine(childID, fmt.Sprintf(`,"session_id":%q,"parent_thread_id":%q,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q}}}`, rootID, rootID, rootID))
}

// activity is what the program notes of a call that concerns a subagent.
func activity(turn, call, kind string) string {
	return fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"SubAgentActivity","id":%q,"kind":%q,"agent_thread_id":%q}}`, turn, call, kind, childID)
}

// asks is a turn in which the subagent is told something by one call.
func asks(turn, call, name, kind string, in int) []string {
	return append(opening(turn),
		callLine(turn, call, name, `{"message":"`+name+` it"}`), usageLine(turn, "r"+turn, in, 2), activity(turn, call, kind), outputLine(turn, call, ""),
		sayLine(turn, "ok"), usageLine(turn, "s"+turn, in+1, 2), doneLine(turn, "ok"))
}

// answers is a turn of the subagent that says of itself only which turn it works for.
func answers(turn, of string, in int) []string {
	return []string{started(turn, of), sayLine(turn, "1"), usageLine(turn, "c"+turn, in, 1), doneLine(turn, "1")}
}

func (x *teller) inputsOf(name string) []string {
	var list []string
	for _, id := range x.list {
		if run := x.runs[id]; run.Name == name {
			list = append(list, string(run.Inputs))
		}
	}
	return list
}

func lines(parts ...[]string) string {
	all := []string{metaLine(rootID, "")}
	for _, p := range parts {
		all = append(all, p...)
	}
	return write(all...)
}

// A process that is killed leaves a subagent at work. The next one may ask it again, and
// is not gone.
func TestASubagentOfADeadProcessMayBeAskedByTheNext(t *testing.T) {
	first, second := asks(turnID, "c1", "spawn_agent", "started", 10), asks(turnID2, "c1", "followup_task", "interacted", 20)
	before := []string{childMeta(), started(childT, turnID), sayLine(childT, "counting"), usageLine(childT, "c1", 5, 1)}
	after := append(before[:len(before):len(before)], answers(againT, turnID2, 6)...)
	x := tell(t, map[string]string{rolloutOf(rootID): lines(first), rolloutOf(childID): write(before...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.event("SessionStart", start("resume"))
	x.event("UserPromptSubmit", names(turnID2))
	x.src.files[rolloutOf(rootID)] = lines(first, second[:len(second)-2])
	x.src.files[rolloutOf(childID)] = write(after[:len(after)-1]...)
	x.own(integrations.Grew)
	x.src.files[rolloutOf(rootID)] = lines(first, second)
	x.src.files[rolloutOf(childID)] = write(after...)
	x.event("Stop", names(turnID2))
	x.own(integrations.Grew)
	x.sorted("root Codex Turn", "  llm Codex 10/2", "  tool spawn_agent",
		"    subagent default Subagent: Interrupted", "      llm Codex 5/1", "  llm Codex 11/2",
		"root Codex Turn", "  llm Codex 20/2", "  tool followup_task",
		"    subagent default Subagent", "      llm Codex 6/1", "  llm Codex 21/2")
}

// Where tracing began later, or so many subagents came between that one was forgotten,
// what it did before is not told again.
func TestASubagentThatWasNotKnownIsTracedFromWhenItIsAsked(t *testing.T) {
	root := lines(asks(turnID, "c1", "spawn_agent", "started", 10), asks(turnID2, "c1", "followup_task", "interacted", 20))
	x := tell(t, map[string]string{
		rolloutOf(rootID):  root,
		rolloutOf(childID): write(append(append([]string{childMeta()}, answers(childT, turnID, 5)...), answers(againT, turnID2, 6)...)...),
	})
	x.event("SessionStart", start("resume"))
	x.event("UserPromptSubmit", names(turnID2))
	x.event("Stop", names(turnID2))
	x.own(integrations.Grew)
	x.sorted("root Codex Turn", "  llm Codex 20/2", "  tool followup_task", "    subagent default Subagent", "      llm Codex 6/1", "  llm Codex 21/2")
	if got := fmt.Sprint(x.inputsOf("default Subagent")); got != `[{"messages":[{"role":"user","content":"followup_task it"}]}]` {
		t.Errorf("it was asked %s", got)
	}
}

// A message waits for the next task: it begins no turn.
func TestAMessageToASubagentBeginsNoTurn(t *testing.T) {
	turn := append(opening(turnID2),
		callLine(turnID2, "c1", "followup_task", `{"message":"go on"}`), usageLine(turnID2, "r1", 20, 2), activity(turnID2, "c1", "interacted"), outputLine(turnID2, "c1", ""),
		callLine(turnID2, "c2", "send_message", `{"message":"it is Monday"}`), usageLine(turnID2, "r2", 21, 2), activity(turnID2, "c2", "interacted"), outputLine(turnID2, "c2", ""),
		sayLine(turnID2, "ok"), usageLine(turnID2, "r3", 22, 2), doneLine(turnID2, "ok"))
	x := tell(t, map[string]string{
		rolloutOf(rootID):  lines(asks(turnID, "c1", "spawn_agent", "started", 10), turn),
		rolloutOf(childID): write(append(append([]string{childMeta()}, answers(childT, turnID, 5)...), answers(againT, turnID2, 6)...)...),
	})
	x.event("SessionStart", start("startup"))
	for _, id := range []string{turnID, turnID2} {
		x.event("UserPromptSubmit", names(id))
		x.event("Stop", names(id))
	}
	x.own(integrations.Grew)
	x.sorted("root Codex Turn", "  llm Codex 10/2", "  tool spawn_agent", "    subagent default Subagent", "      llm Codex 5/1", "  llm Codex 11/2",
		"root Codex Turn", "  llm Codex 20/2", "  tool followup_task", "    subagent default Subagent", "      llm Codex 6/1", "  llm Codex 21/2",
		"  tool send_message", "  llm Codex 22/2")
}

// Versions without items tell of a further message in the answer of its call alone, and
// their subagents do not say for which turn they work. Some providers give the calls of
// each reply the same ids.
func TestASubagentOfAnOlderVersionHangsUnderTheCallThatAskedIt(t *testing.T) {
	root := append(opening(turnID),
		callLine(turnID, "c1", "spawn_agent", `{"message":"count"}`), usageLine(turnID, "r1", 10, 2),
		outputLine(turnID, "c1", fmt.Sprintf(`{"agent_id":%q}`, childID)),
		callLine(turnID, "c1", "send_input", fmt.Sprintf(`{"id":%q,"message":"count again"}`, childID)), usageLine(turnID, "r2", 11, 2),
		outputLine(turnID, "c1", fmt.Sprintf(`{"submission_id":%q}`, againT)),
		sayLine(turnID, "ok"), usageLine(turnID, "r3", 12, 2), doneLine(turnID, "ok"))
	x := tell(t, map[string]string{
		rolloutOf(rootID): lines(root),
		rolloutOf(childID): write(append(append(
			[]string{metaLine(childID, fmt.Sprintf(`,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q,"depth":1}}}`, rootID))},
			answers(childT, "", 5)...), answers(againT, "", 6)...)...),
	})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.own(integrations.Grew)
	x.sorted("root Codex Turn", "  llm Codex 10/2", "  tool spawn_agent", "    subagent default Subagent", "      llm Codex 5/1",
		"  llm Codex 11/2", "  tool send_input", "    subagent default Subagent", "      llm Codex 6/1", "  llm Codex 12/2")
}

func TestASubagentThatIsAskedAgainRemembers(t *testing.T) {
	x := tell(t, map[string]string{
		rolloutOf(rootID):  lines(asks(turnID, "c1", "spawn_agent", "started", 10), asks(turnID2, "c1", "followup_task", "interacted", 20)),
		rolloutOf(childID): write(append(append([]string{childMeta()}, answers(childT, turnID, 5)...), answers(againT, turnID2, 6)...)...),
	})
	x.r = newReducer(integrations.Options{Inputs: integrations.InputsThread})
	x.event("SessionStart", start("startup"))
	for _, id := range []string{turnID, turnID2} {
		x.event("UserPromptSubmit", names(id))
		x.event("Stop", names(id))
	}
	x.own(integrations.Grew)
	for _, id := range x.list {
		if run := x.runs[id]; run.Usage != nil && run.Usage.Input == 6 {
			if got := string(run.Inputs); got != `{"messages":[{"role":"assistant","content":[{"type":"text","text":"1"}]},{"role":"user","content":"followup_task it"}]}` {
				t.Errorf("it is told %s", got)
			}
		}
	}
}
