package openaicodex

import (
	"fmt"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

// Codex notes what a script ran when that has ended: behind the end of a turn that was
// interrupted, or behind turns that follow.
func TestWhatAnInterruptedScriptRanIsBelowIt(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines,
		scriptLine(turnID, "c1", "code"), usageLine(turnID, "r1", 10, 2),
		outputLine(turnID, "c1", "aborted by user after 1.4s"),
		fmt.Sprintf(`event_msg {"type":"turn_aborted","turn_id":%q,"reason":"interrupted"}`, turnID))
	between := append(lines[:len(lines):len(lines)], opening(turnID2)...)
	between = append(between, sayLine(turnID2, "ok"), usageLine(turnID2, "r2", 20, 2))
	whole := append(between[:len(between):len(between)], commandLine(turnID, "exec-1", -1), doneLine(turnID2, "ok"))
	want := []string{
		"interrupted Codex Turn: Interrupted by user", "  llm Codex 10/2", "  tool exec: Interrupted by user",
		"    tool exec_command: exit code -1",
		"root Codex Turn", "  llm Codex 20/2",
	}
	f := func(parts ...[]string) {
		t.Helper()
		x := tell(t, map[string]string{rolloutOf(rootID): write(parts[0]...)})
		x.event("SessionStart", start("startup"))
		x.event("UserPromptSubmit", names(turnID))
		x.event("Interrupt", names(turnID))
		for _, part := range parts {
			x.src.files[rolloutOf(rootID)] = write(part...)
			x.own(integrations.Grew)
		}
		x.event("UserPromptSubmit", names(turnID2))
		x.event("Stop", names(turnID2))
		x.own(integrations.Grew)
		x.sorted(want...)
	}
	f(lines, between, whole)
	f(lines, whole)
	f(whole)
}

// A subagent's file tells of its scripts too.
func TestWhatAScriptOfAnInterruptedSubagentRanIsBelowIt(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, callLine(turnID, "c1", "spawn_agent", `{"message":"count"}`), usageLine(turnID, "r1", 10, 2),
		fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"SubAgentActivity","id":"c1","kind":"started","agent_thread_id":%q}}`, turnID, childID),
		outputLine(turnID, "c1", "{}"), sayLine(turnID, "ok"), usageLine(turnID, "r2", 20, 2), doneLine(turnID, "ok"))
	child := []string{
		metaLine(childID, fmt.Sprintf(`,"parent_thread_id":%q,"source":{"subagent":{"thread_spawn":{}}}`, rootID)),
		started(childT, turnID), scriptLine(childT, "c1", "code"), usageLine(childT, "r9", 5, 1), outputLine(childT, "c1", "aborted by user after 1.4s"),
		fmt.Sprintf(`event_msg {"type":"turn_aborted","turn_id":%q,"reason":"interrupted"}`, childT),
	}
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), rolloutOf(childID): write(child...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.src.files[rolloutOf(childID)] = write(append(child, commandLine(childT, "exec-1", -1))...)
	x.event("SessionEnd", data{Transcript: rolloutOf(rootID)})
	x.own(integrations.Grew)
	x.sorted("root Codex Turn", "  llm Codex 10/2", "  tool spawn_agent",
		"    subagent default Subagent: Interrupted by user", "      llm Codex 5/1", "      tool exec: Interrupted by user",
		"        tool exec_command: exit code -1", "  llm Codex 20/2")
}

// Codex's words for a tool that was stopped may be a command's own output.
func TestOnlyCodexSaysThatAToolWasStopped(t *testing.T) {
	for text, want := range map[string]bool{
		"aborted by user after 1.4s":                                  true,
		"Wall time: 2.4 seconds\naborted by user":                     true,
		"command aborted by user":                                     true,
		"Process exited with code 0\nOutput:\nbackup aborted by user": false,
		"aborted by user request":                                     false,
	} {
		if aborted(text) != want {
			t.Errorf("%q: stopped %v, want %v", text, !want, want)
		}
	}
}
