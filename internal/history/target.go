package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// target is a destination of an import.
type target struct {
	drain.Destination
	has  *journal.Traces
	sent Sent
	err  error // why it is left alone from now on

	refused  map[uuid.UUID]int  // runs that it will never take, by trace
	rootless map[uuid.UUID]bool // traces of which that is the root
}

// targets opens the destinations' ledgers.
func targets(state *journal.State, destinations []drain.Destination) ([]*target, error) {
	var list []*target
	for _, d := range destinations {
		has, err := state.Ledger(d.ID)
		if err != nil {
			return nil, fmt.Errorf("history: %s: %w", d.Name, err)
		}
		list = append(list, &target{Destination: d, has: has, sent: Sent{ID: d.ID, Name: d.Name}, refused: map[uuid.UUID]int{}, rootless: map[uuid.UUID]bool{}})
	}
	return list, nil
}

// lacks reports whether the target is to get a trace.
func (t *target) lacks(trace uuid.UUID) bool { return t.err == nil && !t.has.Has(trace) }

// take delivers what the target lacks of the ops. The runs are its own: another
// target may have them at the same time.
func (t *target) take(ctx context.Context, ops []runtypes.Op) error {
	var part []runtypes.Op
	for _, op := range ops {
		if t.lacks(op.Run.TraceID) {
			run := *op.Run
			part = append(part, runtypes.Op{Verb: op.Verb, Run: &run})
		}
	}
	if len(part) == 0 {
		return nil
	}
	got, err := t.Export(ctx, part)
	if err == nil && len(got.Rest) > 0 {
		err = errors.New("history: destination gave ops back without a reason")
	}
	for _, op := range got.Dropped {
		t.refused[op.Run.TraceID]++
		if op.Run.ParentID == uuid.Nil {
			t.rootless[op.Run.TraceID] = true
		}
	}
	t.sent.Refused += len(got.Dropped) + got.Unnamed
	return err
}
