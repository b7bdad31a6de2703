package cursor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestTheCheckpointHoldsNoContentHoweverLongTheTurn(t *testing.T) {
	w := newWorld(t)
	w.cut = true
	long := strings.Repeat("content ", 1024)
	w.hear("beforeSubmitPrompt", saying(of("c", "g"), long))
	const tools = 40
	for i := range tools {
		w.cut = i%16 == 0
		call := using(of("c", "g"), "call-"+strconv.Itoa(i))
		call.Input = json.RawMessage(`{"command":"` + long + `"}`)
		w.hear("afterAgentThought", saying(of("c", "g"), strconv.Itoa(i)+long))
		w.hear("preToolUse", call)
		call.Output = json.RawMessage(`{"output":"` + long + `","exitCode":0}`)
		w.hear("postToolUse", call)
	}
	stop := of("c", "g")
	stop.Status = "completed"
	w.hear("stop", stop)
	if w.r.Status().More {
		for w.r.Status().More {
			w.own(integrations.Grew)
		}
	} else {
		t.Error("all of a long turn was emitted at once")
	}
	if calls := len(w.of(runtypes.KindLLM)); calls != tools || len(w.of(runtypes.KindTool)) != tools {
		t.Errorf("%d model calls, %d tools", calls, len(w.of(runtypes.KindTool)))
	}
	if w.largest > 64<<10 {
		t.Errorf("the checkpoint took %d bytes", w.largest)
	}
	if root := w.of(runtypes.KindRoot)[0]; root.Pending() || w.r.Status().Open != 0 {
		t.Error("the turn is left open")
	}
}

func TestTwoWindowsOfOneWorkspaceDoNotMix(t *testing.T) {
	w := newWorld(t)
	for _, talk := range []string{"a", "b"} {
		w.hear("sessionStart", data{Conversation: talk})
		w.hear("beforeSubmitPrompt", saying(of(talk, "1"), "same"))
	}
	for _, talk := range []string{"b", "a", "b"} {
		w.hear("preToolUse", using(of(talk, "1"), "t"))
		w.hear("postToolUse", using(of(talk, "1"), "t"))
	}
	for _, talk := range []string{"a", "b"} {
		w.hear("afterAgentResponse", saying(of(talk, "1"), "done"))
		stop := of(talk, "1")
		stop.Status = "completed"
		w.hear("stop", stop)
	}
	roots, tools := w.of(runtypes.KindRoot), w.of(runtypes.KindTool)
	if len(roots) != 2 || len(tools) != 2 {
		t.Fatalf("%d turns, %d tools", len(roots), len(tools))
	}
	for _, tool := range tools {
		if w.runs[tool.TraceID].Identity.ThreadID != tool.Identity.ThreadID {
			t.Error("a tool is in another conversation's trace")
		}
	}
	for _, root := range roots {
		if root.Identity.TurnNumber != 1 {
			t.Errorf("turn %d", root.Identity.TurnNumber)
		}
	}
}

func TestTheDeathOfAProcessEndsItsOwnTurnsOnly(t *testing.T) {
	w := newWorld(t)
	prompt := func(talk string, pid int) data { d := saying(of(talk, "1"), talk); d.PID = pid; return d }
	w.hear("beforeSubmitPrompt", prompt("a", 10))
	for range 2 {
		w.hear("afterAgentThought", prompt("a", 10))
	}
	w.hear("beforeSubmitPrompt", prompt("b", 20))
	w.hear("afterAgentThought", prompt("b", 20))
	w.own(integrations.Dead)
	if ended := w.of(runtypes.KindInterrupted); len(ended) != 1 || ended[0].Identity.ThreadID != "b" {
		t.Errorf("%d turns ended", len(ended))
	}
	if w.r.Status().Open != 1 {
		t.Errorf("%d turns are open, want the other one", w.r.Status().Open)
	}
}

func TestAHelperThatDiesWithItsHookEndsNothing(t *testing.T) {
	w := newWorld(t)
	for i, kind := range []string{"beforeSubmitPrompt", "afterAgentThought"} {
		d := saying(of("c", "1"), "hello")
		d.PID = 100 + i
		w.hear(kind, d)
		w.own(integrations.Dead)
	}
	if w.r.Status().Open != 1 || len(w.of(runtypes.KindInterrupted)) != 0 {
		t.Error("the turn was ended")
	}
}

const file = "/p/agent-transcripts/c/c.jsonl"

func transcript(rows ...string) string {
	var b strings.Builder
	for _, row := range rows {
		role, text, _ := strings.Cut(row, ":")
		switch role {
		case "user":
			fmt.Fprintf(&b, `{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\n%s\n</user_query>"}]}}`+"\n", text)
		case "end":
			fmt.Fprintf(&b, `{"type":"turn_ended","status":"x","error":%q}`+"\n", text)
		default:
			fmt.Fprintf(&b, `{"role":"assistant","message":{"content":[{"type":"text","text":%q},{"type":"tool_use","name":"Shell"}]}}`+"\n", text)
		}
	}
	return b.String()
}

func TestAnErrorThatIsWrittenAfterTheStopIsWaitedFor(t *testing.T) {
	for _, late := range []bool{true, false} {
		w := newWorld(t)
		w.cut = true
		d := saying(of("c", "1"), "hello")
		d.Transcript, d.Hash = file, hashOf("hello")
		w.hear("beforeSubmitPrompt", d)
		stop := of("c", "1")
		stop.Status = "error"
		w.hear("stop", stop)
		if s := w.r.Status(); !s.Waiting || !slices.Contains(s.Watch, file) {
			t.Fatalf("status %+v", s)
		}
		want := "Cursor reported an error and did not say which"
		if late {
			w.files[file] = transcript("user:hello")
			w.own(integrations.Grew)
			w.files[file] += transcript("end:overloaded")
			w.own(integrations.Grew)
			want = "overloaded"
		} else {
			w.own(integrations.Idle)
		}
		roots := w.of(runtypes.KindRoot)
		if len(roots) != 1 || roots[0].Error != want {
			t.Errorf("%d turns, want the error %q", len(roots), want)
		}
	}
}

func TestAPromptThatIsAskedTwiceFindsItsOwnPlaceInTheFile(t *testing.T) {
	w := newWorld(t)
	w.files[file] = transcript("user:go on", "said:first", "end:", "user:go on", "said:second", "end:")
	for _, turn := range []string{"1", "2"} {
		d := saying(of("c", turn), "go on")
		d.Transcript, d.Hash = file, hashOf("go on")
		w.hear("beforeSubmitPrompt", d)
		w.hear("preToolUse", using(of("c", turn), "t"))
		w.hear("postToolUse", using(of("c", turn), "t"))
		stop := of("c", turn)
		stop.Status = "completed"
		w.hear("stop", stop)
	}
	for i, call := range w.of(runtypes.KindLLM) {
		if want := []string{"first", "second"}[i]; !strings.Contains(string(call.Outputs), want) {
			t.Errorf("call %d says %s", i+1, call.Outputs)
		}
	}
}

func TestAJournalThatIsGoneLeavesGapsAndNoOpenRuns(t *testing.T) {
	w := newWorld(t)
	w.cut = true
	w.hear("beforeSubmitPrompt", saying(of("c", "1"), "hello"))
	w.hear("preToolUse", using(of("c", "1"), "t"))
	start := of("c", "c")
	start.Agent, start.AgentType = "t2", "explore"
	w.hear("subagentStart", start)
	w.gone = true
	w.hear("postToolUse", using(of("c", "1"), "t"))
	w.own(integrations.Dead)
	for _, run := range w.runs {
		if run.Pending() {
			t.Errorf("%s is left open", run.Name)
		}
	}
}

func TestInputsAreWhatTheUserChose(t *testing.T) {
	inputs := func(o integrations.Inputs) []string {
		w := newWorld(t)
		w.options = integrations.Options{Inputs: o}
		w.r = newReducer(w.options)
		w.files[file] = transcript("user:before", "said:long ago", "end:", "user:now", "said:x", "end:")
		d := saying(of("c", "1"), "now")
		d.Transcript, d.Hash = file, hashOf("now")
		w.hear("beforeSubmitPrompt", d)
		call := using(of("c", "1"), "t")
		w.hear("preToolUse", call)
		call.Output = json.RawMessage(`{"output":"result"}`)
		w.hear("postToolUse", call)
		w.hear("afterAgentResponse", saying(of("c", "1"), "done"))
		stop := of("c", "1")
		stop.Status = "completed"
		w.hear("stop", stop)
		var list []string
		for _, call := range w.of(runtypes.KindLLM) {
			list = append(list, string(call.Inputs))
		}
		if len(list) != 2 {
			t.Fatalf("%d calls", len(list))
		}
		return list
	}
	check := func(o integrations.Inputs, call int, texts ...string) {
		t.Helper()
		got := inputs(o)[call]
		for _, text := range []string{"long ago", `"now"`, `"type":"tool_call"`, "result"} {
			if strings.Contains(got, text) != slices.Contains(texts, text) {
				t.Errorf("%s, call %d: %s", o, call+1, got)
			}
		}
	}
	check(integrations.InputsTurn, 0, `"now"`)
	check(integrations.InputsTurn, 1, `"now"`, `"type":"tool_call"`, "result")
	check(integrations.InputsDelta, 0, `"now"`)
	check(integrations.InputsDelta, 1, "result")
	check(integrations.InputsThread, 0, "long ago", `"now"`)
	check(integrations.InputsThread, 1, "long ago", `"now"`, `"type":"tool_call"`, "result")
}

func hashOf(prompt string) string { return agentkit.HashText(prompt) }

func TestToolsOfASubagentWhoseStartIsLostHangUnderTheOpenTurn(t *testing.T) {
	w := newWorld(t)
	w.cut = true
	w.hear("sessionStart", data{Conversation: "c"})
	w.hear("beforeSubmitPrompt", saying(of("c", "1"), "hello"))
	w.hear("preToolUse", using(of("child", "x"), "t1"))
	w.hear("postToolUse", using(of("child", "x"), "t1"))
	w.hear("preToolUse", using(of("child", "x"), "t2"))
	stop := of("c", "1")
	stop.Status = "completed"
	w.hear("stop", stop)
	tools := w.of(runtypes.KindTool)
	if len(tools) != 2 || w.r.Status().Open != 0 {
		t.Fatalf("%d tools", len(tools))
	}
	for _, tool := range tools {
		if tool.ParentID != w.of(runtypes.KindRoot)[0].ID || tool.Metadata["subagent_unresolved"] != true || tool.Identity.TurnNumber != 1 || tool.Pending() {
			t.Errorf("%+v", tool)
		}
	}
}

// Two stops may be overtaken at once, and come in any order.
func TestStopsThatAreOvertakenTogetherTellTheirOwnTokens(t *testing.T) {
	for _, order := range [][]string{{"1", "2"}, {"2", "1"}} {
		w := newWorld(t)
		w.cut = true
		for _, turn := range []string{"1", "2", "3"} {
			w.hear("beforeSubmitPrompt", saying(of("c", turn), "do "+turn))
		}
		for _, turn := range append(order, "3") {
			stop := of("c", turn)
			used, err := strconv.ParseInt(turn, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			stop.Status, stop.Tokens = "aborted", &tokens{Input: &used}
			w.hear("stop", stop)
		}
		w.own(integrations.Idle)
		used := map[string]int64{}
		for _, call := range w.of(runtypes.KindLLM) {
			if call.Usage != nil {
				used[call.Identity.TurnID] = call.Usage.Input
			}
		}
		if len(used) != 3 || used["1"] != 1 || used["2"] != 2 || used["3"] != 3 {
			t.Errorf("stops in the order %v: tokens %v", order, used)
		}
	}
}

// The stop of a subagent that outlives its turn may be overtaken too, by what would else
// tell that it was lost.
func TestASubagentsStopThatIsOvertakenStillSaysHowItEnded(t *testing.T) {
	for _, next := range []string{"beforeSubmitPrompt", "sessionEnd"} {
		for _, arrives := range []bool{true, false} {
			w := newWorld(t)
			w.cut = true
			w.hear("beforeSubmitPrompt", saying(of("c", "1"), "hello"))
			agent := of("c", "c")
			agent.Agent, agent.AgentType, agent.Parent, agent.Hash = "a", "explore", "c", hashOf("look")
			w.hear("subagentStart", agent)
			stop := of("c", "1")
			stop.Status = "completed"
			w.hear("stop", stop)
			w.hear(next, saying(of("c", "2"), "go on"))
			w.hear(next, saying(of("c", "2"), "go on")) // a hook that is registered twice
			want := map[string]string{
				"beforeSubmitPrompt": "Cursor never told of the subagent's end", "sessionEnd": "The session ended before the subagent did",
			}[next]
			if arrives {
				want, agent.Status, agent.Text = "", "completed", "found it"
				w.hear("subagentStop", agent)
			}
			w.own(integrations.Idle)
			got := w.of(runtypes.KindSubagent)[0]
			if got.Pending() || got.Error != want || strings.Contains(string(got.Outputs), "found it") != arrives {
				t.Errorf("%s first, the stop arrives: %v: error %q, outputs %s", next, arrives, got.Error, got.Outputs)
			}
		}
	}
}

// A subagent may start another. With the turn all of them are told to their ends.
func TestASubagentOfASubagentLeavesNothingOpen(t *testing.T) {
	w := newWorld(t)
	w.cut = true
	start := func(talk, turn, id, task string) {
		call := using(of(talk, turn), id)
		call.Tool, call.Hash = "Task", hashOf(task)
		w.hear("preToolUse", call)
		d := of(talk, talk)
		d.Agent, d.AgentType, d.Parent, d.Text, d.Hash = id, "explore", talk, task, hashOf(task)
		w.hear("subagentStart", d)
	}
	end := func(talk, id, task string) {
		d := of(talk, talk)
		d.Agent, d.AgentType, d.Parent, d.Hash, d.Status = id, "explore", talk, hashOf(task), "completed"
		w.hear("subagentStop", d)
	}
	w.hear("sessionStart", data{Conversation: "c"})
	w.hear("beforeSubmitPrompt", saying(of("c", "1"), "hello"))
	start("c", "1", "outer", "look")
	w.hear("preToolUse", using(of("child", "x"), "t1"))
	w.hear("postToolUse", using(of("child", "x"), "t1"))
	start("child", "x", "inner", "look there")
	w.hear("preToolUse", using(of("grandchild", "y"), "t2"))
	w.hear("postToolUse", using(of("grandchild", "y"), "t2"))
	end("child", "inner", "look there")
	end("c", "outer", "look")
	w.hear("afterAgentResponse", saying(of("c", "1"), "done"))
	stop := of("c", "1")
	stop.Status = "completed"
	w.hear("stop", stop)
	w.own(integrations.Idle)
	if s := w.r.Status(); s.Open != 0 || !s.Ended {
		t.Errorf("status %+v", s)
	}
	agents := w.of(runtypes.KindSubagent)
	if len(agents) != 2 || !strings.HasPrefix(agents[1].DottedOrder, agents[0].DottedOrder+".") {
		t.Errorf("%d subagents", len(agents))
	}
}
