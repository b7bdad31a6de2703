package pi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// talk tells a reducer events of one session as the stream would.
type talk struct {
	t   *testing.T
	src *memory
	r   integrations.Reducer
	at  int64
	c   *checker
	ops []runtypes.Op
}

func newTalk(t *testing.T) *talk {
	return &talk{
		t: t, src: &memory{}, r: newReducer(integrations.Options{}), at: 1796014794000,
		c: &checker{t: t, open: map[string]bool{}},
	}
}

func (k *talk) say(session, name string, e map[string]any) {
	k.t.Helper()
	k.at += 10
	raw, err := json.Marshal(map[string]any{
		"t": k.at, "pid": 7, "name": name, "event": e, "ctx": map[string]any{"sessionId": session, "cwd": "/w", "mode": "tui"},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	kept, err := project(integrations.Payload{Body: raw})
	if err != nil {
		k.t.Fatal(err)
	}
	ops, err := k.src.tell(k.r, integrations.Event{Kind: name, CWD: "/w", At: time.UnixMilli(k.at), Data: kept})
	if err != nil {
		k.t.Fatal(err)
	}
	k.c.take(ops)
	k.ops = append(k.ops, ops...)
}

func (k *talk) user(session, text string) {
	k.t.Helper()
	k.say(session, "before_agent_start", map[string]any{"messageType": "user", "prompt": text})
	k.say(session, "message_end", map[string]any{"message": map[string]any{"role": "user", "content": text, "timestamp": k.at}})
}

// step is one model call with one tool.
func (k *talk) step(session string, n int, output string) {
	k.t.Helper()
	id := fmt.Sprintf("call_%d", n)
	k.say(session, "before_provider_request", nil)
	k.say(session, "message_end", map[string]any{"message": map[string]any{
		"role": "assistant", "timestamp": k.at, "durationMs": 5, "stopReason": "toolUse", "model": "m", "provider": "p",
		"content": []any{map[string]any{"type": "toolCall", "id": id, "name": "bash", "arguments": map[string]any{"command": "ls"}}},
		"usage":   map[string]any{"input": 1, "output": 1},
	}})
	k.say(session, "tool_execution_start", map[string]any{"toolCallId": id, "toolName": "bash", "args": map[string]any{"command": "ls"}})
	k.say(session, "tool_execution_end", map[string]any{"toolCallId": id, "toolName": "bash", "durationMs": 3,
		"result": map[string]any{"content": []any{map[string]any{"type": "text", "text": output}}}})
	k.say(session, "message_end", map[string]any{"message": map[string]any{"role": "toolResult", "toolCallId": id}})
}

// A turn may go on for a day: what is kept of it is bounded, what is repeated of it too,
// and each run is still told once.
func TestALongTurnKeepsTheCheckpointSmall(t *testing.T) {
	k := newTalk(t)
	k.user("s", "go on")
	const steps = 2000
	repeated := 0
	for n := range steps {
		k.step("s", n, strings.Repeat("x", 2000))
		if n%100 == 0 {
			state, err := json.Marshal(k.r)
			if err != nil {
				t.Fatal(err)
			}
			if len(state) > 64<<10 {
				t.Fatalf("after %d steps the checkpoint has %d bytes", n, len(state))
			}
			k.r = roundTrip(t, k.r)
		}
		for _, op := range k.ops {
			repeated += len(op.Run.Inputs)
		}
		k.ops = nil
	}
	k.say("s", "agent_settled", map[string]any{"aborted": false})
	k.c.nothingOpen()
	if want := 1 + 2*steps; len(k.c.open) != want {
		t.Errorf("%d runs, want %d", len(k.c.open), want)
	}
	if repeated > 64<<20 {
		t.Errorf("the calls repeat %d bytes", repeated)
	}
}

// A thread may see more subagents than are worth remembering.
func TestManySubagentsKeepTheCheckpointSmall(t *testing.T) {
	k := newTalk(t)
	k.user("s", "delegate")
	for n := range 300 {
		id := fmt.Sprintf("sub_%d", n)
		k.say("s", "tool_execution_start", map[string]any{"toolCallId": id, "toolName": "subagent", "args": map[string]any{"agent": "scout", "task": id}})
		child := fmt.Sprintf("child_%d", n)
		k.say(child, "session_start", map[string]any{"reason": "startup"})
		k.user(child, "Task: "+id)
		k.step(child, n, "done")
		k.say(child, "agent_settled", map[string]any{"aborted": false})
		k.say(child, "session_shutdown", map[string]any{"reason": "quit"})
		k.say("s", "tool_execution_end", map[string]any{"toolCallId": id, "toolName": "subagent"})
	}
	state, err := json.Marshal(k.r)
	if err != nil {
		t.Fatal(err)
	}
	if len(state) > 64<<10 {
		t.Errorf("the checkpoint has %d bytes", len(state))
	}
	k.say("s", "agent_settled", map[string]any{"aborted": false})
	k.c.nothingOpen()
	subagents := 0
	for _, op := range k.ops {
		if op.Run.Kind == runtypes.KindSubagent && op.Verb == runtypes.Post {
			subagents++
			if op.Run.Subagent.Type != "scout" {
				t.Errorf("subagent %+v", op.Run.Subagent)
			}
		}
	}
	if subagents != 300 {
		t.Errorf("%d subagents, want 300", subagents)
	}
}

// A call that a tool made hangs under that tool's.
func TestACallOfACallHangsUnderIt(t *testing.T) {
	k := newTalk(t)
	k.user("s", "script it")
	k.say("s", "tool_execution_start", map[string]any{"toolCallId": "c", "toolName": "codemode", "args": map[string]any{"code": "x"}})
	k.say("s", "tool_execution_start", map[string]any{"toolCallId": "c/1", "parentToolCallId": "c", "toolName": "bash", "args": map[string]any{"command": "ls"}})
	k.say("s", "tool_execution_end", map[string]any{"toolCallId": "c/1", "parentToolCallId": "c", "toolName": "bash", "durationMs": 3, "result": map[string]any{"content": "x"}})
	k.say("s", "tool_execution_end", map[string]any{"toolCallId": "c", "toolName": "codemode", "durationMs": 30, "result": map[string]any{"content": "y"}})
	k.say("s", "agent_settled", map[string]any{"aborted": false})
	k.c.nothingOpen()
	var outer, inner *runtypes.Run
	for _, op := range k.ops {
		switch op.Run.Name {
		case "codemode":
			outer = op.Run
		case "bash":
			inner = op.Run
		}
	}
	if outer == nil || inner == nil || inner.ParentID != outer.ID {
		t.Errorf("inner %+v, outer %+v", inner, outer)
	}
}

// Equal tasks are told apart by their order, and a task that none of the calls names goes
// to the only call that can have started it.
func TestSubagentsFindTheirTasks(t *testing.T) {
	k := newTalk(t)
	k.user("s", "delegate")
	scout := map[string]any{"agent": "scout", "task": "count"}
	k.say("s", "tool_execution_start", map[string]any{"toolCallId": "r", "toolName": "read", "args": map[string]any{"path": "count"}})
	k.say("s", "tool_execution_start", map[string]any{"toolCallId": "c", "toolName": "subagent", "args": map[string]any{"tasks": []any{scout, scout, map[string]any{"agent": "critic", "task": "judge {previous} well"}}}})
	for _, each := range []struct{ session, prompt string }{
		{"a", "Task: count"}, {"b", "Task: count"}, {"c", "Task: judge two files well"}, {"d", "Something else"},
	} {
		k.say(each.session, "session_start", nil)
		k.user(each.session, each.prompt)
		k.say(each.session, "agent_settled", map[string]any{"aborted": false})
	}
	var got []string
	for _, op := range k.ops {
		if op.Run.Kind == runtypes.KindSubagent && op.Verb == runtypes.Post {
			got = append(got, op.Run.Subagent.ID+" "+op.Run.Subagent.Type)
		}
	}
	if want := "c/0 scout, c/1 scout, c/2 critic, c/3 scout"; strings.Join(got, ", ") != want {
		t.Errorf("subagents %s, want %s", strings.Join(got, ", "), want)
	}
}

// What one session is told of another process's end is not its own.
func TestTheEndOfASubagentsProcessEndsTheSubagentAlone(t *testing.T) {
	k := newTalk(t)
	k.user("s", "delegate")
	k.say("s", "tool_execution_start", map[string]any{"toolCallId": "c", "toolName": "subagent", "args": map[string]any{"agent": "scout", "task": "count"}})
	k.say("a", "session_start", nil)
	r, ok := k.r.(*reducer)
	if !ok {
		t.Fatal("another reducer")
	}
	r.Actors["a"].PID = 8
	k.user("a", "Task: count")
	ops, err := k.src.tell(k.r, integrations.Event{Kind: integrations.Hangup, At: time.UnixMilli(k.at), Data: []byte(`{"pid":8}`)})
	if err != nil {
		t.Fatal(err)
	}
	k.c.take(ops)
	if len(ops) != 1 || ops[0].Run.Kind != runtypes.KindSubagent || !ops[0].Run.Interrupted {
		t.Errorf("%d ops", len(ops))
	}
	if k.r.Status().Open != 1 || k.r.Status().Ended {
		t.Errorf("%+v", k.r.Status())
	}
	ops, err = k.src.tell(k.r, integrations.Event{Kind: integrations.Hangup, At: time.UnixMilli(k.at), Data: []byte(`{"pid":7}`)})
	if err != nil {
		t.Fatal(err)
	}
	k.c.take(ops)
	k.c.nothingOpen()
	if !k.r.Status().Ended {
		t.Error("the session has not ended")
	}
}
