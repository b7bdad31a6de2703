package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Thread is one conversation in a list: all its turns, not only those that were asked
// for.
type Thread struct {
	ID                  string
	Agent, Repo, Branch string // of its last turn
	Prompts             []string
	Turns               int
	Errors, Interrupted int           // turns
	FailedSteps         int           // runs below the turns' own that failed
	Duration            time.Duration // of the turns that ended
	Waiting             time.Duration // for a person; 0: none is known
	Start, Last         time.Time     // the first turn's start; when something last began or ended
	Running             bool
	Tokens              Tokens
	Cost                Cost
}

// maxPrompts is how many prompts a thread in a list is told with.
const maxPrompts = 5

// inList is a list of threads as a table, page; an argument for each. One question for all
// of them: each has its price, however few turns a thread has.
func inList(ids []string) (with string, args []any) {
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = fmt.Sprintf("(%d, ?)", i)
		args = append(args, id)
	}
	return "WITH page(key, value) AS (VALUES " + strings.Join(rows, ", ") + ") ", args
}

// sumThreads sums the turns of the threads in a list, in the list's order.
var sumThreads = fmt.Sprintf(`SELECT t.thread, last.agent, last.repo, last.branch, count(*),
	sum(t.error <> '' AND NOT t.interrupted), sum(t.interrupted <> 0), sum(t.failed - (t.error <> '' AND NOT t.interrupted)),
	sum(min(max(t.ended - t.started, 0), %d) * (t.ended <> 0)), sum(t.waiting), min(t.started), max(max(t.started, t.ended)), max(t.ended = 0),
	sum(t.usages), sum(t.tokens_in), sum(t.tokens_out), sum(t.cache_read), sum(t.cache_write), sum(t.priced), sum(t.cost),
	group_concat(DISTINCT t.unpriced)
	FROM page
	CROSS JOIN turns last ON last.seq = (SELECT seq FROM turns WHERE thread = page.value ORDER BY started DESC, trace_id DESC LIMIT 1)
	CROSS JOIN turns t ON t.thread = page.value
	GROUP BY page.key ORDER BY page.key`, longestTurn)

// longestTurn is what a turn's times are believed, in microseconds: a year.
const longestTurn int64 = maxWaiting * 1000

// firstPrompts are the first prompts of the threads in a list.
const firstPrompts = `SELECT t.thread, t.title FROM page
	CROSS JOIN turns t ON t.seq IN (SELECT seq FROM turns WHERE thread = page.value AND title <> '' ORDER BY started, trace_id LIMIT ?)
	ORDER BY page.key, t.started, t.trace_id`

func scanThread(rows *sql.Rows) (t Thread, err error) {
	var length, waiting, start, last int64
	var n counts
	err = rows.Scan(append([]any{&t.ID, &t.Agent, &t.Repo, &t.Branch, &t.Turns, &t.Errors, &t.Interrupted, &t.FailedSteps,
		&length, &waiting, &start, &last, &t.Running}, n.fields()...)...)
	t.Duration, t.Waiting = time.Duration(length)*time.Microsecond, millis(waiting)
	t.Start, t.Last = fromMicros(start), fromMicros(last)
	t.Tokens, t.Cost = n.tokens(), n.costs()
	return t, err
}

// Threads lists conversations that have a turn of the query, the one whose last turn
// started last first. Turns that start after the first page was asked for do not move a
// thread to another page.
func (s *Store) Threads(ctx context.Context, q Query, after Place, most int) (list []Thread, next *Place, err error) {
	most = limit(most)
	if after.AsOf.IsZero() {
		if after.AsOf, err = s.newest(ctx); err != nil {
			return nil, nil, err
		}
	}
	asOf := micros(after.AsOf)
	ranked := &condition{}
	ranked.and("started <= ?", asOf)
	if c := q.condition(); len(c.parts) > 0 {
		ranked.and("thread IN (SELECT thread FROM turns WHERE "+c.String()+")", c.args...)
	}
	page := &condition{}
	if after.ID != "" {
		page.and("(newest, thread) < (?, ?)", micros(after.Start), after.ID)
	}
	// First which threads, by the index, then their sums.
	type place struct {
		id     string
		newest int64
	}
	places, err := query(ctx, s.db, func(rows *sql.Rows) (p place, err error) { return p, rows.Scan(&p.id, &p.newest) },
		"SELECT thread, max(started) AS newest FROM turns WHERE "+ranked.String()+
			" GROUP BY thread HAVING "+page.String()+" ORDER BY newest DESC, thread DESC LIMIT ?",
		append(append(ranked.args, page.args...), most+1)...)
	if err != nil {
		return nil, nil, fmt.Errorf("store: threads: %w", err)
	}
	if len(places) > most {
		places = places[:most]
		last := places[most-1]
		next = &Place{Start: fromMicros(last.newest), ID: last.id, AsOf: after.AsOf}
	}
	ids := make([]string, len(places))
	for i, p := range places {
		ids[i] = p.id
	}
	list, err = s.threadsOf(ctx, ids)
	return list, next, err
}

// Thread returns one conversation.
func (s *Store) Thread(ctx context.Context, id string) (Thread, error) {
	list, err := s.threadsOf(ctx, []string{short(id, MaxName)})
	switch {
	case err != nil:
		return Thread{}, err
	case len(list) == 0:
		return Thread{}, fmt.Errorf("store: thread: %w", ErrNotFound)
	}
	return list[0], nil
}

// threadsOf returns conversations in the order of their ids, without those that are gone.
func (s *Store) threadsOf(ctx context.Context, ids []string) ([]Thread, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	page, args := inList(ids)
	list, err := query(ctx, s.db, scanThread, page+sumThreads, args...)
	if err != nil {
		return nil, fmt.Errorf("store: threads: %w", err)
	}
	prompts := map[string][]string{}
	_, err = query(ctx, s.db, func(rows *sql.Rows) (none struct{}, err error) {
		var thread, title string
		err = rows.Scan(&thread, &title)
		prompts[thread] = append(prompts[thread], title)
		return none, err
	}, page+firstPrompts, append(args, maxPrompts)...)
	if err != nil {
		return nil, fmt.Errorf("store: threads: %w", err)
	}
	for i := range list {
		list[i].Prompts = prompts[list[i].ID]
	}
	return list, nil
}

// newest is when the last turn of all started.
func (s *Store) newest(ctx context.Context) (time.Time, error) {
	var at int64
	err := s.db.QueryRowContext(ctx, "SELECT coalesce(max(started), 0) FROM turns").Scan(&at)
	if err != nil {
		return time.Time{}, fmt.Errorf("store: threads: %w", named(err))
	}
	return time.UnixMicro(at).UTC(), nil
}

// Count is a value that turns can be filtered by, and how many have it.
type Count struct {
	Name  string
	Turns int
}

// Facets are the agents, repositories and branches of the stored turns, those of most
// turns first, at most a hundred each.
type Facets struct{ Agents, Repos, Branches []Count }

// Facets counts what turns can be filtered by.
func (s *Store) Facets(ctx context.Context) (Facets, error) {
	agents, repos, branches := map[string]int{}, map[string]int{}, map[string]int{}
	_, err := query(ctx, s.db, func(rows *sql.Rows) (none struct{}, err error) {
		var agent, repo, branch string
		var turns int
		if err := rows.Scan(&agent, &repo, &branch, &turns); err != nil {
			return none, err
		}
		agents[agent] += turns
		repos[repo] += turns
		branches[branch] += turns
		return none, nil
	}, "SELECT agent, repo, branch, count(*) FROM turns GROUP BY agent, repo, branch") // an index has them in this order
	if err != nil {
		return Facets{}, fmt.Errorf("store: facets: %w", err)
	}
	return Facets{ranked(agents), ranked(repos), ranked(branches)}, nil
}

// maxFacets bounds the values of a kind that turns can be filtered by.
const maxFacets = 100

// ranked lists counts, the largest first; what has no name is left out.
func ranked(counts map[string]int) []Count {
	delete(counts, "")
	list := make([]Count, 0, len(counts))
	for name, turns := range counts {
		list = append(list, Count{name, turns})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(b.Turns-a.Turns, cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), maxFacets)]
}
