package pi

import (
	"fmt"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// What a subagent says goes to the thread of the Pi that started it, whose process is
// the one to watch; whether the extension says so or only the process ids do.
func TestASubagentsLinesGoToItsThread(t *testing.T) {
	peek := Agent().Stream()
	f := func(line, session string, pid int) {
		t.Helper()
		route, err := peek(integrations.Payload{Body: []byte(line)})
		if err != nil || route.Session != session || route.PID != pid {
			t.Errorf("%s: %+v (%v), want session %s and process %d", line, route, err, session, pid)
		}
	}
	line := func(at, pid, ppid int, session, more string) string {
		return fmt.Sprintf(`{"t":%d,"pid":%d,"ppid":%d,"name":"session_start","ctx":{"sessionId":%q}%s}`, at, pid, ppid, session, more)
	}
	f(line(1000, 10, 1, "main", ""), "main", 10)
	f(line(2000, 11, 10, "child", ""), "main", 0)
	f(line(2500, 12, 11, "grandchild", ""), "main", 0)
	f(line(3000, 13, 2, "other", ""), "other", 13)
	f(line(3000, 14, 3, "told", `,"parent":{"session":"elsewhere","root":"first"}`), "first", 0)
	f(line(1000+2*maxSilence, 15, 10, "late", ""), "late", 15) // the number was given again
	f(line(4000, 10, 1, "new", ""), "new", 10)                 // after /new
	f(line(4001, 16, 10, "child2", ""), "new", 0)
}

func TestUnknownEventsAndFieldsAreSkipped(t *testing.T) {
	k := newTalk(t)
	k.user("s", "go")
	k.say("s", "message_end", map[string]any{"message": map[string]any{"role": "oracle", "timestamp": 3}, "new": 1})
	k.say("s", "message_end", map[string]any{"message": map[string]any{"role": "custom", "content": "shown", "timestamp": 3}})
	k.say("s", "some_event_to_come", map[string]any{"x": 1})
	k.step("s", 1, "out")
	k.say("s", "agent_settled", map[string]any{"aborted": false})
	k.c.nothingOpen()
	if len(k.c.open) != 3 {
		t.Errorf("%d runs, want 3", len(k.c.open))
	}
}

// Where the reader of the stream was killed too, the death of the process is all there is.
func TestADeadProcessInterruptsWhatIsOpen(t *testing.T) {
	k := newTalk(t)
	k.user("s", "go")
	k.say("s", "tool_execution_start", map[string]any{"toolCallId": "c", "toolName": "bash", "args": map[string]any{"command": "sleep 9"}})
	ops, err := k.src.tell(k.r, integrations.Event{Kind: integrations.Dead})
	if err != nil {
		t.Fatal(err)
	}
	k.c.take(ops)
	k.c.nothingOpen()
	for _, op := range ops {
		if !op.Run.Interrupted || op.Run.Error != "Interrupted: the process ended" || op.Run.End.Before(time.UnixMilli(1796014794000)) {
			t.Errorf("%s ends %v with %q", op.Run.Name, op.Run.End, op.Run.Error)
		}
	}
	if len(ops) != 2 || !k.r.Status().Ended {
		t.Errorf("%d ops, %+v", len(ops), k.r.Status())
	}
}

// The model writes the summary of a branch before the move to another one is told.
func TestASummaryOfABranchBeginsWithTheMove(t *testing.T) {
	k := newTalk(t)
	k.user("s", "go")
	k.say("s", "agent_settled", nil)
	k.say("s", "session_before_tree", map[string]any{})
	k.at += 500
	entry := map[string]any{"id": "e", "timestamp": time.UnixMilli(k.at).UTC().Format(time.RFC3339Nano), "summary": "went nowhere", "usage": map[string]any{"input": 3, "output": 2}}
	k.say("s", "session_tree", map[string]any{"summaryEntry": entry})
	k.c.nothingOpen()
	for _, op := range k.ops[len(k.ops)-2:] {
		if took := op.Run.End.Sub(op.Run.Start); took != 500*time.Millisecond {
			t.Errorf("%s took %v", op.Run.Name, took)
		}
	}
}

// An extension may start a turn that no user asked for.
func TestATurnThatAnExtensionStartedSaysSo(t *testing.T) {
	k := newTalk(t)
	k.say("s", "before_agent_start", map[string]any{"messageType": "custom"})
	k.say("s", "message_end", map[string]any{"message": map[string]any{"role": "custom", "content": "build failed", "timestamp": k.at}})
	k.step("s", 1, "out")
	k.say("s", "agent_settled", map[string]any{"aborted": false})
	root := k.ops[0].Run
	if root.Kind != runtypes.KindRoot || root.Metadata["turn_origin"] != "extension" || len(root.Inputs) == 0 {
		t.Errorf("%+v", root)
	}
}

// Before /fork, /new and the end of the program a process says goodbye; one that did not
// is known to be gone when another takes the session up.
func TestAnotherProcessEndsWhatTheOneBeforeItLeftOpen(t *testing.T) {
	k := newTalk(t)
	k.user("s", "go")
	k.say("s", "session_start", map[string]any{"reason": "startup"})
	k.c.nothingOpen()
	if last := k.ops[len(k.ops)-1].Run; !last.Interrupted {
		t.Errorf("%+v", last)
	}
	k.user("s", "go on")
	k.step("s", 1, "out")
	k.say("s", "agent_settled", map[string]any{"aborted": false})
	for _, op := range k.ops {
		if op.Run.Kind == runtypes.KindRoot && op.Verb == runtypes.Post && op.Run.Identity.TurnNumber == 0 {
			t.Errorf("a turn has no number")
		}
	}
}

// Turns are named by the times of their prompts, of which two may be the same.
func TestTwoPromptsOfOneMomentAreTwoTurns(t *testing.T) {
	k := newTalk(t)
	for range 2 {
		k.say("s", "before_agent_start", map[string]any{"messageType": "user", "prompt": "go"})
		k.say("s", "message_end", map[string]any{"message": map[string]any{"role": "user", "content": "go", "timestamp": int64(1796014794001)}})
		k.say("s", "agent_settled", map[string]any{"aborted": true})
	}
	k.c.nothingOpen()
	if len(k.c.open) != 2 {
		t.Errorf("%d runs, want 2", len(k.c.open))
	}
}

// Some providers count the calls of each reply anew.
func TestCallsOfTheSameNameAreARunEach(t *testing.T) {
	k := newTalk(t)
	k.user("s", "go")
	for range 3 {
		k.step("s", 1, "out")
	}
	k.say("s", "agent_settled", map[string]any{"aborted": false})
	k.c.nothingOpen()
	tools := map[string]bool{}
	for _, op := range k.ops {
		if op.Run.Kind == runtypes.KindTool {
			tools[op.Run.ID.String()] = true
			if op.Run.Metadata[agentkit.MetaCallID] != "call_1" {
				t.Errorf("%v", op.Run.Metadata)
			}
		}
	}
	if len(tools) != 3 {
		t.Errorf("%d tools, want 3", len(tools))
	}
}
