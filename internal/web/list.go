package web

import (
	"net/http"
	"time"

	"github.com/tracesmith/tracesmith/internal/store"
)

// tokens is how the page gets them: what is not known is null.
type tokens struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
}

func tokensOf(t store.Tokens) tokens { return tokens(t) }

type thread struct {
	ID          string   `json:"id"`
	Agent       string   `json:"agent"`
	Repo        string   `json:"repo"`
	Branch      string   `json:"branch"`
	Title       string   `json:"title"`
	Prompts     []string `json:"prompts"`
	Turns       int      `json:"turns"`
	Tokens      tokens   `json:"tokens"`
	DurationMS  *float64 `json:"duration_ms"`
	WaitingMS   *float64 `json:"waiting_ms"`
	CostUSD     *float64 `json:"cost_usd"`
	Unpriced    []string `json:"unpriced_models"`
	Errors      int      `json:"errors"`
	Interrupted int      `json:"interrupted"`
	FailedSteps int      `json:"failed_steps"`
	Start       *string  `json:"start"`
	Last        *string  `json:"last"`
	Running     bool     `json:"running"`
}

func threadOf(t store.Thread) thread {
	out := thread{
		ID: t.ID, Agent: t.Agent, Repo: t.Repo, Branch: t.Branch, Prompts: list(t.Prompts), Turns: t.Turns,
		Tokens: tokensOf(t.Tokens), DurationMS: length(t.Duration), WaitingMS: length(t.Waiting),
		CostUSD: t.Cost.Dollars, Unpriced: list(t.Cost.Unpriced),
		Errors: t.Errors, Interrupted: t.Interrupted, FailedSteps: t.FailedSteps,
		Start: moment(t.Start), Last: moment(t.Last), Running: t.Running,
	}
	if len(t.Prompts) > 0 {
		out.Title = t.Prompts[0]
	}
	return out
}

type turn struct {
	TraceID      string   `json:"trace_id"`
	Thread       string   `json:"thread"`
	Number       *int     `json:"number"`
	Kind         string   `json:"kind"`
	Name         string   `json:"name"`
	Title        string   `json:"title"`
	Agent        string   `json:"agent"`
	Repo         string   `json:"repo"`
	Branch       string   `json:"branch"`
	Start        *string  `json:"start"`
	End          *string  `json:"end"`
	DurationMS   *float64 `json:"duration_ms"`
	WaitingMS    *float64 `json:"waiting_ms"`
	Error        *string  `json:"error"`
	Interrupted  bool     `json:"interrupted"`
	Runs         int      `json:"runs"`
	FailedRuns   int      `json:"failed_runs"`
	FailedSteps  int      `json:"failed_steps"`
	ToolCalls    int      `json:"tool_calls"`
	Tokens       tokens   `json:"tokens"`
	CostUSD      *float64 `json:"cost_usd"`
	Unpriced     []string `json:"unpriced_models"`
	Model        *string  `json:"model"`
	CaptureLevel *string  `json:"capture_level"`
}

func turnOf(t store.Summary) turn {
	out := turn{
		TraceID: t.TraceID, Thread: t.Thread, Kind: string(t.Kind), Name: t.Name, Title: t.Title,
		Agent: t.Agent, Repo: t.Repo, Branch: t.Branch,
		Start: moment(t.Start), End: moment(t.End), DurationMS: span(t.Start, t.End), WaitingMS: length(t.Waiting),
		Error: known(t.Error), Interrupted: t.Interrupted, Runs: t.Runs, FailedRuns: t.FailedRuns, ToolCalls: t.ToolCalls,
		Tokens: tokensOf(t.Tokens), CostUSD: t.Cost.Dollars, Unpriced: list(t.Cost.Unpriced),
		Model: known(t.Model), CaptureLevel: known(t.Level),
	}
	if out.FailedSteps = t.FailedRuns; t.Error != "" && !t.Interrupted { // the turn itself is no step of it
		out.FailedSteps--
	}
	if t.Number > 0 {
		out.Number = &t.Number
	}
	return out
}

func each[A, B any](from []A, f func(A) B) []B {
	to := make([]B, len(from))
	for i, a := range from {
		to[i] = f(a)
	}
	return to
}

// list is never null.
func list(l []string) []string { return append([]string{}, l...) }

func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func moment(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return known(at.UTC().Format(time.RFC3339Nano))
}

// length is in milliseconds; nought is not known.
func length(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	ms := float64(d.Microseconds()) / 1e3
	return &ms
}

// span is from start to end in milliseconds, where both are known.
func span(start, end time.Time) *float64 {
	if start.IsZero() || end.IsZero() {
		return nil
	}
	ms := max(float64(end.Sub(start).Microseconds())/1e3, 0)
	return &ms
}

// facets counts the values that can be filtered by, over the whole store.
type facets struct {
	Agents   []facet `json:"agents"`
	Repos    []facet `json:"repos"`
	Branches []facet `json:"branches"`
}

type facet struct {
	Name  string `json:"name"`
	Turns int    `json:"turns"`
}

func facetOf(c store.Count) facet { return facet(c) }

func (h *Handler) threads(r *http.Request) (any, error) {
	q, after, most, err := h.page(r)
	if err != nil {
		return nil, err
	}
	found, next, err := h.cfg.Store.Threads(r.Context(), q, after, most)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"threads": each(found, threadOf), "next": writeCursor(next), "facets": nil}
	if after.ID == "" { // they are the same for every page
		f, err := h.cfg.Store.Facets(r.Context())
		if err != nil {
			return nil, err
		}
		answer["facets"] = facets{each(f.Agents, facetOf), each(f.Repos, facetOf), each(f.Branches, facetOf)}
	}
	return answer, nil
}

// thread is one conversation with its turns, the first first.
func (h *Handler) thread(r *http.Request) (any, error) {
	_, after, most, err := h.page(r)
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	found, err := h.cfg.Store.Thread(r.Context(), id)
	if err != nil {
		return nil, err
	}
	turns, next, err := h.cfg.Store.Summaries(r.Context(), store.Query{Thread: id, Oldest: true}, after, most)
	if err != nil {
		return nil, err
	}
	return map[string]any{"thread": threadOf(found), "turns": each(turns, turnOf), "next": writeCursor(next)}, nil
}

func (h *Handler) turns(r *http.Request) (any, error) {
	q, after, most, err := h.page(r)
	if err != nil {
		return nil, err
	}
	found, next, err := h.cfg.Store.Summaries(r.Context(), q, after, most)
	if err != nil {
		return nil, err
	}
	return map[string]any{"turns": each(found, turnOf), "next": writeCursor(next)}, nil
}

type total struct {
	Key         string   `json:"key"`
	Turns       int      `json:"turns"`
	ToolCalls   int      `json:"tool_calls"`
	Failures    int      `json:"failures"`
	Interrupted int      `json:"interrupted"`
	WaitingMS   *float64 `json:"waiting_ms"`
	Tokens      tokens   `json:"tokens"`
	CostUSD     *float64 `json:"cost_usd"`
	Unpriced    []string `json:"unpriced_models"`
}

func (h *Handler) totals(r *http.Request) (any, error) {
	v := r.URL.Query()
	by := store.By(v.Get("by"))
	switch by {
	case "":
		by = store.ByDay
	case store.ByDay, store.ByRepo, store.ByBranch, store.ByThread:
	default:
		return nil, &badRequest{"by is day, repo, branch or thread"}
	}
	q, err := h.filters(v)
	if err != nil {
		return nil, err
	}
	rows, err := h.cfg.Store.Totals(r.Context(), by, q, h.cfg.Zone)
	if err != nil {
		return nil, err
	}
	return map[string]any{"rows": each(rows, func(t store.Total) total {
		return total{
			t.Key, t.Turns, t.ToolCalls, t.Failures, t.Interrupted, length(t.Waiting), tokensOf(t.Tokens), t.Cost.Dollars, list(t.Cost.Unpriced),
		}
	})}, nil
}
