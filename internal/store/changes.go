package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// overlap is how far back a look at changes goes beyond the last one: clocks of other
// processes are put right now and then.
const overlap = 5 * time.Second

// maxChanges bounds the traces that one look at changes returns: the newest.
const maxChanges = 1000

// Watch is a place in the history of a store's writes.
type Watch struct {
	since int64
	seen  map[string]stamp
}

type stamp struct{ written, bytes int64 }

// Changed returns the traces that were written to since the last look, the newest
// first; the first look returns none. A Watch is for one goroutine.
func (s *Store) Changed(ctx context.Context, w *Watch) ([]string, error) {
	first := w.seen == nil
	if first {
		err := s.db.QueryRowContext(ctx, "SELECT coalesce(max(written), 0) FROM traces").Scan(&w.since)
		if err != nil {
			return nil, fmt.Errorf("store: changed: %w", named(err))
		}
	}
	type change struct {
		id string
		stamp
	}
	list, err := query(ctx, s.db, func(rows *sql.Rows) (c change, err error) { return c, rows.Scan(&c.id, &c.written, &c.bytes) },
		"SELECT id, written, bytes FROM traces WHERE written >= ? ORDER BY written DESC, id LIMIT ?",
		w.since-overlap.Microseconds(), maxChanges)
	if err != nil {
		return nil, fmt.Errorf("store: changed: %w", err)
	}
	seen := make(map[string]stamp, len(list))
	var changed []string
	for _, c := range list {
		seen[c.id] = c.stamp
		if w.seen[c.id] != c.stamp && !first {
			changed = append(changed, c.id)
		}
		w.since = max(w.since, c.written)
	}
	w.seen = seen
	return changed, nil
}
