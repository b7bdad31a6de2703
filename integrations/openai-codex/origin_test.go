package openaicodex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// triggered is the start of a turn that something else than a prompt began.
func triggered(turn, parent, trigger string) string {
	return fmt.Sprintf(`event_msg {"type":"task_started","turn_id":%q,"turn_attribution":{"turn_trigger":%q,"parent_turn_id":%s}}`, turn, trigger, parent)
}

// A goal begins turn after turn. It is told to the model in words of Codex's own: what it
// is at first, and to go on with it.
func TestATurnThatAGoalBeganSaysWhatTheModelWasTold(t *testing.T) {
	objective := func(turn string) string {
		return fmt.Sprintf(`response_item {"type":"function_call_output","name":"goal_objective","namespace":"agent","output":"count widgets","internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, turn)
	}
	goOn := func(turn string) string {
		return fmt.Sprintf(`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}],"internal_chat_message_metadata_passthrough":{"turn_id":%q,"content_item_kinds":["goal.internal_context"]}}`, turn)
	}
	x := tell(t, map[string]string{rolloutOf(rootID): write(metaLine(rootID, ""),
		triggered(turnID, "null", "goal"), contextLine(turnID), objective(turnID), goOn(turnID), sayLine(turnID, "1"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "1"),
		triggered(turnID2, "null", "goal"), contextLine(turnID2), goOn(turnID2), sayLine(turnID2, "2"), usageLine(turnID2, "r2", 20, 2))})
	x.event("SessionStart", start("startup"))
	x.event("Stop", names(turnID))
	x.own(integrations.Grew)
	x.event("Stop", names(turnID2))
	x.own(integrations.Grew) // the second is shown while it is on
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "root Codex Turn (open)")
	x.own(integrations.Idle)
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "root Codex Turn", "  llm Codex 20/2")
	wants := []string{
		`{"messages":[{"role":"user","content":"count widgets"}]}`,
		`{"messages":[{"role":"user","content":"count widgets"},{"role":"user","content":"go on"}]}`,
		`{"messages":[{"role":"user","content":"go on"}]}`,
		`{"messages":[{"role":"user","content":"go on"}]}`,
	}
	for i, id := range x.list[:min(len(wants), len(x.list))] {
		run, want := x.runs[id], wants[i]
		if string(run.Inputs) != want {
			t.Errorf("%s: inputs %s, want %s", run.Name, run.Inputs, want)
		}
		if origin := run.Metadata[agentkit.MetaOrigin]; run.Kind == "root" && origin != "goal" {
			t.Errorf("origin %v", origin)
		}
	}
}

// A client may begin a turn for one that went before, or for one of another thread.
func TestATurnThatAClientBeganForAnotherIsTheThreadsOwn(t *testing.T) {
	for _, parent := range []string{turnID, childT} {
		lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
		lines = append(lines, sayLine(turnID, "1"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "1"),
			triggered(turnID2, fmt.Sprintf("%q", parent), "automation"), contextLine(turnID2), userLine(rootID, turnID2, "more"), sayLine(turnID2, "2"), usageLine(turnID2, "r2", 20, 2), doneLine(turnID2, "2"))
		x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
		x.event("SessionStart", start("startup"))
		for _, turn := range []string{turnID, turnID2} {
			x.event("UserPromptSubmit", names(turn))
			x.event("Stop", names(turn))
		}
		x.own(integrations.Grew)
		check(t, x, "root Codex Turn", "  llm Codex 10/2", "root Codex Turn", "  llm Codex 20/2")
		if last := x.runs[x.list[len(x.list)-1]]; !strings.Contains(string(last.Inputs), "more") {
			t.Errorf("inputs %s", last.Inputs)
		}
	}
}
