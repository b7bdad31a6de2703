package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// fold is one transaction of writes: each run is put in its place, and the turns they
// belong to are summed at the end.
type fold struct {
	ctx   context.Context // it ends with the transaction
	tx    *sql.Tx
	ready map[string]*sql.Stmt // by their text; they end with the transaction
	turns map[string]*sum      // by trace
}

func newFold(ctx context.Context, tx *sql.Tx) *fold {
	return &fold{ctx: ctx, tx: tx, ready: map[string]*sql.Stmt{}, turns: map[string]*sum{}}
}

// prepare makes a statement ready for this transaction.
func (f *fold) prepare(text string) error {
	if f.ready[text] != nil {
		return nil
	}
	stmt, err := f.tx.PrepareContext(f.ctx, text) //nolint:sqlclosecheck // the transaction's end closes it
	if err == nil {
		f.ready[text] = stmt
	}
	return err
}

func (f *fold) exec(text string, args ...any) error {
	if err := f.prepare(text); err != nil {
		return err
	}
	_, err := f.ready[text].ExecContext(f.ctx, args...)
	return err
}

// scan reads one row; it reports whether there is one.
func (f *fold) scan(text string, args []any, into ...any) (found bool, err error) {
	if err := f.prepare(text); err != nil {
		return false, err
	}
	err = f.ready[text].QueryRowContext(f.ctx, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

const runsOfTrace = "SELECT r.bytes, " + wholeRun + " WHERE r.trace_id = ? ORDER BY r.dotted_order"

var insertRun = "INSERT OR REPLACE INTO runs (" + columns + ") VALUES (?" +
	strings.Repeat(", ?", strings.Count(columns, ",")) + ")"

const touchTrace = `INSERT INTO traces (id, written, bytes, started, top, top_order) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET written = excluded.written, bytes = bytes + excluded.bytes,
		started = iif(excluded.top_order <= top_order, excluded.started, started),
		top = iif(excluded.top_order <= top_order, excluded.top, top),
		top_order = min(excluded.top_order, top_order)`

// put folds one write into its run, and charges the difference to the trace and to its
// turn's sum.
func (f *fold) put(w write, now int64) error {
	run, before, err := f.load(w.wire.ID)
	if err != nil {
		return err
	}
	if before == 0 {
		run.wire = runtypes.Wire{ID: w.wire.ID, TraceID: w.wire.TraceID, DottedOrder: w.wire.DottedOrder}
	}
	old := run.wire
	if !run.write(w.verb, w.wire) {
		return nil
	}
	meta := metadata{run.wire.Metadata()}
	values, long, size, err := run.values(meta)
	if err != nil {
		return err
	}
	turn, err := f.turn(run.wire.TraceID) // as it was before this run
	if err != nil {
		return err
	}
	if err := f.exec(insertRun, values...); err != nil {
		return err
	}
	if long != (body{}) {
		if err := f.exec("INSERT OR REPLACE INTO bodies (id, inputs, outputs, events) VALUES (?, ?, ?, ?)",
			run.wire.ID, long.inputs, long.outputs, long.events); err != nil {
			return err
		}
	}
	if before > 0 {
		turn.take(old, before)
	}
	turn.give(run.wire, meta, size)
	return f.exec(touchTrace, run.wire.TraceID, now, size-before, run.started(), run.wire.ID, run.wire.DottedOrder)
}

// load returns a run and its size, 0 if there is none.
func (f *fold) load(id string) (run row, size int64, err error) {
	var head string
	var long body
	found, err := f.scan("SELECT r.posted, r.patched, r.bytes, "+wholeRun+" WHERE r.id = ?", []any{id},
		&run.posted, &run.patched, &size, &head, &long.inputs, &long.outputs, &long.events)
	if err != nil || !found {
		return row{}, 0, err
	}
	if run.wire, err = decode(head); err == nil {
		long.join(&run.wire)
	}
	return run, size, err
}

// turn returns a trace's sum, which is made of all its runs if it is missing or out of
// date.
func (f *fold) turn(trace string) (*sum, error) {
	if s := f.turns[trace]; s != nil {
		return s, nil
	}
	s := &sum{traceID: trace}
	var bytes int64
	known, err := f.scan("SELECT bytes FROM traces WHERE id = ?", []any{trace}, &bytes)
	if err != nil {
		return nil, err
	}
	if known {
		found, err := f.scan("SELECT seq, "+sumColumns+" FROM turns WHERE trace_id = ?", []any{trace}, append([]any{&s.seq}, s.fields()...)...)
		if err != nil {
			return nil, err
		}
		if !found || s.bytes != bytes {
			if s, err = f.count(trace, s.seq); err != nil {
				return nil, err
			}
		} else if _, err := f.scan("SELECT text FROM words WHERE rowid = ?", []any{s.seq}, &s.words.was); err != nil {
			return nil, err
		}
	}
	f.turns[trace] = s
	return s, nil
}

// count sums the runs of a trace anew. One that cannot be read is left out: the others
// must not suffer for it.
func (f *fold) count(trace string, seq int64) (*sum, error) {
	s := &sum{traceID: trace, seq: seq}
	if err := f.prepare(runsOfTrace); err != nil {
		return nil, err
	}
	rows, err := f.ready[runsOfTrace].QueryContext(f.ctx, trace)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // rows.Err below has what matters
	for rows.Next() {
		var size int64
		var head string
		var long body
		if err := rows.Scan(&size, &head, &long.inputs, &long.outputs, &long.events); err != nil {
			return nil, err
		}
		w, err := decode(head)
		if err != nil {
			s.bytes += size
			continue
		}
		long.join(&w)
		s.give(w, metadata{w.Metadata()}, size)
	}
	return s, rows.Err()
}

var putTurn = fmt.Sprintf("INSERT OR REPLACE INTO turns (seq, %s) VALUES (?%s)",
	sumColumns, strings.Repeat(", ?", strings.Count(sumColumns, ",")+1))

// finish writes the sums.
func (f *fold) finish() error {
	for _, s := range f.turns {
		if s.topOrder == "" {
			continue // nothing was written to it
		}
		if s.seq == 0 {
			if _, err := f.scan("SELECT coalesce(max(seq), 0) + 1 FROM turns", nil, &s.seq); err != nil {
				return err
			}
		}
		if err := f.exec(putTurn, append([]any{s.seq}, s.values()...)...); err != nil {
			return err
		}
		if text, changed := s.words.text(); changed {
			if err := f.exec("INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)", s.seq, text); err != nil {
				return err
			}
		}
	}
	return nil
}
