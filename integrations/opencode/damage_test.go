package opencode_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// whole checks that no run is open, none hangs in the air, and none breaks the contract.
func whole(t *testing.T, what string, runs []runtypes.Wire) {
	t.Helper()
	known := map[string]runtypes.Wire{}
	for _, run := range runs {
		known[run.ID] = run
	}
	for _, run := range runs {
		if run.EndTime == "" {
			t.Errorf("%s: %s %s is open", what, run.Kind(), run.Name)
		}
		parent, there := known[run.ParentRunID]
		if run.ParentRunID != "" && !there {
			t.Errorf("%s: %s %s hangs in the air", what, run.Kind(), run.Name)
		}
		if there && run.StartTime > parent.EndTime || run.StartTime > run.EndTime {
			t.Errorf("%s: %s %s begins at %s and ends at %s, what it hangs under at %s", what, run.Kind(), run.Name, run.StartTime, run.EndTime, parent.EndTime)
		}
		if strings.Contains(string(run.Inputs), `"messages":null`) {
			t.Errorf("%s: %s %s says that it was told nothing", what, run.Kind(), run.Name)
		}
	}
	for _, v := range runtypes.ValidateWire(runs) {
		t.Errorf("%s: %v", what, v)
	}
}

func TestAKillAtAnyLineLeavesAWholeTree(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			rec, err := replay.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			steps := rec.Steps
			stride := 1
			if len(steps) > 80 {
				stride = 1 + len(steps)/40 // each takes as long as what came before
			}
			for n := 1; n < len(steps); n += stride {
				cut := *rec
				cut.Steps = append(append([]replay.Step(nil), steps[:n]...), replay.Step{At: steps[n-1].At, PID: steps[n-1].PID, Hangup: true})
				res, err := cut.Run(opencode.Agent(), replay.Options{})
				if err != nil {
					t.Fatalf("after %d lines: %v", n, err)
				}
				whole(t, "killed", res.Runs)
				if t.Failed() {
					t.Fatalf("after %d lines", n)
				}
			}
		})
	}
}

// A line that was lost, because the pipe was full, costs what it said and no more.
func TestALostLineLeavesAWholeTree(t *testing.T) {
	for _, name := range []string{"run-task", "serve-task2", "serve-queued", "serve-aborttool", "serve-compact", "serve-shell", "run-error"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, err := replay.Load(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			steps := rec.Steps
			for n := range steps {
				if steps[n].Hangup {
					continue
				}
				cut := *rec
				cut.Steps = append(append([]replay.Step(nil), steps[:n]...), steps[n+1:]...)
				res, err := cut.Run(opencode.Agent(), replay.Options{})
				if err != nil {
					t.Fatalf("without line %d: %v", n+1, err)
				}
				whole(t, "lossy", res.Runs)
				if t.Failed() {
					t.Fatalf("without line %d: %.300s", n+1, steps[n].Body)
				}
			}
		})
	}
}

// What is said of a message may come again, or as it was before.
func TestAMessageThatIsToldAgainIsNoOther(t *testing.T) {
	rec, err := replay.Load("testdata/serve-queued")
	if err != nil {
		t.Fatal(err)
	}
	want := runIDs(play(t, "testdata/serve-queued", replay.Options{}).Runs)
	for n, step := range rec.Steps {
		if !strings.Contains(string(step.Body), `"message.updated"`) {
			continue
		}
		for at := max(0, n-2); at < min(n+16, len(rec.Steps)); at++ {
			twice := *rec
			twice.Steps = slices.Insert(slices.Clone(rec.Steps), at, step)
			res, err := twice.Run(opencode.Agent(), replay.Options{})
			if err != nil {
				t.Fatalf("with line %d again at %d: %v", n+1, at+1, err)
			}
			if got := runIDs(res.Runs); !slices.Equal(want, got) {
				t.Fatalf("with line %d again at %d: %d runs, want %d: %.300s", n+1, at+1, len(got), len(want), step.Body)
			}
		}
	}
}

func runIDs(runs []runtypes.Wire) []string {
	var list []string
	for _, run := range runs {
		list = append(list, run.ID)
	}
	slices.Sort(list)
	return list
}

// A process that died and another that goes on with the session: each closes its own.
func TestAHangupConcernsItsOwnProcess(t *testing.T) {
	raw, err := os.ReadFile("testdata/run-slowtool-sigkill/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	agent := opencode.Agent()
	r := agent.NewReducer(integrations.Options{})
	peek := agent.Stream()
	for line := range bytes.Lines(raw) {
		p := integrations.Payload{Body: line, Parent: 7}
		route, err := peek(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := agent.Hook(route.Event); !ok {
			continue
		}
		data, err := agent.Project(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Apply(library{}, integrations.Event{Kind: route.Event, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []struct{ pid, open int }{{8, 1}, {7, 0}} {
		data, _ := json.Marshal(integrations.Stream{PID: end.pid})
		if _, err := r.Apply(library{}, integrations.Event{Kind: integrations.Hangup, Data: data}); err != nil {
			t.Fatal(err)
		}
		if got := r.Status().Open; got != end.open {
			t.Errorf("after process %d hung up %d turns are open, want %d", end.pid, got, end.open)
		}
	}
}
