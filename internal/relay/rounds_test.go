package relay

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// story builds native runs of the Python client's shapes, a millisecond apart.
type story struct {
	thread, turn string
	number       int
	at           time.Time
	n            int
}

func newStory(thread, turn string, number int) *story {
	return &story{thread: thread, turn: turn, number: number, at: time.Date(2026, 11, 30, 5, 0, 0, 0, time.UTC).Add(time.Duration(number) * time.Hour)}
}

func (s *story) next() time.Time {
	s.at = s.at.Add(time.Millisecond)
	return s.at
}

// run begins a run below another; nil is a root.
func (s *story) run(parent map[string]any, name, kind string, more map[string]any) map[string]any {
	s.n++
	at := s.next()
	id := fmt.Sprintf("019f%04x-0000-7000-8000-%012x", len(s.turn)<<8|int(s.turn[len(s.turn)-1]), s.n)
	meta := map[string]any{
		"ls_integration": Integration, "ls_agent_runtime": "Deep Agents Code", "ls_agent_runtime_version": "0.2.2",
		"thread_id": s.thread, "turn_id": s.turn, "turn_number": s.number, "cwd": "/home/dev/widgets",
		"git_branch": "main", "git_commit_sha": strings.Repeat("ab", 20), "repository_url": "https://github.com/acme/widgets",
		"ls_agent_type": "root", "LANGSMITH_ENDPOINT": "http://127.0.0.1", "checkpoint_ns": "x",
	}
	for key, value := range more {
		meta[key] = value
	}
	run := map[string]any{
		"id": id, "name": name, "run_type": kind, "start_time": at.Format(runtypes.TimeLayout), "session_name": "mine",
		"dotted_order": at.Format("20060102T150405.000000Z"), "trace_id": id, "inputs": map[string]any{"messages": []any{}},
		"extra": map[string]any{"metadata": meta}, "parent_run_id": nil, "reference_example_id": nil,
	}
	run["dotted_order"] = strings.Replace(run["dotted_order"].(string), ".", "", 1) + id
	if parent != nil {
		run["parent_run_id"], run["trace_id"] = parent["id"], parent["trace_id"]
		run["dotted_order"] = parent["dotted_order"].(string) + "." + run["dotted_order"].(string)
	}
	return run
}

// end ends a run.
func (s *story) end(run map[string]any, outputs any, failure string) native {
	patch := map[string]any{"end_time": s.next().Format(runtypes.TimeLayout)}
	for _, key := range []string{"id", "name", "run_type", "start_time", "session_name", "dotted_order", "trace_id", "extra", "parent_run_id"} {
		patch[key] = run[key]
	}
	if outputs != nil {
		patch["outputs"] = outputs
	}
	if failure != "" {
		patch["error"] = failure
	}
	return native{runtypes.Patch, patch}
}

func begin(run map[string]any) native { return native{runtypes.Post, run} }

// says are outputs that end in a message of the agent's, with tool calls or without.
func says(text string, calls ...string) map[string]any {
	list := []any{}
	for _, id := range calls {
		list = append(list, map[string]any{"name": "execute", "args": map[string]any{}, "id": id, "type": "tool_call"})
	}
	return map[string]any{"messages": []any{
		map[string]any{"type": "human", "content": "go on"},
		map[string]any{"type": "ai", "content": text, "tool_calls": list},
	}}
}

// model is a whole call of a model.
func (s *story) model(parent map[string]any, more map[string]any) []native {
	node := s.run(parent, "model", "chain", nil)
	meta := map[string]any{"ls_integration": "langchain_chat_model", "ls_model_name": "claude-opus-4-5", "ls_provider": "anthropic"}
	for key, value := range more {
		meta[key] = value
	}
	call := s.run(node, "ChatAnthropic", "llm", meta)
	return []native{begin(node), begin(call), s.end(call, map[string]any{"generations": []any{[]any{map[string]any{
		"message": map[string]any{"type": "ai", "usage_metadata": map[string]any{"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}},
	}}}}, ""), s.end(node, nil, "")}
}

func TestARoundAfterAnApprovalIsNoTurnOfItsOwn(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	asked := s.run(nil, "agent", "chain", nil)
	list := append([]native{begin(asked)}, s.model(asked, nil)...)
	list = append(list, s.end(asked, says("May I?", "call_1"), ""))
	b.post(list...)
	b.await("the model call", func(runs []runtypes.Wire) bool { return len(runs) == 2 && runs[1].EndTime != "" })
	time.Sleep(400 * time.Millisecond) // longer than an end is waited with
	if runs := b.langsmith.Memory().Runs(); runs[0].EndTime != "" {
		t.Fatal("a turn ended while its tool waited for an answer")
	}
	resumed := s.run(nil, "agent", "chain", nil)
	resumed["tags"] = []string{"dcode:resume"}
	tools := s.run(resumed, "tools", "chain", nil)
	tool := s.run(tools, "execute", "tool", nil)
	b.post(begin(resumed), begin(tools), begin(tool), s.end(tool, map[string]any{"output": "done"}, ""), s.end(tools, nil, ""))
	b.post(append(s.model(resumed, nil), s.end(resumed, says("Done."), ""))...)
	runs := b.await("the turn", whole(1))
	check(t, runs)
	want := "root agent\n  llm ChatAnthropic\n  tool execute\n  llm ChatAnthropic\n"
	if got := outline(runs); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	var outputs struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal(runs[0].Outputs, &outputs); err != nil || outputs.Messages[1].Content != "Done." {
		t.Errorf("outputs %s, %v", runs[0].Outputs, err)
	}
	meta := runs[1].Metadata()
	for key, want := range map[string]any{
		"ls_integration": "deepagents-code", "ls_llm_integration": "langchain_chat_model", "ls_model_name": "claude-opus-4-5",
		"git_repo_url": "https://github.com/acme/widgets", "working_directory": "/home/dev/widgets", "ls_agent_version": "0.2.2",
		"LANGSMITH_ENDPOINT": nil, "checkpoint_ns": nil,
	} {
		if meta[key] != want {
			t.Errorf("%s is %v, want %v", key, meta[key], want)
		}
	}
}

// After an abort the client notes it in the thread's state: recorded with 0.1.88.
func TestTheNoteOfAnAbortIsNoRoundAndNoTurn(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	turn := s.run(nil, "agent", "chain", nil)
	b.post(append(append([]native{begin(turn)}, s.model(turn, nil)...), s.end(turn, nil, "CancelledError()"))...)
	note := s.run(nil, "agentUpdateState", "chain", map[string]any{"ls_integration": "deepagents"})
	b.post(begin(note), s.end(note, map[string]any{"messages": []any{map[string]any{"type": "human", "content": "[SYSTEM] Task interrupted by user."}}}, ""))
	runs := b.await("the turn", whole(1))
	check(t, runs)
	if got, want := outline(runs), "interrupted agent error: Interrupted by user\n  llm ChatAnthropic\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	time.Sleep(400 * time.Millisecond) // a run that passes on arrives by then
	if list := b.langsmith.Memory().Runs(); len(list) != 2 {
		t.Errorf("%d runs", len(list))
	}
}

func TestARoundThatFollowsAtOnceEndsTheTurn(t *testing.T) {
	src, turn := &told{}, newTurn()
	s := newStory("thread", "turn-1", 1)
	first, second := s.run(nil, "agent", "chain", nil), s.run(nil, "agent", "chain", nil)
	var ops []runtypes.Op
	for _, each := range []native{
		begin(first), s.end(first, says("Done."), ""), begin(second), s.end(second, says("A hook had me look again."), ""),
	} {
		raw, err := json.Marshal(each.run)
		if err != nil {
			t.Fatal(err)
		}
		var w runtypes.Wire
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatal(err)
		}
		turn = restored(t, turn)
		more, err := turn.Apply(src, src.line(string(each.verb), w))
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, more...)
	}
	if !turn.Status().Waiting || len(ops) != 1 {
		t.Fatalf("%+v, %d writes", turn.Status(), len(ops))
	}
	more, err := turn.Apply(src, integrations.Event{Kind: integrations.Idle})
	if err != nil || len(more) != 1 || !strings.Contains(string(more[0].Run.Outputs), "look again") || more[0].Run.Interrupted {
		t.Errorf("%v, %+v", err, more)
	}
}

func TestWhatStoppedARunIsTold(t *testing.T) {
	for native, want := range map[string]string{
		traceback + "\n  File \"x.py\", line 1, in f\n    g()\nasyncio.exceptions.CancelledError: stop\n":     interruptedByUser,
		"CancelledError(<object object at 0x7f>)\n\nNoneType: None\n":                                         interruptedByUser,
		traceback + "\n  File \"x.py\", line 1, in f\nlanggraph.errors.GraphInterrupt: (Interrupt(value=1),)": pausedForAnswer,
		"Cancelled (by me)":                                                    "",
		"Abort\n\nError: Abort\n    at x":                                      interruptedByUser,
		"CancelledError()Traceback (most recent call last):\n":                 interruptedByUser,
		"KeyboardInterrupt()":                                                  interruptedByUser,
		"This operation was aborted\n\nAbortError: This operation was aborted": interruptedByUser,
		"GraphInterrupt((Interrupt(value={}),))Traceback":                      pausedForAnswer,
		"ValueError('Abort')Traceback":                                         "",
		"CancelledErrorHandler('x')":                                           "",
		"BadRequestError(400)":                                                 "",
	} {
		if got := stopped(native); got != want {
			t.Errorf("%q: %q, want %q", native, got, want)
		}
	}
}

func TestTurnsAreCountedOnThroughResumesAndRestarts(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	turn := func(id string, native int) {
		s := newStory("thread", id, native)
		root := s.run(nil, "agent", "chain", nil)
		b.post(begin(root), s.end(root, says("ok"), ""))
	}
	turn("turn-a", 1)
	turn("turn-b", 2)
	b.await("two turns", whole(2))
	b.stop()
	b.start()
	turn("turn-c", 1) // the agent was started anew
	turn("turn-d", 9) // and these it had while the relay was not there
	numbers := map[string]string{}
	for _, w := range b.await("four turns", whole(4)) {
		meta := w.Metadata()
		numbers[meta["turn_id"].(string)] = fmt.Sprint(meta["turn_number"])
	}
	if got, want := fmt.Sprint(numbers), "map[turn-a:1 turn-b:2 turn-c:3 turn-d:9]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestATurnThatTheNextOneLeftOpenIsInterrupted(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	tool := s.run(root, "execute", "tool", nil)
	b.post(begin(root), begin(tool))
	after := newStory("thread", "turn-2", 2)
	second := after.run(nil, "agent", "chain", nil)
	b.post(begin(second), after.end(second, says("ok"), ""))
	runs := b.await("both turns", whole(2))
	check(t, runs)
	want := "interrupted agent error: Interrupted by user\n  tool execute error: Interrupted by user\nroot agent\n"
	if got := outline(runs); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestRunsOfADeadClientAreClosed(t *testing.T) {
	if os.Getenv("RELAY_CLIENT") != "" {
		t.Fatal("a client runs no tests")
	}
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	call := s.run(root, "ChatAnthropic", "llm", map[string]any{"ls_integration": "langchain_chat_model"})
	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), "RELAY_CLIENT="+b.url, "RELAY_TOKEN="+b.token)
	client.Stdin = strings.NewReader(string(batchOf([]native{begin(root), begin(call)})))
	if out, err := client.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !peersAreKnown {
		b.await("the turn", func(runs []runtypes.Wire) bool { return len(runs) == 2 })
		return
	}
	runs := b.await("the turn", whole(1))
	check(t, runs)
	want := "interrupted agent error: The agent's process ended\n  llm ChatAnthropic error: The agent's process ended\n"
	if got := outline(runs); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestMiddlewareIsLeftOutAndItsModelCallsAreNamedForIt(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	summary := s.run(root, "SummarizationMiddleware.before_model", "chain", nil)
	list := append([]native{begin(root), begin(summary)}, s.model(summary, nil)...)
	guard := s.run(root, "GuardMiddleware.after_model", "chain", nil)
	list = append(list, s.end(summary, nil, ""), begin(guard))
	list = append(list, s.model(guard, nil)...)
	list = append(list, s.end(guard, nil, ""), s.end(root, says("ok"), ""))
	b.post(list...)
	runs := b.await("the turn", whole(1))
	check(t, runs)
	var roles []any
	for _, w := range runs {
		roles = append(roles, w.Metadata()["ls_agent_type"])
	}
	if got, want := fmt.Sprint(roles), "[root compaction middleware]"; got != want {
		t.Errorf("agent types %s, want %s", got, want)
	}
}

func TestASubagentIsNamedByTheCallThatStartedIt(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	task := s.run(root, "task", "tool", nil)
	task["inputs"] = map[string]any{"input": `{'description': "it's", 'subagent_type': 'researcher'}`}
	task["extra"].(map[string]any)["tool_call_id"] = "toolu_1"
	below := s.run(task, "agent", "chain", map[string]any{"ls_agent_type": "subagent", "lc_agent_name": "agent"})
	b.post(begin(root), begin(task), begin(below), s.end(below, nil, ""), s.end(task, nil, ""), s.end(root, says("ok"), ""))
	runs := b.await("the turn", whole(1))
	check(t, runs)
	meta := runs[2].Metadata()
	if runs[2].Kind() != runtypes.KindSubagent || meta["ls_subagent_id"] != "toolu_1" || meta["ls_subagent_type"] != "researcher" {
		t.Errorf("%s %v", runs[2].Kind(), meta)
	}
}

func TestSecretsStayHereAndAreNotKept(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	root["inputs"] = map[string]any{"messages": []any{map[string]any{"role": "user", "content": "the key is " + secret}}}
	b.post(begin(root), s.end(root, says("I keep "+secret), ""))
	for _, w := range b.await("the turn", whole(1)) {
		raw, _ := json.Marshal(w)
		if strings.Contains(string(raw), secret) {
			t.Error("a secret was delivered")
		}
	}
	found, err := exec.Command("grep", "-rl", secret, b.dir).CombinedOutput()
	if err == nil {
		t.Errorf("a secret is on the disk: %s", found)
	}
}
