package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// By is what totals are made for.
type By string

// The totals there are.
const (
	ByDay    By = "day" // the key is 2026-11-30, in the given time zone
	ByRepo   By = "repo"
	ByBranch By = "branch"
	ByThread By = "thread"
)

// Total is the sum of some turns.
type Total struct {
	Key              string // empty: turns that have none
	Turns, ToolCalls int
	Failures         int // turns that failed, those interrupted not among them
	Interrupted      int
	Waiting          time.Duration // for a person; 0: none is known
	Tokens           Tokens
	Cost             Cost
	counts           counts
}

// quarter is what every time zone's offset is a multiple of, in microseconds.
const quarter = 15 * 60 * 1_000_000

// Totals sums the turns of a query: days newest first, anything else by the most turns
// first, at most a thousand.
func (s *Store) Totals(ctx context.Context, by By, q Query, zone *time.Location) ([]Total, error) {
	key := string(by)
	switch by {
	case ByDay:
		key = fmt.Sprintf("started / %d", quarter)
	case ByRepo, ByBranch, ByThread:
	default:
		return nil, fmt.Errorf("store: totals by %q: no such totals", by)
	}
	c := q.condition()
	rows, err := query(ctx, s.db, func(rows *sql.Rows) (t Total, err error) {
		var waiting int64
		err = rows.Scan(append([]any{&t.Key, &t.Turns, &t.ToolCalls, &t.Failures, &t.Interrupted, &waiting}, t.counts.fields()...)...)
		t.Waiting = millis(waiting)
		return t, err
	}, "SELECT "+key+`, count(*), sum(tools), sum(error <> '' AND NOT interrupted), sum(interrupted <> 0), sum(waiting),
		sum(usages), sum(tokens_in), sum(tokens_out), sum(cache_read), sum(cache_write), sum(priced), sum(cost), group_concat(DISTINCT unpriced)
		FROM turns WHERE `+c.String()+" GROUP BY 1 ORDER BY count(*) DESC, 1", c.args...)
	if err != nil {
		return nil, fmt.Errorf("store: totals: %w", err)
	}
	if by == ByDay {
		rows = byDay(rows, zone)
	}
	rows = rows[:min(len(rows), maxLimit)]
	for i := range rows {
		t := &rows[i]
		t.Tokens, t.Cost = t.counts.tokens(), t.counts.costs()
		slices.Sort(t.Cost.Unpriced)
		t.Cost.Unpriced = slices.Compact(t.Cost.Unpriced)
	}
	return rows, nil
}

// byDay adds up quarters of hours to days.
func byDay(quarters []Total, zone *time.Location) []Total {
	days := map[string]*Total{}
	for _, q := range quarters {
		var n int64
		if _, err := fmt.Sscan(q.Key, &n); err != nil {
			continue // it is a number: the query made it
		}
		q.Key = time.UnixMicro(n * quarter).In(zone).Format(time.DateOnly)
		if day := days[q.Key]; day != nil {
			day.add(q)
		} else {
			days[q.Key] = &q
		}
	}
	list := make([]Total, 0, len(days))
	for _, day := range days {
		list = append(list, *day)
	}
	slices.SortFunc(list, func(a, b Total) int { return cmp.Compare(b.Key, a.Key) })
	return list
}

func (t *Total) add(o Total) {
	t.Turns += o.Turns
	t.ToolCalls += o.ToolCalls
	t.Failures += o.Failures
	t.Interrupted += o.Interrupted
	t.Waiting += o.Waiting
	n, m := &t.counts, o.counts
	n.usages += m.usages
	n.in += m.in
	n.out += m.out
	n.read += m.read
	n.write += m.write
	n.priced += m.priced
	n.cost += m.cost
	n.unpriced += m.unpriced
}
