package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Turn is one trace at a glance. A trace whose root is not there yet is shown by
// its earliest run.
type Turn struct {
	TraceID     string
	ThreadID    string
	Number      int // 1-based; 0: not known
	Kind        runtypes.Kind
	Name        string
	Start, End  time.Time // zero End: still running
	Error       string
	Interrupted bool // Error says why it was stopped
	Integration string
	Repo        string
	Branch      string
	Runs        int
	FailedRuns  int // runs with an error, the root among them
	TokensIn    int64
	TokensOut   int64
}

// Filter chooses turns. The zero value is the newest hundred.
type Filter struct {
	Thread string    // only this thread
	Failed bool      // only turns whose root has an error: failed or interrupted
	Before time.Time // only turns that started earlier, to page on
	Limit  int       // 0: 100; at most 1000
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// turns bounds the tokens of each run: what a row of an earlier version holds may
// overflow the sum.
const turns = `
SELECT top.trace_id, top.thread_id, top.turn_number, top.kind, top.name, top.started, top.ended,
	top.error, top.interrupted, top.integration, top.repo, top.branch,
	(SELECT count(*) FROM runs r WHERE r.trace_id = top.trace_id),
	(SELECT count(*) FROM runs r WHERE r.trace_id = top.trace_id AND r.error <> ''),
	(SELECT sum(min(max(tokens_in, 0), ?)) FROM runs r WHERE r.trace_id = top.trace_id),
	(SELECT sum(min(max(tokens_out, 0), ?)) FROM runs r WHERE r.trace_id = top.trace_id)
FROM traces t JOIN runs top ON top.id = t.top
WHERE (? = '' OR top.thread_id = ?) AND (NOT ? OR top.error <> '') AND (? = 0 OR t.started < ?)
ORDER BY t.started DESC, t.id DESC LIMIT ?`

// Turns lists turns, newest first.
func (s *Store) Turns(ctx context.Context, f Filter) ([]Turn, error) {
	before := micros(f.Before)
	list, err := query(ctx, s.db, func(rows *sql.Rows) (t Turn, err error) {
		var start, end int64
		err = rows.Scan(&t.TraceID, &t.ThreadID, &t.Number, &t.Kind, &t.Name, &start, &end,
			&t.Error, &t.Interrupted, &t.Integration, &t.Repo, &t.Branch,
			&t.Runs, &t.FailedRuns, &t.TokensIn, &t.TokensOut)
		t.Start, t.End = fromMicros(start), fromMicros(end)
		return t, err
	}, turns, maxTokens, maxTokens, f.Thread, f.Thread, f.Failed, before, before, limit(f.Limit))
	if err != nil {
		return nil, fmt.Errorf("store: turns: %w", err)
	}
	return list, nil
}

// minPrefix is how much of a trace id must be given to name it.
const minPrefix = 8

// Trace returns the runs of one trace in dotted order: a parent before its
// children. The id may be cut short where that still names one trace.
func (s *Store) Trace(ctx context.Context, id string) ([]runtypes.Wire, error) {
	id = strings.ToLower(id)
	if len(id) < minPrefix || strings.Trim(id, "0123456789abcdef-") != "" {
		return nil, fmt.Errorf("store: trace %q: %w", id, ErrNotFound)
	}
	found, err := query(ctx, s.db, scanText,
		"SELECT id FROM traces WHERE id >= ? AND id < ? || 'g' ORDER BY id LIMIT 2", id, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("store: trace: %w", err)
	case len(found) == 0:
		return nil, fmt.Errorf("store: trace %q: %w", id, ErrNotFound)
	case len(found) > 1:
		return nil, fmt.Errorf("store: trace %q: %w: the prefix fits several", id, ErrNotFound)
	}
	runs, err := query(ctx, s.db, scanWhole, "SELECT "+wholeRun+" WHERE r.trace_id = ? ORDER BY r.dotted_order", found[0])
	if err != nil {
		return nil, fmt.Errorf("store: trace: %w", err)
	}
	return runs, nil
}

func scanText(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }

func limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return min(n, maxLimit)
}

// query runs a query and reads every row of its answer.
func query[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), text string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, named(err)
	}
	defer rows.Close() // rows.Err below has what matters
	var list []T
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, named(err)
		}
		list = append(list, item)
	}
	return list, named(rows.Err())
}
