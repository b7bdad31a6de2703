package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
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
	all   map[string]bool // the traces there are
}

type stamp struct{ written, bytes int64 }

// Changes are traces that were written to, the newest first, and those that are gone.
type Changes struct{ Written, Removed []string }

// Changed returns what happened since the last look; the first look returns nothing. A
// Watch is for one goroutine.
func (s *Store) Changed(ctx context.Context, w *Watch) (Changes, error) {
	c, err := s.changed(ctx, w)
	if err != nil {
		return Changes{}, fmt.Errorf("store: changed: %w", err)
	}
	return c, nil
}

func (s *Store) changed(ctx context.Context, w *Watch) (c Changes, err error) {
	// What a clock wrote that was ahead of this one hides nothing that comes after it.
	now := s.cfg.Now().UnixMicro()
	first := w.all == nil
	if first {
		if err := s.db.QueryRowContext(ctx, "SELECT coalesce(max(written), 0) FROM traces").Scan(&w.since); err != nil {
			return c, named(err)
		}
		w.since = min(w.since, now)
	}
	type change struct {
		id string
		stamp
	}
	list, err := query(ctx, s.db, func(rows *sql.Rows) (c change, err error) { return c, rows.Scan(&c.id, &c.written, &c.bytes) },
		"SELECT id, written, bytes FROM traces WHERE written >= ? ORDER BY written DESC, id LIMIT ?",
		w.since-overlap.Microseconds(), maxChanges)
	if err != nil {
		return c, err
	}
	seen, since := make(map[string]stamp, len(list)), w.since
	for _, item := range list {
		seen[item.id] = item.stamp
		if w.seen[item.id] != item.stamp && !first {
			c.Written = append(c.Written, item.id)
		}
		if !first {
			w.all[item.id] = true
		}
		since = max(since, item.written)
	}
	if c.Removed, err = s.removed(ctx, w); err != nil {
		return Changes{}, err // the next look tells it all
	}
	w.seen, w.since = seen, min(since, now)
	return c, nil
}

// removed are the traces that are gone. It counts those there are, which takes no time,
// and reads which only if that is not the number it knows of.
func (s *Store) removed(ctx context.Context, w *Watch) (gone []string, err error) {
	var n int
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM traces").Scan(&n); err != nil {
		return nil, named(err)
	}
	if w.all != nil && n == len(w.all) {
		return nil, nil
	}
	ids, err := query(ctx, s.db, scanText, "SELECT id FROM traces")
	if err != nil {
		return nil, err
	}
	all := make(map[string]bool, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	for id := range w.all {
		if !all[id] {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	w.all = all
	return gone, nil
}
