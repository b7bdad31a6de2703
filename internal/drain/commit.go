package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxEntries bounds how many entries are applied between two commits.
const maxEntries = 1000

// full reports whether enough has been applied to be delivered and committed.
func (f *fold) full() bool {
	return len(f.pending) >= f.d.cfg.MaxOps || f.bytes >= f.d.cfg.MaxBytes || f.entries >= maxEntries
}

// flush delivers what was taken and then commits: positions and the reducer's
// state move together, after the destination said yes. On an error the caller
// must not go on with this fold before it has loaded it anew.
func (f *fold) flush(ctx context.Context) error {
	if f.entries == 0 {
		return nil
	}
	if err := f.deliver(ctx); err != nil {
		return err
	}
	f.enter() // before the commit: after it nobody would
	f.countOnce()
	if err := f.commit(); err != nil {
		return err
	}
	f.countLost()
	f.entries = 0
	if f.slowly {
		return errSlowly
	}
	return nil
}

// errSlowly ends a destination's pass after a commit: the rest is for a later drainer.
var errSlowly = errors.New("drain: delivered, and no more for a while")

// deliver exports what is pending in parts of bounded size.
func (f *fold) deliver(ctx context.Context) error {
	for len(f.pending) > 0 {
		part := f.part()
		got, err := f.export(ctx, part)
		if err != nil {
			return &deliveryError{err}
		}
		f.tally(part, got)
		f.whole = append(f.whole, arrived(part, got)...)
		f.pending = f.pending[len(part):]
		clear(part) // the runs must not outlive their delivery
		f.slowly = f.d.delivered(f.dest)
	}
	f.pending, f.bytes = nil, 0
	f.cp.Stuck = journal.Stuck{}
	return nil
}

// tally notes in the checkpoint what has arrived and what was refused for good.
func (f *fold) tally(part []runtypes.Op, got exporter.Receipt) {
	lost := len(got.Dropped) + got.Unnamed
	f.cp.Rejected += lost
	f.cp.Accepted += max(0, ended(part)-ended(got.Dropped)-got.Unnamed)
	if lost < len(part) {
		f.cp.Arrived = f.d.now().UTC()
	}
	f.out.lost[journal.Shortened] += got.Shortened
}

// ended counts the runs that have their ends among the ops.
func ended(ops []runtypes.Op) (n int) {
	for _, op := range ops {
		if !op.Run.Pending() {
			n++
		}
	}
	return n
}

// arrived lists the traces whose roots have arrived with their ends. What belongs to
// them and comes later comes by the same way.
func arrived(part []runtypes.Op, got exporter.Receipt) []uuid.UUID {
	refused := endedTraces(got.Dropped)
	return slices.DeleteFunc(endedTraces(part), func(trace uuid.UUID) bool { return slices.Contains(refused, trace) })
}

// endedTraces lists the traces whose roots have their ends among the ops.
func endedTraces(ops []runtypes.Op) []uuid.UUID {
	var traces []uuid.UUID
	for _, op := range ops {
		if op.Run.ParentID == uuid.Nil && !op.Run.Pending() {
			traces = append(traces, op.Run.TraceID)
		}
	}
	return traces
}

// enter writes the traces that the destination has now into its ledger, so that an
// import leaves them out. Without the ledger it would send them once more.
func (f *fold) enter() {
	if err := f.d.state.Enter(f.dest.ID, f.whole); err != nil {
		f.d.log.Warn("ledger", "destination", f.dest.ID, "traces", len(f.whole), "error", err.Error())
	}
	f.whole = nil
}

// part is the longest start of what is pending that one export may carry, and
// never less than one op.
func (f *fold) part() []runtypes.Op {
	size := 0
	for i, op := range f.pending {
		size += sizeOfOp(op)
		if i > 0 && (i >= f.d.cfg.MaxOps || size > f.d.cfg.MaxBytes) {
			return f.pending[:i]
		}
	}
	return f.pending
}

// deliveryError says that the destination could not be served for now.
type deliveryError struct{ err error }

func (e *deliveryError) Error() string { return e.err.Error() }
func (e *deliveryError) Unwrap() error { return e.err }

func (f *fold) commit() error {
	raw, err := json.Marshal(f.reducer)
	if err != nil {
		return fmt.Errorf("drain: reducer: %w", err)
	}
	if len(raw) > maxReducer {
		f.d.log.Warn("reducer's state is large", "session", f.session.Key(), "bytes", len(raw))
	}
	f.cp.Reducer = raw
	f.cp.Status = journal.Status(f.reducer.Status())
	return f.session.Commit(f.dest.ID, f.cp)
}

// countOnce counts lines that are no entries, and such as are too long to be read. Each
// has an id, since every destination comes across it, and may do so more than once.
func (f *fold) countOnce() {
	for reason, ids := range map[string][]string{journal.DropCorrupt: f.corrupt, journal.DropLongLine: f.long} {
		if err := f.d.state.DropOnce(reason, ids); err != nil {
			f.d.log.Error("drop not counted", "reason", reason, "count", len(ids))
		}
	}
	f.corrupt, f.long = nil, nil
}

// countLost writes down what the commit has made final.
func (f *fold) countLost() {
	for reason, n := range f.out.lost {
		if err := f.d.state.Drop(reason, n); err != nil {
			f.d.log.Error("drop not counted", "reason", reason, "count", n)
		}
	}
	clear(f.out.lost)
}
