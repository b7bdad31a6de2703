//go:build e2e

package e2e

import (
	"bytes"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestCompactionOnRequest(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	s := w.begin("SCENARIO:parallel")
	s.wait()
	w.resume(s.thread, "/compact keep widgets").wait()
	w.resume(s.thread, "SCENARIO:plain2").wait()
	turns := w.turns(s.thread, 3)
	turns[0].has(2, 3)
	turns[0].numbered(1)
	turns[1].has(0, 0)
	w.compacted(turns[1].root, "manual")
	turns[2].has(1, 0)
	turns[2].numbered(2)
	turns[2].completed("Second answer: three widgets.")
}

func TestCompactionByItself(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	w.env = []string{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=20"}
	s := w.begin("SCENARIO:autocompact")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.completed("Widget session") // the model has forgotten what it was asked
	if len(turn.others) != 1 {
		t.Fatalf("%d compactions, want 1", len(turn.others))
	}
	w.compacted(turn.others[0], "auto")
	if len(turn.tools) != len(turn.llms)-1 {
		t.Errorf("%d tools and %d model calls, want one after each call but the last", len(turn.tools), len(turn.llms))
	}
}

// compacted checks the run of a compaction.
func (w *world) compacted(run runtypes.Wire, trigger string) {
	w.t.Helper()
	if kind := run.Kind(); kind != runtypes.KindChain || run.Error != "" {
		w.t.Errorf("the compaction is %s with error %q, want a chain", kind, run.Error)
	}
	w.wants(run, "ls_agent_type", "compaction")
	w.wants(run, "compaction_trigger", trigger)
	if !bytes.Contains(run.Outputs, []byte("the user asked about widgets")) {
		w.t.Errorf("the compaction's output is %s, want the summary", run.Outputs)
	}
}
