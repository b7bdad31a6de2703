package runtypes

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// memory is a sink that keeps what it is given.
type memory struct {
	mu  sync.Mutex
	ops []Op
}

func (m *memory) Submit(op Op) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ops = append(m.ops, op)
	return nil
}

// final merges what was posted and patched.
func (m *memory) final(t *testing.T) []Run {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var runs []Run
	at := map[string]int{}
	for _, op := range m.ops {
		id := op.Run.ID.String()
		i, known := at[id]
		switch {
		case op.Verb == Post && known:
			t.Errorf("%s posted twice", op.Run.Name)
		case op.Verb == Post:
			at[id] = len(runs)
			runs = append(runs, *op.Run)
		case !known:
			t.Errorf("%s patched before its post", op.Run.Name)
		default:
			runs[i] = *Merge(&runs[i], op.Run)
		}
	}
	return runs
}

func clock() func() time.Time {
	at := start
	var mu sync.Mutex
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
}

func TestATurnBecomesAValidTrace(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "fix the bug", WithClock(clock()), WithMetadata(map[string]any{"team": "blue"}), WithTags("ci"))
	call := turn.LLM("claude-opus-4-5", []Message{{Role: "user", Content: "fix the bug"}})
	call.Model(Model{Provider: "anthropic"}).Usage(Usage{Input: 10, Output: 5}).End("on it")
	tool := turn.Tool("bash", "call-1", map[string]string{"command": "go test"})
	tool.Fail(errors.New("exit code 1"))
	agent := turn.Subagent("researcher", "a1", "look around")
	agent.Tool("read", "", nil).End("text")
	agent.End("found it")
	turn.End("done")

	runs := sink.final(t)
	for _, v := range Validate(runs) {
		t.Error(v)
	}
	var kinds []Kind
	for _, r := range runs {
		kinds = append(kinds, r.Kind)
		if r.Pending() {
			t.Errorf("%s has no end", r.Name)
		}
		if r.Metadata["team"] != "blue" {
			t.Errorf("%s lacks the user's metadata", r.Name)
		}
	}
	if got := fmt.Sprint(kinds); got != "[root llm tool tool subagent]" {
		t.Errorf("kinds %s", got)
	}
	if string(runs[0].Inputs) != `{"messages":[{"role":"user","content":"fix the bug"}]}` {
		t.Errorf("inputs %s", runs[0].Inputs)
	}
	if runs[2].Error != "exit code 1" || runs[3].AgentType != AgentSubagent {
		t.Errorf("runs %+v", runs)
	}
}

func TestAnIdentityNeedsNoMoreThanAName(t *testing.T) {
	for _, who := range []Identity{{Integration: "my-agent"}, {Runtime: "My Agent"}} {
		sink := &memory{}
		turn := StartTurn(sink, who, "x")
		turn.Tool("bash", "", nil).End("ok")
		turn.End("y")
		runs := sink.final(t)
		for _, v := range Validate(runs) {
			t.Error(v)
		}
		if id := runs[1].Identity; id.ThreadID != turn.ID().String() || id.Runtime != id.Integration {
			t.Errorf("%+v", id)
		}
	}
}

func TestWhatIsOpenWhenATurnEndsIsClosedAsInterrupted(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", WithClock(clock()))
	turn.Tool("bash", "", nil)
	turn.Subagent("researcher", "", "y").LLM("m", nil)
	turn.Interrupt("Interrupted by user")
	runs := sink.final(t)
	if len(runs) != 4 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs {
		if r.Pending() || !r.Interrupted || r.Error != "Interrupted by user" {
			t.Errorf("%s: end %v, error %q", r.Name, r.End, r.Error)
		}
	}
	for _, v := range Validate(runs) {
		t.Error(v)
	}
}

func TestEndingTwiceWritesOnce(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", WithClock(clock()))
	c := turn.Tool("bash", "", nil)
	c.End(nil)
	c.Fail(errors.New("late"))
	turn.End("y")
	turn.Interrupt("late")
	if turn.Tool("bash", "", nil) != nil {
		t.Error("a turn that has ended opened a tool call")
	}
	if n := len(sink.ops); n != 3 {
		t.Errorf("%d writes, want a post and a patch of the root and a post of the tool", n)
	}
}

func TestTracingOffCostsNothingAndBreaksNothing(t *testing.T) {
	ctx := t.Context()
	allocs := testing.AllocsPerRun(100, func() {
		turn := StartTurn(nil, Identity{}, "x")
		turn.LLM("m", benchMessages).Usage(Usage{}).Model(Model{}).Metadata("k", "v").Tags("a").Output("x").End("y")
		turn.Tool("t", "", benchArgs).Skill("s").Event("e", nil).Attach("a", "", nil).Fail(nil)
		turn.LLM("m", nil).Token()
		sub := turn.Tool("t", "", nil).Subagent("k", "", nil)
		sub.Compaction("auto", nil).Metadata("k", 1).Tags("b").Attach("a", "", nil).End(nil)
		sub.Inject(nil)
		sub.End(nil)
		turn.Guard(ctx)
		ctx = NewContext(ctx, turn)
		turn.Fail(nil)
		turn.Interrupt("")
		turn.End(nil)
		_ = turn.ID()
	})
	if allocs > 0 {
		t.Errorf("%v allocations with tracing off", allocs)
	}
}

func TestParallelChildrenAllArrive(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			sub := turn.Subagent("worker", fmt.Sprint(i), "go")
			sub.Tool("bash", "", nil).End("ok")
			sub.End("ok")
		})
	}
	wg.Wait()
	turn.End("done")
	if runs := sink.final(t); len(runs) != 101 {
		t.Errorf("%d runs, want 101", len(runs))
	}
}
