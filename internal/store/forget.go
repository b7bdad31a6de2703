package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Forget removes a trace, by its whole id, and returns how many runs that were. What it
// held is overwritten in the file, not only unlinked.
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
	if _, err := s.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return runs, fmt.Errorf("store: forget: %w", named(err))
	}
	return runs, nil
}
