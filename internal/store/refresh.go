package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// refreshPart is how many traces are summed in one transaction, so that other writers
// do not wait long.
const refreshPart = 50

// Refresh removes what is past the bounds, and sums the turns that a version without sums
// wrote, newest first. Lists lack them until then. It returns how many that were; where
// there are none it takes a moment. Each is tried once: one of which nothing can be read
// has no sum.
func (s *Store) Refresh(ctx context.Context) (turns int, err error) {
	if err := s.pruneNow(ctx); err != nil {
		return 0, fmt.Errorf("store: refresh: %w", err)
	}
	stale, err := query(ctx, s.db, scanText, `SELECT id FROM traces t LEFT JOIN turns ON turns.trace_id = t.id
		WHERE turns.bytes IS NOT t.bytes ORDER BY t.started DESC`)
	if err != nil {
		return 0, fmt.Errorf("store: refresh: %w", err)
	}
	for part := range slices.Chunk(stale, refreshPart) {
		if err := s.sumUp(ctx, part); err != nil {
			return turns, fmt.Errorf("store: refresh: %w", err)
		}
		turns += len(part)
	}
	return turns, nil
}

func (s *Store) pruneNow(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.prune(ctx)
}

func (s *Store) sumUp(ctx context.Context, traces []string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.inTx(ctx, func(tx *sql.Tx) error {
		f := newFold(ctx, tx)
		for _, trace := range traces {
			turn, err := f.turn(trace)
			if err != nil {
				return err
			}
			// What the trace says of its size is what the sum is compared with.
			if _, err := f.scan("SELECT bytes FROM traces WHERE id = ?", []any{trace}, &turn.bytes); err != nil {
				return err
			}
		}
		return f.finish()
	})
}
