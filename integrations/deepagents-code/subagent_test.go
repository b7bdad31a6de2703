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

// Of two that work at once no hook need say whose a tool is; one that does is believed.
func TestAToolThatNamesItsSubagentIsBelowIt(t *testing.T) {
	runs := altered(t, "hooks_subagent", func(dir string) {
		lines(t, dir, func(list []string) (out []string) {
			for _, line := range list {
				if is(line, "PreToolUse") && !strings.Contains(line, `"tool_name":"task"`) {
					line = strings.Replace(line, `"tool_name"`, `"agent_id":"call_t1","agent_type":"explore","tool_name"`, 1)
				}
				out = append(out, line)
				if is(line, "SubagentStart") || is(line, "PreToolUse") && strings.Contains(line, `"tool_name":"task"`) {
					out = append(out, strings.ReplaceAll(line, "call_t1", "call_t2"))
				}
			}
			return out
		})
	})
	agents := map[string]string{}
	for _, run := range of(runs, runtypes.KindSubagent) {
		agents[run.ID], _ = run.Metadata()["ls_subagent_id"].(string)
	}
	if len(agents) != 2 {
		t.Fatalf("subagents %v", agents)
	}
	for _, run := range of(runs, runtypes.KindTool) {
		if run.Name != "task" && agents[run.ParentRunID] != "call_t1" {
			t.Errorf("%s is below %q", run.Name, agents[run.ParentRunID])
		}
	}
}

func TestASubagentThatIsToldOfBeforeItsCallIsBelowIt(t *testing.T) {
	want := len(replayed(t, "hooks_subagent"))
	runs := altered(t, "hooks_subagent", func(dir string) {
		lines(t, dir, func(list []string) []string {
			for i, line := range list {
				list[i] = strings.ReplaceAll(line, `"tool_name":"task"`, `"tool_name":"delegate"`)
				if is(line, "SubagentStart") {
					at, call, _ := strings.Cut(list[i-1], `,"event"`)
					later, begun, _ := strings.Cut(line, `,"event"`)
					list[i-1], list[i] = at+`,"event"`+begun, later+`,"event"`+call
				}
			}
			return list
		})
	})
	agents := of(runs, runtypes.KindSubagent)
	if len(agents) != 1 || len(runs) != want {
		t.Fatalf("%d subagents, %d runs of %d", len(agents), len(runs), want)
	}
	for _, run := range of(runs, runtypes.KindTool) {
		if run.Name == "delegate" && run.ID != agents[0].ParentRunID {
			t.Error("the subagent is not below the call that started it")
		}
	}
}
