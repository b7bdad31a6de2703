package drain

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/runtypes"
)

// trace is the trace of the toy agent's only turn.
func (b *bench) trace() uuid.UUID {
	b.t.Helper()
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	for id, run := range b.server.runs {
		if run.ParentRunID == "" {
			return id
		}
	}
	b.t.Fatal("the server has no root")
	return uuid.Nil
}

func (b *bench) inLedger() bool {
	b.t.Helper()
	traces, err := b.state.Ledger("one")
	if err != nil {
		b.t.Fatal(err)
	}
	return traces.Has(b.trace())
}

func TestLedgerHasATraceOnceItsRootHasEnded(t *testing.T) {
	for name, settled := range map[string]bool{"live": false, "settled": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.cfg.Settled = settled
			b.hook("start", toyData{Prompt: "hello"})
			b.hook("tool", toyData{Tool: "grep"})
			b.mustDrain()
			if !settled && b.inLedger() {
				t.Error("a turn that is under way is in the ledger")
			}
			b.hook("stop", toyData{})
			b.mustDrain()
			if !b.inLedger() {
				t.Error("a turn that was delivered is not in the ledger")
			}
		})
	}
}

func TestLedgerDoesNotHaveWhatWasNotDelivered(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{Prompt: "hello"})
	b.mustDrain()
	b.hook("stop", toyData{})
	b.server.fail = func(_ int, after bool) error {
		if after {
			return nil
		}
		return errDown
	}
	if b.drain() == nil {
		t.Fatal("the server is down and nobody noticed")
	}
	if b.inLedger() {
		t.Error("a turn that was not delivered is in the ledger")
	}
}

func TestLedgerDoesNotHaveATurnWhoseRootWasRefused(t *testing.T) {
	for name, refused := range map[string]func(op runtypes.Op) bool{
		"the root":     func(op runtypes.Op) bool { return op.Run.ParentID == uuid.Nil && !op.Run.Pending() },
		"a tool":       func(op runtypes.Op) bool { return op.Run.ParentID != uuid.Nil },
		"its post was": func(op runtypes.Op) bool { return op.Run.ParentID == uuid.Nil && op.Run.Pending() },
	} {
		b := newBench(t)
		var trace uuid.UUID
		b.cfg.Destinations[0].Export = func(_ context.Context, ops []runtypes.Op) (got exporter.Receipt, err error) {
			for _, op := range ops {
				trace = op.Run.TraceID
				if refused(op) {
					got.Dropped = append(got.Dropped, op)
				}
			}
			return got, nil
		}
		b.hook("start", toyData{Prompt: "hello"})
		b.hook("tool", toyData{Tool: "grep"})
		b.hook("stop", toyData{})
		b.mustDrain()
		traces, err := b.state.Ledger("one")
		if err != nil || traces.Has(trace) == (name == "the root") {
			t.Errorf("%s: in the ledger: %v, %v", name, traces.Has(trace), err)
		}
	}
}
