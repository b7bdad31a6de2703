package openaicodex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

// After a rollback a thread goes on in another file. The end of the process before it
// may be told when the next one is at work.
func TestAHookThatComesLateDoesNotLeadBackToAnOlderFile(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	lines = append(lines, sayLine(turnID, "one"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "one"))
	second := strings.TrimSuffix(rolloutOf(rootID), ".jsonl") + "_01a22ab2-5000-7002-a71b-5ecf06410e31.jsonl"
	more := append([]string{metaLine(rootID, fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":2}`, rootID))}, opening(turnID2)...)
	more = append(more, sayLine(turnID2, "two"), usageLine(turnID2, "r2", 20, 2), doneLine(turnID2, "two"))
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...), second: write(more...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("SessionStart", data{Transcript: second, Source: "resume"})
	x.event("UserPromptSubmit", data{Transcript: second, Turn: turnID2})
	x.event("Stop", names(turnID))
	x.event("SessionEnd", data{Transcript: rolloutOf(rootID)})
	if x.r.Status().Ended {
		t.Error("the session ended with the process before this one")
	}
	x.event("Stop", data{Transcript: second, Turn: turnID2})
	x.own(integrations.Grew, integrations.Dead)
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "root Codex Turn", "  llm Codex 20/2")
}
