package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	ageEvery  = time.Hour                         // how often traces are checked for their age
	keepShare = 0.9                               // of MaxBytes is kept when it is passed, so that not every write removes something
	vacuum    = "PRAGMA incremental_vacuum(4096)" // pages given back to the system at most, each time
)

// Why traces were removed.
const (
	reasonAge  = "age"
	reasonSize = "size"
)

// Removed counts the traces that the bounds have cost so far.
type Removed struct {
	Reason string // age or size
	Traces int
	Runs   int
	Bytes  int64
}

// Removed returns what was removed since the store was made, by reason.
func (s *Store) Removed(ctx context.Context) ([]Removed, error) {
	list, err := query(ctx, s.db, func(rows *sql.Rows) (r Removed, err error) {
		return r, rows.Scan(&r.Reason, &r.Traces, &r.Runs, &r.Bytes)
	}, "SELECT reason, traces, runs, bytes FROM removed ORDER BY reason")
	if err != nil {
		return nil, fmt.Errorf("store: removed: %w", err)
	}
	return list, nil
}

// Size is the space that runs take in the file, in bytes.
func (s *Store) Size(ctx context.Context) (int64, error) {
	var size int64
	err := s.db.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&size)
	if err != nil {
		return 0, fmt.Errorf("store: size: %w", named(err))
	}
	return size, nil
}

// prune removes traces past the bounds. The caller is the only writer.
func (s *Store) prune(ctx context.Context) error {
	now := s.cfg.Now()
	if now.Sub(s.aged) >= ageEvery {
		if err := s.pruneAged(ctx, now.Add(-s.cfg.MaxAge).UnixMicro()); err != nil {
			return err
		}
		s.aged = now
	}
	size, err := s.Size(ctx)
	if err != nil || size <= s.cfg.MaxBytes {
		return err
	}
	// The traces' own bytes are less than what they take in the file; scale.
	excess := float64(size) - keepShare*float64(s.cfg.MaxBytes)
	return s.remove(ctx, reasonSize, `INSERT INTO leaving SELECT id FROM (
			SELECT id, sum(bytes) OVER (ORDER BY written, id) - bytes AS before, sum(bytes) OVER () AS total FROM traces
		) WHERE before < total * ?`, excess/float64(size))
}

// pruneAged removes traces that were last written before a time. It asks first,
// so that opening a store does not wait for another process's write.
func (s *Store) pruneAged(ctx context.Context, before int64) error {
	var found bool
	err := s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM traces WHERE written < ?)", before).Scan(&found)
	if err != nil || !found {
		return named(err)
	}
	return s.remove(ctx, reasonAge, "INSERT INTO leaving SELECT id FROM traces WHERE written < ?", before)
}

const countRemoved = `INSERT INTO removed (reason, traces, runs, bytes)
	SELECT ?, count(DISTINCT trace_id), count(*), coalesce(sum(bytes), 0)
		FROM runs WHERE trace_id IN (SELECT id FROM leaving)
	ON CONFLICT (reason) DO UPDATE SET traces = traces + excluded.traces,
		runs = runs + excluded.runs, bytes = bytes + excluded.bytes`

// traceParts are the statements that take out all there is of the traces that which
// chooses by their ids.
func traceParts(which string) []string {
	return []string{
		"DELETE FROM bodies WHERE id IN (SELECT id FROM runs WHERE trace_id " + which + ")",
		"DELETE FROM runs WHERE trace_id " + which,
		"DELETE FROM words WHERE rowid IN (SELECT seq FROM turns WHERE trace_id " + which + ")",
		"DELETE FROM turns WHERE trace_id " + which,
		"DELETE FROM traces WHERE id " + which,
	}
}

// remove takes out the traces that choose puts into the table leaving, in one
// transaction with their count.
func (s *Store) remove(ctx context.Context, reason, choose string, arg any) error {
	removed := int64(0)
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		exec := func(query string, args ...any) error {
			_, err := tx.ExecContext(ctx, query, args...)
			return err
		}
		if err := exec("CREATE TEMP TABLE IF NOT EXISTS leaving (id TEXT PRIMARY KEY)"); err != nil {
			return err
		}
		if err := exec("DELETE FROM leaving"); err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, choose, arg)
		if err != nil {
			return err
		}
		if removed, err = result.RowsAffected(); err != nil || removed == 0 {
			return err
		}
		if err := exec(countRemoved, reason); err != nil {
			return err
		}
		for _, part := range traceParts("IN (SELECT id FROM leaving)") {
			if err := exec(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && removed > 0 {
		_, err = s.db.ExecContext(ctx, vacuum)
	}
	if err != nil {
		return fmt.Errorf("remove traces by %s: %w", reason, named(err))
	}
	return nil
}
