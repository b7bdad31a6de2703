package copilot

import (
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// begun is a session whose first prompt was heard and is in the log.
func begun(t *testing.T) *teller {
	t.Helper()
	x := tell(t)
	x.log(startLine())
	x.hook(sessionStart, data{Source: "new"})
	x.prompted("i1", "hello", "aaaa")
	return x
}

// prompted is a prompt: its hook runs, then it is in the log.
func (x *teller) prompted(interaction, text string, head ...string) {
	x.t.Helper()
	x.log(promptHook())
	x.hook(userPrompt, data{}, head...)
	x.log(promptLine(interaction, text))
}

func (x *teller) status() integrations.Status { return x.r.Status() }

func TestATurnIsWaitedForUntilTheLogShowsItsStop(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"))
	x.at = x.at.Add(1e9)
	x.hook(agentStop, data{}) // the log is written late
	x.own(integrations.Grew)
	if s := x.status(); !s.Waiting || s.Open != 1 || len(s.Watch) != 1 {
		t.Fatalf("status %+v", s)
	}
	x.wants("root GitHub Copilot CLI Turn (open)")
	x.at = x.at.Add(-1e9)
	x.log(sayLine("c1", "done"), roundEnd())
	x.at = x.at.Add(1e9)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	if s := x.status(); s.Waiting || s.Open != 0 {
		t.Errorf("status %+v", s)
	}
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
}

func TestAStopThatTheLogNeverShowsEndsTheTurnAfterTheWait(t *testing.T) {
	x := begun(t)
	x.log(answerLines("c1", "done")...)
	x.at = x.at.Add(1e9)
	x.hook(agentStop, data{})
	x.own(integrations.Grew, integrations.Idle)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
}

func TestSteeringJoinsTheTurn(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "bash", "t1"), toolLine("bash", "t1"), doneLine("t1"), roundEnd())
	x.log(`user.message {"content":"be quick","delivery":"steering"}`)
	x.log(answerLines("c2", "done")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2", "  llm GitHub Copilot CLI 10/2", "  tool bash")
	if last := x.runs[x.list[2]]; !strings.Contains(string(last.Inputs), "be quick") {
		t.Errorf("inputs %s", last.Inputs)
	}
}

func TestAQueuedPromptIsATurnOfItsOwn(t *testing.T) {
	x := begun(t)
	x.log(answerLines("c1", "done")...)
	x.log(stopHook(), stopEnd())
	x.log(promptHook(), `user.message {"content":"next","delivery":"queued","interactionId":"i2"}`)
	x.log(answerLines("c2", "done too")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2", "root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	if n := x.runs[x.list[2]].Identity.TurnNumber; n != 2 {
		t.Errorf("turn number %d, want 2", n)
	}
}

func TestAnInterruptThatNoHookToldOfIsFoundAtTheNextPrompt(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "bash", "t1"), toolLine("bash", "t1"))
	x.own(integrations.Grew)
	x.log(roundEnd(), `abort {"reason":"user_abort"}`)
	x.prompted("i2", "again")
	x.log(answerLines("c2", "done")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants(
		"interrupted GitHub Copilot CLI Turn: Interrupted by user", "  llm GitHub Copilot CLI 10/2", "  tool bash: Interrupted by user",
		"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
}

func TestATurnWithoutHooksEndsWithTheNextPrompt(t *testing.T) {
	x := begun(t)
	x.log(answerLines("c1", "done")...)
	x.log(promptLine("i2", "again"), roundLine(), usageLine("c2"), askLine("c2", "bash", "t1"), toolLine("bash", "t1"))
	x.log(promptLine("i3", "stop that"))
	x.log(answerLines("c3", "stopped")...)
	x.own(integrations.Grew, integrations.Dead)
	x.wants(
		"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2",
		"interrupted GitHub Copilot CLI Turn: Interrupted", "  llm GitHub Copilot CLI 10/2", "  tool bash: Interrupted",
		"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
}

func TestAKilledProcessLeavesNothingOpen(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"))
	x.log(`a1/subagent.started {"toolCallId":"t1","agentName":"explore","executionMode":"sync"}`, "a1/"+promptLine("j1", "look"))
	x.log("a1/"+roundLine(), "a1/"+usageLine("d1"), "a1/"+askLine("d1", "view", "u1"), "a1/"+toolLine("view", "u1"))
	x.own(integrations.Grew, integrations.Dead)
	x.wants(
		"interrupted GitHub Copilot CLI Turn: Interrupted: the process ended", "  llm GitHub Copilot CLI 10/2",
		"  tool task: Interrupted: the process ended", "    subagent explore Subagent: Interrupted: the process ended",
		"      llm GitHub Copilot CLI 10/2", "      tool view: Interrupted: the process ended")
	if s := x.status(); s.Open != 0 || s.Waiting {
		t.Errorf("status %+v", s)
	}
}

func TestAModelErrorIsAFailureAndNoInterrupt(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), roundEnd(), `session.error {"errorType":"query","message":"500 overloaded","statusCode":500}`)
	x.own(integrations.Grew)
	if s := x.status(); !s.Waiting {
		t.Fatalf("status %+v", s)
	}
	x.own(integrations.Idle)
	x.wants("root GitHub Copilot CLI Turn: 500 overloaded", "  llm GitHub Copilot CLI: 500 overloaded")
	if class := x.runs[x.list[0]].Metadata[agentkit.MetaFailure]; class != "query" {
		t.Errorf("class %v", class)
	}
}

// That a model said nothing at all the log tells when the agentStop hook has run.
func TestATurnWithoutAnAnswerFailsWithTheErrorBehindItsStop(t *testing.T) {
	const failed = `session.error {"errorType":"query","message":"No response was returned"}`
	for name, told := range map[string][]string{
		"to its end": {failed}, "cut off": nil,
		"left": {leaveHook(), leaveEnd()}, "left with an error": {leaveHook(), leaveEnd(), failed}, // print mode, ACP
	} {
		x := begun(t)
		x.log(roundLine(), roundEnd())
		x.log(stopHook(), stopEnd())
		x.own(integrations.Grew)
		if s := x.status(); !s.Waiting || s.Open != 1 {
			t.Fatalf("%s: status %+v", name, s)
		}
		x.log(told...)
		x.prompted("i2", "again")
		x.log(answerLines("c2", "done")...)
		x.log(stopHook(), stopEnd())
		x.own(integrations.Grew)
		want := []string{"root GitHub Copilot CLI Turn"}
		if slices.Contains(told, failed) {
			want = []string{"root GitHub Copilot CLI Turn: No response was returned", "  llm GitHub Copilot CLI: No response was returned"}
		}
		x.wants(append(want, "root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")...)
	}
}

// What wakes the agent begins the next part of a turn that had no answer, whether its end
// was waited for or not.
func TestATurnThatGoesOnAfterItSaidNothingHasAnotherPart(t *testing.T) {
	for _, waited := range []bool{true, false} {
		x := begun(t)
		x.log(roundLine(), roundEnd())
		x.log(stopHook(), stopEnd())
		x.own(integrations.Grew)
		if waited {
			x.own(integrations.Idle)
		}
		x.log(`system.notification {"content":"it is done"}`)
		x.log(answerLines("c1", "good")...)
		x.log(stopHook(), stopEnd())
		x.own(integrations.Grew)
		x.wants("root GitHub Copilot CLI Turn", "root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	}
}

func TestAnErrorThatIsOvercomeIsNone(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), roundEnd(), `session.error {"errorType":"query","message":"500"}`)
	x.log(answerLines("c1", "done")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
}

func TestAFieldOfAnotherShapeCostsNoLine(t *testing.T) {
	x := begun(t)
	x.log(`assistant.turn_start {"turnId":"0","model":{"id":"gpt-5.4"}}`,
		`session.usage_record {"usage":{"model":"gpt-5.4","inputTokens":10,"outputTokens":2,"duration":"5","apiCallId":"c1"}}`,
		`assistant.message {"model":"gpt-5.4","content":"done","apiCallId":"c1","chunkIndex":"0","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":"ls"}]}`,
		`tool.execution_start {"toolCallId":"t1","toolName":"bash","arguments":"ls","mcpServerName":[]}`,
		`tool.execution_complete {"toolCallId":"t1","success":true,"result":{"content":[{"type":"text"}]},"fileEdits":{"path":"x"}}`,
		roundEnd())
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2", "  tool bash")
}

func TestAStopHookThatLetsTheTurnGoOnDoesNotEndIt(t *testing.T) {
	x := begun(t)
	x.log(answerLines("c1", "done")...)
	x.log(stopHook())
	x.own(integrations.Grew)
	if s := x.status(); !s.Waiting || s.Open != 1 {
		t.Fatalf("status %+v", s)
	}
	x.log(`hook.end {"hookInvocationId":"s","hookType":"agentStop","success":true,"output":{"decision":"block","reason":"Run the tests."}}`)
	x.own(integrations.Grew)
	x.log(promptHook(), `user.message {"content":"Run the tests.","delivery":"queued","interactionId":"i2"}`)
	x.log(answerLines("c2", "they pass")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2", "  llm GitHub Copilot CLI 10/2")
	if n := x.runs[x.list[0]].Outputs; !strings.Contains(string(n), "they pass") {
		t.Errorf("outputs %s", n)
	}
}

// A session that was begun before the hooks were installed has a past that is not ours.
func TestTurnsBeforeTheFirstHookAreCountedAndNotTold(t *testing.T) {
	past := func(t *testing.T) *teller {
		x := tell(t)
		x.log(startLine(), promptHook(), promptLine("i1", "long ago"))
		x.log(answerLines("c1", "done")...)
		x.log(stopHook(), stopEnd())
		return x
	}
	for kind, source := range map[string]string{sessionStart: "resume", userPrompt: ""} {
		x := past(t)
		x.at = x.at.Add(1e9)
		x.hook(kind, data{Source: source})
		x.prompted("i2", "now")
		x.log(answerLines("c2", "done")...)
		x.log(stopHook(), stopEnd())
		x.own(integrations.Grew)
		x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
		if root := x.runs[x.list[0]]; root.Identity.TurnNumber != 2 || root.Identity.TurnID != "i2" {
			t.Errorf("%s: turn %s, number %d", kind, root.Identity.TurnID, root.Identity.TurnNumber)
		}
	}
	x := past(t) // the first hook that was not lost is the turn's last
	x.log(promptHook(), promptLine("i2", "now"))
	x.log(answerLines("c2", "done")...)
	x.log(stopHook())
	x.hook(agentStop, data{})
	x.log(stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	y := past(t)
	y.at = y.at.Add(1e9)
	y.hook(sessionEnd, data{}) // nothing was on
	y.own(integrations.Grew, integrations.Dead)
	y.wants()
}

func TestWhatAForkCopiedIsNotItsOwn(t *testing.T) {
	x := tell(t)
	x.turn("i1", "c1", "one")
	copied := x.src.files[logPath()]
	x.at = x.at.Add(1e9)
	delete(x.src.files, logPath())
	x.log(startLine())
	x.src.files[logPath()] += copied
	x.log(`session.info {"infoType":"fork"}`, `session.resume {}`)
	y := tell(t)
	y.src, y.at = x.src, x.at
	y.hook(sessionStart, data{Source: "new", Stamp: 1}) // as import tells it
	y.turn("i2", "c2", "two")
	y.own(integrations.Grew)
	y.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	if root := y.runs[y.list[0]]; root.Identity.TurnID != "i2" || root.Identity.TurnNumber != 2 {
		t.Errorf("turn %s, number %d", root.Identity.TurnID, root.Identity.TurnNumber)
	}
}

func TestThePartThatWasOnAtTheFirstHookIsTold(t *testing.T) {
	x := tell(t)
	x.log(startLine(), promptLine("i1", "hello"))
	x.log(answerLines("c1", "on its way")...)
	x.log(stopHook(), stopEnd(), `system.notification {"content":"it is done"}`)
	x.log(answerLines("c2", "done")...)
	x.log(stopHook())
	x.hook(agentStop, data{})
	x.log(stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	if out := string(x.runs[x.list[0]].Outputs); !strings.Contains(out, `"done"`) {
		t.Errorf("outputs %s", out)
	}
}

func TestHeadIsWhereItStoodWhenThePromptWasMade(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "bash", "t1"))
	x.log(`tool.execution_start {"toolCallId":"t1","toolName":"bash","arguments":{"command":"git commit -m x"}}`, doneLine("t1"), roundEnd())
	x.log(answerLines("c2", "done")...)
	x.log(stopHook())
	x.hook(agentStop, data{}, "bbbb")
	x.log(stopEnd())
	x.own(integrations.Grew)
	for _, id := range x.list {
		if who := x.runs[id].Identity; who.Repo.SHA != "aaaa" || who.Repo.Branch != "main" {
			t.Errorf("%s: %+v", x.runs[id].Name, who.Repo)
		}
	}
	if got, _ := x.runs[x.list[0]].Metadata[agentkit.MetaCommitsMade].([]string); !slices.Equal(got, []string{"bbbb"}) {
		t.Errorf("commits %v", got)
	}
}

func TestATurnHangsUnderTheRunThatStartedTheAgent(t *testing.T) {
	const parent = "20261130T010000000000Z01a22ab6-868f-73f1-b885-aec80fdf0b4c"
	x := tell(t)
	x.log(startLine())
	x.hook(sessionStart, data{Source: "new"})
	x.log(promptHook())
	x.hook(userPrompt, data{Parent: parent})
	x.log(promptLine("i1", "hello"))
	x.log(answerLines("c1", "done")...)
	x.own(integrations.Grew, integrations.Dead)
	if top := x.runs[x.list[0]]; !strings.HasPrefix(top.DottedOrder, parent+".") {
		t.Errorf("the turn is at %s", top.DottedOrder)
	}
}

func TestALogThatVanishesLeavesNothingOpen(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"))
	x.own(integrations.Grew)
	delete(x.src.files, logPath())
	x.own(integrations.Dead)
	x.wants("interrupted GitHub Copilot CLI Turn: Interrupted: the process ended")
}

func TestASessionWithoutALogShowsItsPrompts(t *testing.T) {
	x := tell(t)
	x.hook(sessionStart, data{Source: "new"})
	x.at = x.at.Add(1e9)
	x.hook(userPrompt, data{Text: "hello"})
	x.own(integrations.Idle)
	x.at = x.at.Add(1e9)
	x.hook(agentStop, data{})
	x.own(integrations.Idle, integrations.Dead)
	x.wants("root GitHub Copilot CLI Turn")
	root := x.runs[x.list[0]]
	if root.Metadata[agentkit.MetaPartial] != true || root.End.Sub(root.Start) != 1e9 {
		t.Errorf("%v, took %v", root.Metadata, root.End.Sub(root.Start))
	}
}

func TestAnAutomaticCompactionStandsInItsTurn(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "bash", "t1"), toolLine("bash", "t1"), doneLine("t1"), roundEnd())
	x.log(`session.compaction_start {"compactionAttemptId":"k","trigger":"threshold"}`)
	x.log(`session.compaction_complete {"compactionAttemptId":"k","trigger":"threshold","success":true,"summaryContent":"SUMMARY","preCompactionTokens":9000,"postCompactionTokens":100,"compactionTokensUsed":{"inputTokens":9000,"outputTokens":80,"duration":5}}`)
	x.log(answerLines("c2", "done")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants(
		"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2", "  llm GitHub Copilot CLI 10/2",
		"  chain Context Compaction (auto)", "    llm GitHub Copilot CLI 9000/80", "  tool bash")
	in := string(x.runs[x.list[2]].Inputs)
	if strings.Contains(in, "hello") || !strings.Contains(in, "SUMMARY") {
		t.Errorf("the call after it was told %s", in)
	}
	chain := x.runs[x.list[3]]
	if chain.AgentType != runtypes.AgentCompaction || chain.Metadata[agentkit.MetaPostTokens] != int64(100) {
		t.Errorf("%s, %v", chain.AgentType, chain.Metadata)
	}
}

func TestWhatAModelSaysInPiecesIsOneCall(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"))
	for i, text := range []string{"one ", "two ", "three"} {
		x.log(strings.Replace(sayLine("c1", text), `"apiCallId"`, `"chunkIndex":`+string(rune('0'+i))+`,"chunkCount":3,"apiCallId"`, 1))
		x.own(integrations.Grew)
	}
	x.log(roundEnd(), stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	if out := string(x.runs[x.list[1]].Outputs); !strings.Contains(out, "one two three") {
		t.Errorf("outputs %s", out)
	}
}

func TestAnAnswerWithoutWordsIsOne(t *testing.T) {
	x := begun(t)
	x.log(answerLines("c1", "")...)
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew, integrations.Idle)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
	if out := string(x.runs[x.list[1]].Outputs); !strings.Contains(out, `"content":[]`) {
		t.Errorf("outputs %s", out)
	}
}

func TestOfALongLogOneTurnAtATimeIsHeld(t *testing.T) {
	x := tell(t)
	x.log(startLine())
	x.hook(sessionStart, data{Source: "new"})
	big := strings.Repeat("lorem ipsum ", 100_000)
	const turns = 12
	for i := range turns {
		id := string(rune('a' + i))
		x.log(promptLine("i"+id, "go"))
		x.log(answerLines("c"+id, big)...)
		x.log(stopHook(), stopEnd())
	}
	passes := 0
	for x.own(integrations.Grew); x.status().More; x.own(integrations.Grew) {
		passes++
	}
	if passes < 3 || len(x.list) != 2*turns {
		t.Errorf("%d more passes, %d runs", passes, len(x.list))
	}
	if size := int64(len(x.src.files[logPath()])); x.src.read > size+size/4 {
		t.Errorf("%d bytes read of a log of %d", x.src.read, size)
	}
}

// Two subagents side by side may number their calls alike.

func TestALongTurnKeepsItsPromptInWhatIsRepeated(t *testing.T) {
	x := begun(t)
	x.log(`system.message {"role":"system","content":"SYSTEM"}`)
	big := strings.Repeat("lorem ipsum ", 40_000)
	for _, id := range []string{"1", "2", "3"} {
		x.log(roundLine(), usageLine("c"+id), askLine("c"+id, "bash", "t"+id), toolLine("bash", "t"+id))
		x.log(strings.Replace(doneLine("t"+id), `"ok"`, `"`+big+`"`, 1), roundEnd())
	}
	x.log(answerLines("c9", "done")...)
	x.own(integrations.Grew)
	in := string(x.runs[x.list[4]].Inputs)
	if !strings.Contains(in, "SYSTEM") || !strings.Contains(in, "hello") || !strings.Contains(in, "left out") {
		t.Errorf("inputs of %d bytes: %.300s", len(in), in)
	}
}

// What is open was at work for as long as the log shows that its process was there.
func TestWhatIsOpenLastsAsLongAsItsProcess(t *testing.T) {
	for name, each := range map[string]struct {
		life, after []string
	}{
		"killed":   {life: []string{`a1/subagent.started {"toolCallId":"t1","agentName":"explore"}`, "a1/" + roundLine()}},
		"left":     {life: []string{leaveHook()}, after: []string{`session.shutdown {}`}},
		"shut off": {life: []string{`session.shutdown {}`}},
		"resumed":  {life: []string{"a1/" + roundEnd()}, after: []string{`session.resume {}`}},
	} {
		x := begun(t)
		x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"))
		x.at = x.at.Add(1e9)
		x.log(each.life...)
		last := x.at
		x.at = x.at.Add(1e9)
		x.log(each.after...)
		x.own(integrations.Grew, integrations.Dead)
		if len(x.list) < 3 {
			t.Errorf("%s: runs %v", name, x.told())
		}
		for _, id := range x.list {
			if run := x.runs[id]; run.Error != "" && !run.End.Equal(last) {
				t.Errorf("%s: %s ended at %v, the last sign of life was at %v", name, run.Name, run.End, last.UTC())
			}
		}
	}
}
