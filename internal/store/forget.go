package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Forget removes a trace, by its whole id, and returns how many runs that were. What it
// held is overwritten in the file, not only unlinked. With ErrHeld the trace is removed,
// and its bytes are still there.
func (s *Store) Forget(ctx context.Context, trace string) (runs int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE trace_id = ?", trace).Scan(&runs); err != nil {
			return err
		}
		for _, part := range traceParts("= ?") {
			if _, err := tx.ExecContext(ctx, part, trace); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("store: forget: %w", named(err))
	}
	if err := s.emptyLog(ctx); err != nil {
		return runs, fmt.Errorf("store: forget: %w", err)
	}
	return runs, nil
}

// emptyLog brings what was written into the file. A reader in whose way that is leaves
// everything in the log, and SQLite says so in a row, not by an error.
func (s *Store) emptyLog(ctx context.Context) error {
	var busy bool
	var pages, moved int
	if err := s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return named(err)
	}
	if busy {
		return ErrHeld
	}
	return nil
}
