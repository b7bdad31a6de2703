package relay

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// fold is what a turn makes of writes as they come, and of the drainer's own events, which
// have no run.
func fold(t *testing.T, list []native) map[string]*runtypes.Run {
	t.Helper()
	src, turn, runs := &told{}, newTurn(), map[string]*runtypes.Run{}
	apply := func(e integrations.Event) {
		ops, err := turn.Apply(src, e)
		if err != nil {
			t.Fatal(err)
		}
		turn = restored(t, turn)
		for _, op := range ops {
			id := op.Run.ID.String()
			if (op.Verb == runtypes.Post) == (runs[id] != nil) {
				t.Errorf("%s of %s", op.Verb, op.Run.Name)
			}
			if op.Verb == runtypes.Patch && runs[id] != nil {
				op.Run = runtypes.Merge(runs[id], op.Run)
			}
			runs[id] = op.Run
		}
	}
	for _, each := range list {
		if each.run == nil {
			apply(integrations.Event{Kind: string(each.verb)})
			continue
		}
		writes, err := ingest.Decode(httptest.NewRequest(http.MethodPost, "/runs/batch", nil), batchOf([]native{each}), ingest.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range slices.Concat(writes.Posts, writes.Patches) {
			apply(src.line(string(each.verb), w))
		}
	}
	return runs
}

// A client may be killed, or the user stop it and ask something else, at any moment; what
// was under way then may still come.
func TestATurnThatIsCutOffAnywhereEndsOnce(t *testing.T) {
	for _, name := range []string{"hang", "dasub"} {
		list := halves(fixture(t, name))
		for end, own := range map[string][]native{
			"killed": {{verb: integrations.Dead}},
			"left":   {{verb: lineNext}, {verb: integrations.Idle}},
		} {
			for at := 1; at <= len(list); at += 3 {
				for _, rest := range [][]native{nil, list} {
					runs := fold(t, slices.Concat(list[:at], own, rest, own))
					var wires []runtypes.Wire
					for _, run := range runs {
						w, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: run})
						if err != nil {
							t.Fatal(err)
						}
						if wires = append(wires, w); w.EndTime == "" {
							t.Errorf("%s, %s at %d: %s is open", name, end, at, w.Name)
						}
					}
					for _, v := range runtypes.ValidateWire(wires) {
						t.Errorf("%s, %s at %d: %v", name, end, at, v)
					}
				}
			}
		}
	}
}

// An end that was lost is not waited for beyond the turn, nor told of the turn itself.
func TestARunThatOutlivesItsTurnIsEndedByTheNext(t *testing.T) {
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	tool := s.run(root, "execute", "tool", nil)
	list := []native{begin(root), begin(tool), s.end(root, says("ok"), ""), {verb: lineNext}}
	if runs := fold(t, list); runs[tool["id"].(string)].Pending() != true {
		t.Error("its end may be on its way")
	}
	runs := fold(t, append(list, native{verb: integrations.Idle}))
	if got := runs[tool["id"].(string)]; !got.Interrupted || got.Error != outlived {
		t.Errorf("%+v", got)
	}
	if got := runs[root["id"].(string)]; got.Interrupted || got.Pending() {
		t.Errorf("%+v", got)
	}
}

// A client that was away for a while sends what it has, and not all of that in order.
func TestWhatWaitsInVainIsTakenPostsAndParentsFirst(t *testing.T) {
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	lost := s.run(root, "tools", "chain", nil)
	outer := s.run(lost, "outer", "chain", nil)
	tool := s.run(outer, "execute", "tool", nil)
	tool["inputs"] = map[string]any{"input": "ls"}
	runs := fold(t, []native{begin(root), s.end(tool, map[string]any{"output": "x"}, ""), begin(tool), begin(outer), {verb: integrations.Idle}})
	got := runs[tool["id"].(string)]
	if got == nil || !strings.Contains(string(got.Inputs), "ls") || got.End.IsZero() {
		t.Fatalf("%+v", got)
	}
	if got.ParentID.String() != outer["id"] {
		t.Errorf("it stands below %s", got.ParentID)
	}
}

func TestALongTurnMayComeBackwards(t *testing.T) {
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	list := []native{begin(root)}
	for range 100 {
		node := s.run(root, "helper", "chain", nil)
		tool := s.run(node, "execute", "tool", nil)
		list = append(list, begin(node), begin(tool), s.end(tool, nil, ""), s.end(node, nil, ""))
	}
	forwards := fold(t, list)
	slices.Reverse(list)
	backwards := fold(t, list)
	for id, run := range forwards {
		other := backwards[id]
		if other.DottedOrder != run.DottedOrder || !other.End.Equal(run.End) || !bytes.Equal(other.Inputs, run.Inputs) {
			t.Errorf("%s: at %v, %s, %q; want at %v, %s, %q", run.Name, other.End, other.DottedOrder, other.Inputs, run.End, run.DottedOrder, run.Inputs)
		}
	}
	if len(forwards) != 201 || len(backwards) != 201 {
		t.Errorf("%d and %d runs", len(forwards), len(backwards))
	}
}

// deepagents#3634: a subagent need not be told that it is one, and runs side by side with
// others.
func TestSubagentsSideBySideAndBelowEachOtherKeepTheirOwn(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	ask := func(parent map[string]any, id, kind string) (task, agent map[string]any, begun []native) {
		tools := s.run(parent, "tools", "chain", nil)
		task = s.run(tools, "task", "tool", nil)
		task["inputs"] = map[string]any{"subagent_type": kind, "description": "look"}
		task["extra"].(map[string]any)["tool_call_id"] = id
		agent = s.run(task, "agent", "chain", nil) // named and marked as its parent
		return task, agent, []native{begin(tools), begin(task), begin(agent)}
	}
	one, oneAgent, list1 := ask(root, "call_1", "explore")
	two, twoAgent, list2 := ask(root, "call_2", "write")
	inner, innerAgent, list3 := ask(twoAgent, "call_3", "check")
	list := []native{begin(root)}
	for _, each := range [][]native{list1, list2, list3, s.model(oneAgent, nil), s.model(innerAgent, nil), s.model(twoAgent, nil)} {
		list = append(list, each...)
	}
	for _, each := range []map[string]any{innerAgent, inner, oneAgent, one, twoAgent, two} {
		list = append(list, s.end(each, nil, ""))
	}
	b.post(append(list, s.end(root, says("ok"), ""))...)
	runs := b.await("the turn", whole(1))
	check(t, runs)
	var got strings.Builder
	for _, w := range runs {
		meta := w.Metadata()
		got.WriteString(strings.Repeat(" ", strings.Count(w.DottedOrder, ".")) + w.Name + " " + text(meta, "ls_agent_type") + " " + text(meta, "ls_subagent_id") + text(meta, "ls_subagent_type") + "\n")
	}
	const want = `agent root 
 task root 
  agent subagent call_1explore
   ChatAnthropic subagent 
 task root 
  agent subagent call_2write
   task subagent 
    agent subagent call_3check
     ChatAnthropic subagent 
   ChatAnthropic subagent 
`
	if got.String() != want {
		t.Errorf("got\n%s, want\n%s", got.String(), want)
	}
}
