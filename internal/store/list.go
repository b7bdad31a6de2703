package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Tokens is what model calls took. A nil count is not known.
type Tokens struct {
	Input, Output         *int64
	CacheRead, CacheWrite *int64 // of Input
}

// Cost is in US dollars: what the runs that know their price cost together, nil if none
// does, and the models of those that do not.
type Cost struct {
	Dollars  *float64
	Unpriced []string
}

// Summary is a turn in a list.
type Summary struct {
	TraceID, Thread     string // a turn of no thread is one by itself
	Number              int    // 1-based; 0: not known
	Kind                runtypes.Kind
	Name, Title         string // Title is the prompt's first line, empty if that was not captured
	Agent, Repo, Branch string
	Level               string    // how much was captured; empty: not known
	Start, End          time.Time // zero End: still running
	Error               string
	Interrupted         bool
	Model               string
	Runs, FailedRuns    int
	ToolCalls           int
	Waiting             time.Duration // for a person; 0: none is known
	Tokens              Tokens
	Cost                Cost
}

const summaryColumns = `trace_id, thread, number, kind, name, title, agent, repo, branch, level, started, ended, error,
	interrupted, model, runs, failed, tools, waiting, usages, tokens_in, tokens_out, cache_read, cache_write, priced, cost, unpriced`

func scanSummary(rows *sql.Rows) (t Summary, err error) {
	var start, end, waiting int64
	var n counts
	err = rows.Scan(append([]any{&t.TraceID, &t.Thread, &t.Number, &t.Kind, &t.Name, &t.Title, &t.Agent, &t.Repo, &t.Branch,
		&t.Level, &start, &end, &t.Error, &t.Interrupted, &t.Model, &t.Runs, &t.FailedRuns, &t.ToolCalls, &waiting}, n.fields()...)...)
	t.Start, t.End, t.Waiting = fromMicros(start), fromMicros(end), millis(waiting)
	t.Tokens, t.Cost = n.tokens(), n.costs()
	return t, err
}

// counts are tokens and prices as rows have them.
type counts struct {
	usages, in, out, read, write int64
	priced, cost                 int64
	unpriced                     string
}

func (n *counts) fields() []any {
	return []any{&n.usages, &n.in, &n.out, &n.read, &n.write, &n.priced, &n.cost, &n.unpriced}
}

// tokens leaves out what no run told: an agent that has no cache tells of none.
func (n *counts) tokens() (t Tokens) {
	if n.usages > 0 {
		t.Input, t.Output = &n.in, &n.out
	}
	if n.read+n.write > 0 {
		t.CacheRead, t.CacheWrite = &n.read, &n.write
	}
	return t
}

func (n *counts) costs() (c Cost) {
	if n.priced > 0 {
		dollars := float64(n.cost) / 1e6
		c.Dollars = &dollars
	}
	for model := range strings.SplitSeq(n.unpriced, "\n") {
		// Joined lists have a comma between them, and a model of no name is one too.
		if model = strings.TrimPrefix(model, ","); model != "" && !slices.Contains(c.Unpriced, model) {
			c.Unpriced = append(c.Unpriced, model)
		}
	}
	return c
}

// Place is where a page of a list ends. The zero value is the list's beginning.
type Place struct {
	Start time.Time // of the last turn, or the last thread's newest
	ID    string    // of that turn or thread
	AsOf  time.Time // threads: later turns do not move them any more
}

// Summaries lists turns after a place, the one that started last first unless the query
// says otherwise. most is as Filter.Limit. next is nil at the end. Turns that arrive
// between two pages change neither.
func (s *Store) Summaries(ctx context.Context, q Query, after Place, most int) (list []Summary, next *Place, err error) {
	most = limit(most)
	c := q.condition()
	later, order := "<", "DESC"
	if q.Oldest {
		later, order = ">", "ASC"
	}
	if after.ID != "" {
		c.and("(started, trace_id) "+later+" (?, ?)", micros(after.Start), after.ID)
	}
	list, err = query(ctx, s.db, scanSummary, "SELECT "+summaryColumns+" FROM turns WHERE "+c.String()+
		" ORDER BY started "+order+", trace_id "+order+" LIMIT ?", append(c.args, most+1)...)
	if err != nil {
		return nil, nil, fmt.Errorf("store: summaries: %w", err)
	}
	if len(list) > most {
		list = list[:most]
		next = &Place{Start: list[most-1].Start, ID: list[most-1].TraceID}
	}
	return list, next, nil
}

// Summary returns one turn, by its whole trace id.
func (s *Store) Summary(ctx context.Context, trace string) (Summary, error) {
	list, err := query(ctx, s.db, scanSummary, "SELECT "+summaryColumns+" FROM turns WHERE trace_id = ?", trace)
	switch {
	case err != nil:
		return Summary{}, fmt.Errorf("store: summary: %w", err)
	case len(list) == 0:
		return Summary{}, fmt.Errorf("store: trace %q: %w", trace, ErrNotFound)
	}
	return list[0], nil
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
