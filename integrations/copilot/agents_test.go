package copilot

import (
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestASubagentThatReportsBackBeginsAPartOfItsTurn(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"))
	x.log(`a1/subagent.started {"toolCallId":"t1","agentName":"explore","executionMode":"background"}`, doneLine("t1"), roundEnd())
	x.log(answerLines("c2", "waiting")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	if s := x.status(); s.Open != 1 {
		t.Fatalf("status %+v, want the subagent open", s)
	}
	x.log("a1/" + promptLine("j1", "look"))
	for _, l := range answerLines("d1", "found") {
		x.log("a1/" + l)
	}
	x.log(`a1/subagent.completed {"toolCallId":"t1","agentName":"explore"}`)
	x.log(`system.notification {"content":"a1 is idle","kind":{"type":"agent_idle"}}`)
	x.own(integrations.Grew)
	x.log(`assistant.message {"content":"","toolRequests":[]}`)
	x.log(answerLines("c3", "it found it")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants(
		"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2", "  llm GitHub Copilot CLI 10/2", "  tool task",
		"    subagent explore Subagent", "      llm GitHub Copilot CLI 10/2",
		"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	first, part := x.runs[x.list[0]], x.runs[x.list[6]]
	if part.Metadata[agentkit.MetaContinues] != first.ID.String() || part.Metadata[agentkit.MetaOrigin] != "task_notification" {
		t.Errorf("metadata %v", part.Metadata)
	}
	if part.Identity.TurnID != "i1" || part.Identity.TurnNumber != 1 || !strings.Contains(string(part.Inputs), "a1 is idle") {
		t.Errorf("turn %s, number %d, inputs %s", part.Identity.TurnID, part.Identity.TurnNumber, part.Inputs)
	}
	if x.runs[x.list[3]].Metadata[agentkit.MetaBackgroundOf] != true {
		t.Error("the call does not say that its work went on")
	}
}

func TestASubagentThatIsToldToGoOnIsASecondRun(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"))
	x.log(`a1/subagent.started {"toolCallId":"t1","agentName":"explore"}`, doneLine("t1"), roundEnd())
	for i, call := range []string{"d1", "d2"} {
		x.log("a1/" + promptLine("j"+call, "look "+call))
		for _, l := range answerLines(call, "found") {
			x.log("a1/" + l)
		}
		x.log(`a1/subagent.completed {"toolCallId":"t1","agentName":"explore"}`)
		x.own(integrations.Grew)
		if n := len(x.list); n != 5+2*i {
			t.Fatalf("%d runs: %v", n, x.told())
		}
	}
}

func TestASubagentThatIsCancelledIsInterruptedUnderItsCall(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"))
	x.log(`a1/subagent.started {"toolCallId":"t1","agentName":"explore"}`, "a1/"+promptLine("j1", "look"))
	x.log("a1/"+roundLine(), "a1/"+usageLine("d1"), "a1/"+askLine("d1", "view", "u1"), "a1/"+toolLine("view", "u1"))
	x.log(roundEnd(), `abort {"reason":"user_abort"}`)
	x.own(integrations.Grew)
	x.log(`a1/subagent.completed {"toolCallId":"t1","agentName":"explore","cancelled":true}`, `session.shutdown {}`)
	x.own(integrations.Grew)
	x.wants(
		"interrupted GitHub Copilot CLI Turn: Interrupted by user", "  llm GitHub Copilot CLI 10/2", "  tool task: Interrupted by user",
		"    subagent explore Subagent: Interrupted", "      llm GitHub Copilot CLI 10/2", "      tool view: Interrupted")
	if s := x.status(); s.Open != 0 || s.Waiting {
		t.Errorf("status %+v", s)
	}
}

func TestASubagentThatFailsSaysWhy(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"))
	x.log(`a1/subagent.started {"toolCallId":"t1","agentName":"explore"}`, "a1/"+promptLine("j1", "look"))
	x.log(`a1/subagent.failed {"toolCallId":"t1","agentName":"explore","error":"no model"}`)
	x.log(`tool.execution_complete {"toolCallId":"t1","success":false,"error":{"message":"no model","code":"failure"}}`, roundEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn (open)", "  llm GitHub Copilot CLI 10/2", "  tool task: no model", "    subagent explore Subagent: no model")
}

func TestParallelSubagentsKeepTheirToolsApart(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"), toolLine("task", "t2"))
	for _, id := range []string{"1", "2"} {
		x.log("a" + id + `/subagent.started {"toolCallId":"t` + id + `","agentName":"explore"}`)
	}
	for _, l := range []string{promptLine("j", "look"), roundLine(), usageLine("d"), askLine("d", "view", "u"), toolLine("view", "u"), doneLine("u"), roundEnd()} {
		x.log("a1/"+l, "a2/"+l)
	}
	for _, l := range answerLines("e", "found") {
		x.log("a1/"+l, "a2/"+l)
	}
	for _, id := range []string{"2", "1"} {
		x.log("a"+id+`/subagent.completed {"toolCallId":"t`+id+`","agentName":"explore"}`, doneLine("t"+id))
		x.own(integrations.Grew)
	}
	x.log(roundEnd())
	x.log(answerLines("c2", "both")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	parents := map[string]int{}
	for _, id := range x.list {
		if run := x.runs[id]; run.Name == "view" || run.Kind == runtypes.KindLLM {
			parents[x.runs[run.ParentID.String()].Name+run.ParentID.String()]++
		}
	}
	if len(x.list) != 13 || len(parents) != 3 {
		t.Errorf("parents %v of %v", parents, x.told())
	}
	for parent, n := range parents {
		if want := 3 - strings.Count(parent, "Turn"); n != want {
			t.Errorf("%s has %d runs, want %d", parent, n, want)
		}
	}
}
