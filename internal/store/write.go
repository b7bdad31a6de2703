package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// write is one write of a run, in wire form.
type write struct {
	verb runtypes.Verb
	wire runtypes.Wire
}

// Export stores ops, all of them or none, and returns those that are still to be
// stored. An op that has no wire form is handed to OnDrop and is not among them.
func (s *Store) Export(ctx context.Context, ops []runtypes.Op) (rest []runtypes.Op, err error) {
	writes := make([]write, 0, len(ops))
	for _, op := range ops {
		w, err := runtypes.Encode(op)
		if err != nil {
			s.cfg.OnDrop([]runtypes.Op{op}, err)
			continue
		}
		writes = append(writes, write{op.Verb, w})
	}
	if err := s.apply(ctx, writes); err != nil {
		return ops, err
	}
	return nil, nil
}

// Apply stores posts, then patches, all of them or none. What the store already
// has is left as it is.
func (s *Store) Apply(ctx context.Context, posts, patches []runtypes.Wire) error {
	writes := make([]write, 0, len(posts)+len(patches))
	for _, w := range posts {
		writes = append(writes, write{runtypes.Post, w})
	}
	for _, w := range patches {
		writes = append(writes, write{runtypes.Patch, w})
	}
	return s.apply(ctx, writes)
}

// Fresh returns the writes that the store has not had yet.
func (s *Store) Fresh(ctx context.Context, posts, patches []runtypes.Wire) (newPosts, newPatches []runtypes.Wire, err error) {
	for _, w := range posts {
		posted, _, err := s.state(ctx, w.ID)
		if err != nil {
			return nil, nil, err
		}
		if !posted {
			newPosts = append(newPosts, w)
		}
	}
	for _, w := range patches {
		_, patched, err := s.state(ctx, w.ID)
		if err != nil {
			return nil, nil, err
		}
		if !patched {
			newPatches = append(newPatches, w)
		}
	}
	return newPosts, newPatches, nil
}

func (s *Store) state(ctx context.Context, id string) (posted, patched bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT posted, patched FROM runs WHERE id = ?", id).Scan(&posted, &patched)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, false, fmt.Errorf("store: look up run: %w", named(err))
	}
	return posted, patched, nil
}

func (s *Store) apply(ctx context.Context, writes []write) error {
	if len(writes) == 0 {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		now := s.cfg.Now().UnixMicro()
		for _, w := range writes {
			if err := put(ctx, tx, w, now); err != nil {
				return fmt.Errorf("run %s: %w", w.wire.ID, err)
			}
		}
		return nil
	})
	if err == nil {
		err = s.prune(ctx)
	}
	if err != nil {
		return fmt.Errorf("store: apply %d writes: %w", len(writes), err)
	}
	return nil
}

var insertRun = "INSERT OR REPLACE INTO runs (" + columns + ") VALUES (?" +
	strings.Repeat(", ?", strings.Count(columns, ",")) + ")"

const touchTrace = `INSERT INTO traces (id, written, bytes, started, top, top_order) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET written = excluded.written, bytes = bytes + excluded.bytes,
		started = iif(excluded.top_order <= top_order, excluded.started, started),
		top = iif(excluded.top_order <= top_order, excluded.top, top),
		top_order = min(excluded.top_order, top_order)`

// put folds one write into its run and charges the difference to the trace.
func put(ctx context.Context, tx *sql.Tx, w write, now int64) error {
	run, before, err := load(ctx, tx, w.wire.ID)
	if err != nil {
		return err
	}
	if before == 0 {
		run.wire = runtypes.Wire{ID: w.wire.ID, TraceID: w.wire.TraceID, DottedOrder: w.wire.DottedOrder}
	}
	if !run.write(w.verb, w.wire) {
		return nil
	}
	values, size, err := run.values()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, insertRun, values...); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, touchTrace, run.wire.TraceID, now, size-before,
		run.started(), run.wire.ID, run.wire.DottedOrder)
	return err
}

// load returns a run and its size, 0 if there is none.
func load(ctx context.Context, tx *sql.Tx, id string) (run row, size int64, err error) {
	var text string
	err = tx.QueryRowContext(ctx, "SELECT posted, patched, bytes, wire FROM runs WHERE id = ?", id).
		Scan(&run.posted, &run.patched, &size, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, 0, nil
	}
	if err != nil {
		return row{}, 0, err
	}
	run.wire, err = decode(text)
	return run, size, err
}
