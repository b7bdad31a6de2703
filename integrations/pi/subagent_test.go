package pi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// childLine reports whether a line of the recording task is its subagent's.
func childLine(l string) bool { return strings.Contains(l, `"pid":2861`) }

// untilTheSubagentsTool is the recording task up to where its subagent runs a tool.
func untilTheSubagentsTool(lines []string) []string {
	for i, l := range lines {
		if childLine(l) && has(l, "tool_execution_start") {
			return lines[:i+1]
		}
	}
	return nil
}

// An interrupt from the terminal kills a Pi and those that it started alike, and each of
// them is heard to go.
func TestASubagentThatIsKilledWithItsParentIsUnderItsCall(t *testing.T) {
	runs := edited(t, "task", untilTheSubagentsTool)
	root := one(t, runs, runtypes.KindInterrupted)
	sub := one(t, runs, runtypes.KindSubagent)
	for _, r := range runs {
		if r.TraceID != root.ID || r.EndTime == "" {
			t.Errorf("%s %s is in trace %s and ends %q", r.Kind(), r.Name, r.TraceID, r.EndTime)
		}
		if r.ID == sub.ParentRunID && r.Name != "subagent" {
			t.Errorf("the subagent hangs under %s %s", r.Kind(), r.Name)
		}
	}
	if sub.Metadata()["ls_is_error_interrupt"] != true {
		t.Errorf("the subagent has error %q", sub.Error)
	}
}

// Where only the Pi that a user started is killed, its subagent goes on by itself.
func TestASubagentMayOutliveItsParent(t *testing.T) {
	runs := edited(t, "task", func(lines []string) []string {
		begun := untilTheSubagentsTool(lines)
		for _, l := range lines[len(begun):] {
			if childLine(l) {
				begun = append(begun, strings.Replace(l, `"ppid":2846`, `"ppid":1`, 1))
			}
		}
		return begun
	})
	root := one(t, runs, runtypes.KindInterrupted)
	if i := slices.IndexFunc(runs, func(r runtypes.Wire) bool { return r.TraceID != root.ID }); i >= 0 {
		t.Errorf("%s %s is in a trace of its own", runs[i].Kind(), runs[i].Name)
	}
	if got := len(of(runs, runtypes.KindLLM)); got != 3 {
		t.Errorf("%d model calls, want 3", got)
	}
}
