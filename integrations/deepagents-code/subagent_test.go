package deepagentscode_test

import (
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestASubagentsWorkIsBelowItsCall(t *testing.T) {
	runs := replayed(t, "subagent")
	agents := of(runs, runtypes.KindSubagent)
	if len(agents) != 1 {
		t.Fatalf("%d subagents", len(agents))
	}
	agent := agents[0]
	if m := agent.Metadata(); m["ls_subagent_type"] != "general-purpose" || m["ls_subagent_id"] == nil {
		t.Errorf("metadata %v", m)
	}
	below := map[runtypes.Kind]int{}
	for _, run := range runs {
		switch run.ParentRunID {
		case agent.ID:
			below[run.Kind()]++
		}
		if run.ID == agent.ParentRunID && run.Metadata()["tool_call_id"] != agent.Metadata()["ls_subagent_id"] {
			t.Errorf("it hangs under %s", run.Name)
		}
	}
	if below[runtypes.KindLLM] != 2 || below[runtypes.KindTool] != 1 {
		t.Errorf("below it: %v", below)
	}
	if strings.Contains(string(agent.Inputs), "prior conversation") || !strings.Contains(string(agent.Inputs), "count the files") {
		t.Errorf("inputs %s", agent.Inputs)
	}
}
