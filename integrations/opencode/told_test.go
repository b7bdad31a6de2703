package opencode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Sessions written by hand, in the shapes OpenCode's own have, for what is hard to bring
// about.

// story is a stream of lines, a tenth of a second apart.
type story struct {
	text strings.Builder
	t    int64
}

func newStory() *story { return &story{t: 1796012000000} }

func (s *story) line(hook, rest string) {
	s.t += 100
	fmt.Fprintf(&s.text, `{"t":%d,"dir":"/home/dev/widgets","hook":%q,%s}`+"\n", s.t, hook, rest)
}

func (s *story) event(kind, session, rest string) {
	s.line("event", fmt.Sprintf(`"input":{"event":{"type":%q,"properties":{"sessionID":%q%s}}}`, kind, session, rest))
}

func (s *story) session(id, parent string) {
	s.event("session.created", id, fmt.Sprintf(`,"info":{"id":%q,"parentID":%q,"version":"1.18.33","directory":"/home/dev/widgets","time":{"created":%d}}`, id, parent, s.t))
}

func (s *story) prompt(session, id, text string) {
	s.line("chat.message", fmt.Sprintf(`"input":{"sessionID":%q},"output":{"message":{"id":%q,"role":"user","agent":"general","time":{"created":%d}},"parts":[{"id":"prt_%s","messageID":%q,"type":"text","text":%q}]}`, session, id, s.t, id, id, text))
}

// unspoken is a message in the user's name.
func (s *story) unspoken(session, id, part string) {
	s.event("message.updated", session, fmt.Sprintf(`,"info":{"id":%q,"role":"user","time":{"created":%d}}`, id, s.t))
	s.event("message.part.updated", session, fmt.Sprintf(`,"part":{"id":"prt_%s","messageID":%q,%s}`, id, id, part))
}

// reply is the assistant's message as it stands.
func (s *story) reply(session, id, parent, agent, rest string) {
	s.event("message.updated", session, fmt.Sprintf(`,"info":{"id":%q,"role":"assistant","parentID":%q,"agent":%q,"modelID":"m","providerID":"p"%s}`, id, parent, agent, rest))
}

func (s *story) part(session, message, rest string) {
	s.event("message.part.updated", session, fmt.Sprintf(`,"part":{"messageID":%q,%s}`, message, rest))
}

func (s *story) begun() string { return fmt.Sprintf(`,"time":{"created":%d}`, s.t) }

func (s *story) done(extra string) string {
	return fmt.Sprintf(`,"tokens":{"input":10,"output":2},"time":{"created":%d,"completed":%d}%s`, s.t-200, s.t, extra)
}

// step is a whole message with a text.
func (s *story) step(session, id, parent, agent, text, finish string) {
	s.reply(session, id, parent, agent, s.begun())
	s.part(session, id, fmt.Sprintf(`"id":"prt_%s","type":"text","text":%q,"time":{"start":%d,"end":%d}`, id, text, s.t, s.t+50))
	s.reply(session, id, parent, agent, s.done(`,"finish":"`+finish+`"`))
}

// recording writes the story down.
func (s *story) recording(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(s.text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (s *story) runs(t *testing.T) []runtypes.Wire {
	t.Helper()
	dir := s.recording(t)
	want := play(t, dir, replay.Options{}).Runs
	rec, err := replay.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	cut, err := rec.Run(opencode.Agent(), replay.Options{Cut: true})
	if err != nil {
		t.Fatal(err)
	}
	if string(indent(t, want)) != string(indent(t, cut.Runs)) {
		t.Error("cut at every line it gives other runs")
	}
	whole(t, "told", want)
	return want
}

func TestACompactionThatNobodyAskedForStaysInItsTurn(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "a long task")
	s.step("ses_1", "msg_2", "msg_1", "build", "halfway", "tool-calls")
	s.unspoken("ses_1", "msg_3", `"type":"compaction","auto":true`)
	s.step("ses_1", "msg_4", "msg_3", "compaction", "what was done so far", "stop")
	s.event("session.compacted", "ses_1", "")
	s.unspoken("ses_1", "msg_5", `"type":"text","text":"Continue if you have next steps","synthetic":true`)
	s.step("ses_1", "msg_6", "msg_5", "build", "all done", "stop")
	s.event("session.idle", "ses_1", "")
	s.prompt("ses_1", "msg_7", "thanks")
	s.step("ses_1", "msg_8", "msg_7", "build", "welcome", "stop")
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	all := roots(runs)
	count1(t, "turns", len(all), 2)
	if !strings.Contains(string(all[0].Outputs), "all done") || all[0].Error != "" {
		t.Errorf("outputs %s, error %q", all[0].Outputs, all[0].Error)
	}
	merges := kinds(runs, runtypes.KindChain)
	count1(t, "compactions", len(merges), 1)
	if merges[0].ParentRunID != all[0].ID || merges[0].Metadata()["compaction_trigger"] != "auto" {
		t.Errorf("it is %v", merges[0].Metadata()["compaction_trigger"])
	}
	count1(t, "its calls", len(below(runs, merges[0].ID)), 1)
	calls := kinds(below(runs, all[0].ID), runtypes.KindLLM)
	count1(t, "calls of the turn", len(calls), 2)
	if in := string(calls[1].Inputs); strings.Contains(in, "halfway") || !strings.Contains(in, "what was done so far") {
		t.Errorf("the call after it was told %s", in)
	}
}

func TestAnAbortBetweenAttemptsIsAnInterruptThoughNothingSaysSo(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	s.line("chat.params", `"input":{"sessionID":"ses_1","agent":"build"},"output":{}`)
	s.event("session.status", "ses_1", `,"status":{"type":"retry","attempt":1,"message":"overloaded"}`)
	s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, s.t-500, s.t))
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	for _, run := range runs {
		if run.Error != "Interrupted by user" || run.Metadata()["ls_is_error_interrupt"] != true {
			t.Errorf("%s: error %q", run.Kind(), run.Error)
		}
	}
	count1(t, "runs", len(runs), 2)
	if runs[1].Metadata()["retry_reason"] != "overloaded" {
		t.Errorf("it waited because of %v", runs[1].Metadata()["retry_reason"])
	}
}

func TestAnAbortReachesSubagentsAndTheirTools(t *testing.T) {
	const aborted = `,"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}`
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	s.part("ses_1", "msg_2", `"id":"prt_1","type":"step-start"`)
	s.session("ses_2", "ses_1")
	task := `"id":"prt_t","type":"tool","tool":"task","callID":"c1","state":{"status":%q,"input":{},"error":%q,"metadata":{"sessionId":"ses_2","parentSessionId":"ses_1"},"time":{"start":%d}}`
	began := s.t
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "running", "", began))
	s.prompt("ses_2", "msg_3", "work")
	s.reply("ses_2", "msg_4", "msg_3", "general", s.begun())
	s.part("ses_2", "msg_4", `"id":"prt_2","type":"step-start"`)
	bash := `"id":"prt_b","type":"tool","tool":"bash","callID":"c2","state":{"status":%q,"input":{"command":"sleep 20"},"output":%q,"time":{"start":%d}}`
	s.part("ses_2", "msg_4", fmt.Sprintf(bash, "running", "", s.t))
	s.event("session.error", "ses_2", aborted)
	s.event("session.idle", "ses_2", "")
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "error", "Task cancelled", began)) // before its own session's error
	s.event("session.error", "ses_1", aborted)
	s.event("session.idle", "ses_1", "")
	s.part("ses_2", "msg_4", fmt.Sprintf(bash, "completed", "User aborted the command", began))
	s.reply("ses_2", "msg_4", "msg_3", "general", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, began, s.t)+aborted)
	s.event("session.idle", "ses_2", "")
	s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, began, s.t)+aborted)
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	count1(t, "runs", len(runs), 6)
	for _, run := range runs {
		if run.Kind() == runtypes.KindLLM {
			continue // their replies were whole: the tools had begun
		}
		if run.Error != "Interrupted by user" || run.Metadata()["ls_is_error_interrupt"] != true {
			t.Errorf("%s %s: error %q", run.Kind(), run.Name, run.Error)
		}
	}
}

// Of a task that the user gave, OpenCode says that it was stopped before any session does.
func TestATaskThatSaysThatItWasCancelledIsInterrupted(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "general", s.begun())
	s.session("ses_2", "ses_1")
	task := `"id":"prt_t","type":"tool","tool":"task","callID":"c1","state":{"status":%q,"input":{},"error":%q,"metadata":{"sessionId":"ses_2","parentSessionId":"ses_1"},"time":{"start":%d}}`
	began := s.t
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "running", "", began))
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "error", "Tool execution failed: Task cancelled", began))
	s.reply("ses_1", "msg_2", "msg_1", "general", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, began, s.t))
	for _, run := range s.runs(t) {
		if run.Kind() == runtypes.KindTool && run.Error != "Interrupted by user" {
			t.Errorf("the task has error %q", run.Error)
		}
	}
}

// background tells of a task that runs on when its call and its turn have ended.
func background(s *story) {
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	s.session("ses_2", "ses_1")
	task := `"id":"prt_t","type":"tool","tool":"task","callID":"c1","state":{"status":%q,"input":{},"output":"started","metadata":{"sessionId":"ses_2","parentSessionId":"ses_1","background":true},"time":{"start":%d,"end":%d}}`
	began := s.t
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "running", began, 0))
	s.prompt("ses_2", "msg_3", "work")
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "completed", began, s.t+100))
	s.reply("ses_1", "msg_2", "msg_1", "build", s.done(`,"finish":"tool-calls"`))
	s.step("ses_1", "msg_4", "msg_1", "build", "it is started", "stop")
	s.event("session.idle", "ses_1", "")
}

func TestASubagentGoesOnWhenItsCallersTurnHasEnded(t *testing.T) {
	s := newStory()
	background(s)
	ended := s.t - 200 // when its last message was complete
	s.prompt("ses_1", "msg_5", "meanwhile")
	s.step("ses_2", "msg_6", "msg_3", "general", "worked", "stop")
	s.step("ses_1", "msg_7", "msg_5", "build", "fine", "stop")
	s.event("session.idle", "ses_1", "")
	s.event("session.idle", "ses_2", "")
	s.line("chat.message", fmt.Sprintf(`"input":{"sessionID":"ses_1"},"output":{"message":{"id":"msg_8","role":"user","agent":"build","time":{"created":%d}},"parts":[{"id":"prt_8","messageID":"msg_8","type":"text","synthetic":true,"text":"<task id=\"ses_2\" state=\"completed\">worked</task>"}]}`, s.t))
	s.step("ses_1", "msg_9", "msg_8", "build", "it has worked", "stop")
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	count1(t, "runs", len(runs), 10) // three turns, five calls, a task and its subagent
	for _, run := range runs {
		if run.Error != "" {
			t.Errorf("%s %s has error %q", run.Kind(), run.Name, run.Error)
		}
	}
	all := roots(runs)
	if end, err := time.Parse(time.RFC3339Nano, all[0].EndTime); err != nil || end.UnixMilli() != ended {
		t.Errorf("the turn ended at %s, want %s", all[0].EndTime, time.UnixMilli(ended))
	}

	home := t.TempDir()
	store(t, home, s.recording(t))
	past, _ := imported(t, home, "")
	count1(t, "imported runs", len(past), len(runs))
	for _, run := range runs {
		if past[run.ID].Error != run.Error || past[run.ID].ParentRunID != run.ParentRunID {
			t.Errorf("%s %s is another in the past", run.Kind(), run.Name)
		}
	}
}

func TestOpenCodesEndInterruptsTheSubagentThatWentOnAlone(t *testing.T) {
	s := newStory()
	background(s)
	for _, run := range s.runs(t) {
		if stopped := run.Error != ""; stopped != (run.Kind() == runtypes.KindSubagent) {
			t.Errorf("%s %s has error %q", run.Kind(), run.Name, run.Error)
		}
	}
}

func TestAnAttemptThatBrokeOffIsNoPartOfTheReply(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	attempt := func(part, text string) {
		s.part("ses_1", "msg_2", fmt.Sprintf(`"id":"prt_start%s","type":"step-start"`, part))
		s.part("ses_1", "msg_2", fmt.Sprintf(`"id":%q,"type":"text","text":"","time":{"start":%d}`, part, s.t))
		s.event("message.part.delta", "ses_1", fmt.Sprintf(`,"messageID":"msg_2","partID":%q,"field":"text","delta":%q`, part, text))
	}
	attempt("prt_1", "it broke ")
	s.event("session.status", "ses_1", `,"status":{"type":"retry","attempt":1,"message":"terminated"}`)
	attempt("prt_2", "it was cut ")
	runs := s.runs(t)
	for _, run := range runs {
		if out := string(run.Outputs); strings.Contains(out, "broke") || !strings.Contains(out, "it was cut") {
			t.Errorf("%s says %s", run.Kind(), out)
		}
	}
	count1(t, "runs", len(runs), 2)
}

func TestAPromptThatWaitedIsInterruptedWithTheTurnBeforeIt(t *testing.T) {
	const aborted = `,"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}`
	for goesOn, want := range map[bool]string{false: "Interrupted by user", true: ""} {
		s := newStory()
		s.session("ses_1", "")
		s.prompt("ses_1", "msg_1", "one")
		s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
		s.prompt("ses_1", "msg_3", "two")
		s.event("session.error", "ses_1", aborted)
		s.event("session.idle", "ses_1", "")
		s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, s.t, s.t)+aborted)
		s.event("session.idle", "ses_1", "")
		if goesOn {
			s.step("ses_1", "msg_4", "msg_3", "build", "two it is", "stop")
			s.event("session.idle", "ses_1", "")
		}
		s.prompt("ses_1", "msg_5", "three")
		s.step("ses_1", "msg_6", "msg_5", "build", "fine", "stop")
		s.event("session.idle", "ses_1", "")
		all := roots(s.runs(t))
		count1(t, "turns", len(all), 3)
		for i, want := range []string{"Interrupted by user", want, ""} {
			if all[i].Error != want {
				t.Errorf("turn %d has error %q, want %q", i+1, all[i].Error, want)
			}
		}
	}
}

// Who waits for a turn to fail may ask again before OpenCode has said all of it.
func TestAPromptThatComesBeforeAFailureIsToldTwiceIsAnswered(t *testing.T) {
	const failed = `,"error":{"name":"APIError","data":{"message":"no"}}`
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "one")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	s.event("session.error", "ses_1", failed)
	s.event("session.idle", "ses_1", "")
	s.prompt("ses_1", "msg_3", "two")
	s.reply("ses_1", "msg_2", "msg_1", "build", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, s.t, s.t)+failed)
	s.event("session.idle", "ses_1", "")
	s.step("ses_1", "msg_4", "msg_3", "build", "fine", "stop")
	s.event("session.idle", "ses_1", "")
	all := roots(s.runs(t))
	count1(t, "turns", len(all), 2)
	if all[0].Error != "APIError: no" || all[1].Error != "" || !strings.Contains(string(all[1].Outputs), "fine") {
		t.Errorf("errors %q and %q, outputs %s", all[0].Error, all[1].Error, all[1].Outputs)
	}
}

// A fork knows the subagents of the session it was copied from, and may give them work.
func TestASubagentWorksForTheForkThatResumesIt(t *testing.T) {
	s := newStory()
	work := func(session, message, call, prompt string) {
		const task = `"id":"prt_%s","type":"tool","tool":"task","callID":%q,"state":{"status":%q,"input":{},"metadata":{"sessionId":"ses_2","parentSessionId":%q},"time":{"start":%d,"end":%d}}`
		began := s.t
		s.reply(session, message, prompt, "build", s.begun())
		if session == "ses_1" {
			s.session("ses_2", "ses_1")
		}
		s.part(session, message, fmt.Sprintf(task, call, call, "running", session, began, 0))
		s.prompt("ses_2", "msg_work"+call, "work")
		s.event("session.updated", "ses_2", `,"info":{"id":"ses_2","parentID":"ses_1","version":"1.18.33"}`)
		s.step("ses_2", "msg_done"+call, "msg_work"+call, "general", "done for "+session, "stop")
		s.event("session.idle", "ses_2", "")
		s.part(session, message, fmt.Sprintf(task, call, call, "completed", session, began, s.t))
		s.reply(session, message, prompt, "build", s.done(`,"finish":"stop"`))
		s.event("session.idle", session, "")
	}
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	work("ses_1", "msg_2", "c1", "msg_1")
	s.session("ses_3", "")
	s.prompt("ses_3", "msg_3", "go on")
	work("ses_3", "msg_4", "c2", "msg_3")
	runs := s.runs(t)
	for i, root := range roots(runs) {
		tools := kinds(below(runs, root.ID), runtypes.KindTool)
		count1(t, "tasks", len(tools), 1)
		subs := below(runs, tools[0].ID)
		count1(t, "subagents", len(subs), 1)
		if want := []string{"done for ses_1", "done for ses_3"}[i]; !strings.Contains(string(subs[0].Outputs), want) || subs[0].Error != "" {
			t.Errorf("the subagent says %s (%s), want %s", subs[0].Outputs, subs[0].Error, want)
		}
	}
	count1(t, "runs", len(runs), 10)
	agree(t, s.recording(t), nil)
}

// A task that the user gives to a subagent is OpenCode's own message: no model is asked.
func TestATaskOfTheUsersIsNoCallOfTheModel(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.line("chat.message", fmt.Sprintf(`"input":{"sessionID":"ses_1"},"output":{"message":{"id":"msg_1","role":"user","time":{"created":%d}},"parts":[{"id":"prt_1","messageID":"msg_1","type":"subtask","agent":"general","prompt":"count the files"}]}`, s.t))
	s.reply("ses_1", "msg_2", "msg_1", "general", s.begun())
	const task = `"id":"prt_t","type":"tool","tool":"task","callID":"c1","state":{"status":%q,"input":{},"output":"two","metadata":{"sessionId":"ses_2","parentSessionId":"ses_1"},"time":{"start":%d,"end":%d}}`
	began := s.t
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "running", began, 0))
	s.session("ses_2", "ses_1")
	s.prompt("ses_2", "msg_3", "count the files")
	s.step("ses_2", "msg_4", "msg_3", "general", "two", "stop")
	s.event("session.idle", "ses_2", "")
	s.reply("ses_1", "msg_2", "msg_1", "general", fmt.Sprintf(`,"time":{"created":%d,"completed":%d},"finish":"tool-calls"`, began, s.t))
	s.part("ses_1", "msg_2", fmt.Sprintf(task, "completed", began, s.t))
	s.unspoken("ses_1", "msg_5", `"type":"text","text":"Summarize the task tool output","synthetic":true`)
	s.step("ses_1", "msg_6", "msg_5", "build", "there are two", "stop")
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	all := roots(runs)
	count1(t, "turns", len(all), 1)
	count1(t, "calls", len(kinds(runs, runtypes.KindLLM)), 2)
	count1(t, "runs", len(runs), 5)
	if in, out := string(all[0].Inputs), string(all[0].Outputs); !strings.Contains(in, "count the files") || !strings.Contains(out, "there are two") {
		t.Errorf("inputs %s, outputs %s", in, out)
	}
}

// Nothing but the output of a command that the user ran tells that it was stopped.
func TestAnAbortedCommandOfTheUsersIsInterrupted(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	for i, output := range []string{"done", "\n\n<metadata>\nUser aborted the command\n</metadata>"} {
		user, reply := fmt.Sprintf("msg_%d1", i), fmt.Sprintf("msg_%d2", i)
		s.unspoken("ses_1", user, `"type":"text","text":"The following tool was executed by the user","synthetic":true`)
		s.reply("ses_1", reply, user, "build", s.begun())
		bash := `"id":"prt_b` + user + `","type":"tool","tool":"bash","callID":"c1","state":{"status":%q,"input":{"command":"sleep 20"},"output":%q,"time":{"start":%d,"end":%d}}`
		began := s.t
		s.part("ses_1", reply, fmt.Sprintf(bash, "running", "", began, 0))
		s.reply("ses_1", reply, user, "build", fmt.Sprintf(`,"time":{"created":%d,"completed":%d}`, began, s.t))
		s.part("ses_1", reply, fmt.Sprintf(bash, "completed", output, began, s.t))
		s.event("session.idle", "ses_1", "")
	}
	runs := s.runs(t)
	all := roots(runs)
	count1(t, "turns", len(all), 2)
	for i, want := range []string{"", "Interrupted by user"} {
		for _, run := range append(below(runs, all[i].ID), all[i]) {
			if run.Error != want {
				t.Errorf("command %d: %s has error %q, want %q", i+1, run.Kind(), run.Error, want)
			}
		}
	}
}

// A user who stops OpenCode at once leaves a prompt without any message that answers it.
func TestATurnThatEndsBeforeItsAnswerIsInterrupted(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "wait")
	s.event("session.idle", "ses_1", "")
	s.prompt("ses_1", "msg_2", "go")
	s.event("session.error", "ses_1", `,"error":{"name":"UnknownError","data":{"message":"Model not found"}}`)
	s.event("session.idle", "ses_1", "")
	all := roots(s.runs(t))
	count1(t, "turns", len(all), 2)
	for i, want := range []string{"interrupted before an answer", "UnknownError: Model not found"} {
		if all[i].Error != want || !moment(t, all[i].EndTime).After(moment(t, all[i].StartTime)) {
			t.Errorf("turn %d: error %q, %s to %s", i+1, all[i].Error, all[i].StartTime, all[i].EndTime)
		}
	}
}

// OpenCode may let go of a project in the middle of a turn, and say no more of it.
func TestATurnThatTheNextOneFindsOpenEndsAfterAllOfIt(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	s.part("ses_1", "msg_2", `"id":"prt_1","type":"step-start"`)
	s.part("ses_1", "msg_2", fmt.Sprintf(`"id":"prt_b","type":"tool","tool":"bash","callID":"c1","state":{"status":"running","input":{},"time":{"start":%d}}`, s.t))
	s.prompt("ses_1", "msg_3", "go on")
	s.step("ses_1", "msg_4", "msg_3", "build", "fine", "stop")
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	all := roots(runs)
	count1(t, "turns", len(all), 2)
	for _, run := range below(runs, all[0].ID) {
		if moment(t, run.EndTime).After(moment(t, all[0].EndTime)) {
			t.Errorf("%s ends at %s, its turn at %s", run.Kind(), run.EndTime, all[0].EndTime)
		}
	}
}

// Who asks for a compaction while OpenCode is busy gets it in the turn that goes on.
func TestACompactionInATurnSaysWhoAskedForIt(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "a long task")
	s.step("ses_1", "msg_2", "msg_1", "build", "halfway", "tool-calls")
	s.unspoken("ses_1", "msg_3", `"type":"compaction","auto":false`)
	s.step("ses_1", "msg_4", "msg_3", "compaction", "what was done so far", "stop")
	s.event("session.idle", "ses_1", "")
	if got := kinds(s.runs(t), runtypes.KindChain)[0].Metadata()["compaction_trigger"]; got != "manual" {
		t.Errorf("it was started by %v", got)
	}
}

// An answer of another form than the user asked for is said to have failed when it is out.
func TestATurnFailsAfterItsLastMessageWasComplete(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "answer in JSON")
	s.step("ses_1", "msg_2", "msg_1", "build", "hello", "stop")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.done(`,"finish":"stop","error":{"name":"StructuredOutputError","data":{"message":"no JSON"}}`))
	s.event("session.idle", "ses_1", "")
	runs := s.runs(t)
	if root := roots(runs)[0]; root.Error != "StructuredOutputError: no JSON" {
		t.Errorf("error %q", root.Error)
	}
	count1(t, "runs", len(runs), 2)
}

// A prompt that was lost on the way costs what was asked, and no more.
func TestATurnWhosePromptWasLostIsTraced(t *testing.T) {
	s := newStory()
	s.session("ses_1", "")
	for user, part := range map[string]string{"msg_1": `"type":"text","text":"go"`, "msg_2": `"type":"text","text":"use the above","synthetic":true`} {
		s.unspoken("ses_1", user, part)
		began := s.t
		s.reply("ses_1", user+"a", user, "build", s.begun())
		s.part("ses_1", user+"a", `"id":"prt_`+user+`","type":"step-start"`)
		task := `"id":"prt_t` + user + `","type":"tool","tool":"task","callID":"c1","state":{"status":%q,"input":{},"output":"two","metadata":{"sessionId":"ses_%s","parentSessionId":"ses_1"},"time":{"start":%d,"end":%d}}`
		s.part("ses_1", user+"a", fmt.Sprintf(task, "running", user, began, 0))
		s.session("ses_"+user, "ses_1")
		s.prompt("ses_"+user, user+"b", "count")
		s.step("ses_"+user, user+"c", user+"b", "general", "two", "stop")
		s.event("session.idle", "ses_"+user, "")
		s.part("ses_1", user+"a", fmt.Sprintf(task, "completed", user, began, s.t))
		s.reply("ses_1", user+"a", user, "build", s.done(`,"finish":"tool-calls"`))
		s.step("ses_1", user+"d", user, "build", "there are two", "stop")
		s.event("session.idle", "ses_1", "")
	}
	runs := s.runs(t)
	all := roots(runs)
	count1(t, "turns", len(all), 2)
	count1(t, "runs", len(runs), 12)
	for _, root := range all {
		if root.Error != "" || !strings.Contains(string(root.Outputs), "there are two") {
			t.Errorf("error %q, outputs %s", root.Error, root.Outputs)
		}
	}
}

// The session of a subagent may be the first that is heard of.
func TestASubagentsSessionIsOfTheThreadItDescendsFrom(t *testing.T) {
	s := newStory()
	s.session("ses_2", "ses_1")
	s.prompt("ses_2", "msg_1", "go on")
	s.step("ses_2", "msg_2", "msg_1", "general", "fine", "stop")
	s.event("session.idle", "ses_2", "")
	for _, run := range s.runs(t) {
		if got := run.Metadata()["thread_id"]; got != "ses_1" {
			t.Errorf("%s is of thread %v", run.Kind(), got)
		}
	}
}

func TestACommandThatTookTooLongFailed(t *testing.T) {
	const note = "started\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 1500 ms. If this command needs more, retry.\n</shell_metadata>"
	s := newStory()
	s.session("ses_1", "")
	s.prompt("ses_1", "msg_1", "go")
	s.reply("ses_1", "msg_2", "msg_1", "build", s.begun())
	s.part("ses_1", "msg_2", fmt.Sprintf(`"id":"prt_b","type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{},"output":%q,"metadata":{"exit":null},"time":{"start":%d,"end":%d}}`, note, s.t, s.t+50))
	s.reply("ses_1", "msg_2", "msg_1", "build", s.done(`,"finish":"tool-calls"`))
	s.event("session.idle", "ses_1", "")
	const want = "shell tool terminated command after exceeding timeout 1500 ms"
	if tool := kinds(s.runs(t), runtypes.KindTool)[0]; tool.Error != want {
		t.Errorf("error %q, want %q", tool.Error, want)
	}
}
