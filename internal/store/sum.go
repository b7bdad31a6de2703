package store

import (
	"math"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// sum is a turn as a row of the table turns: what its top run says of it, and the
// shares of all its runs.
type sum struct {
	seq     int64
	traceID string
	bytes   int64

	topOrder                          string
	thread, kind, name, title, agent  string
	repo, branch, level, error, model string
	number, started, ended            int64
	interrupted                       bool
	share
	words words
}

// share is what a run adds to its turn.
type share struct {
	runs, failed, tools   int64  // failed: those interrupted are not among them
	usages                int64  // model calls that say what they took
	in, out               int64  // tokens
	cacheRead, cacheWrite int64  // tokens, of in
	waiting               int64  // milliseconds
	priced                int64  // runs that know their price
	cost                  int64  // millionths of a dollar, of those
	unpriced              string // models without a price, each with a newline
}

// sumColumns are a turn's columns, in the order of fields and values.
const sumColumns = `trace_id, bytes, top_order, thread, number, kind, name, title, agent, repo, branch, level,
	started, ended, error, interrupted, model, runs, failed, tools, usages, tokens_in, tokens_out,
	cache_read, cache_write, waiting, priced, cost, unpriced`

func (s *sum) fields() []any {
	return []any{
		&s.traceID, &s.bytes, &s.topOrder, &s.thread, &s.number, &s.kind, &s.name, &s.title, &s.agent, &s.repo, &s.branch, &s.level,
		&s.started, &s.ended, &s.error, &s.interrupted, &s.model, &s.runs, &s.failed, &s.tools, &s.usages, &s.in, &s.out,
		&s.cacheRead, &s.cacheWrite, &s.waiting, &s.priced, &s.cost, &s.unpriced,
	}
}

func (s *sum) values() []any {
	return []any{
		s.traceID, s.bytes, s.topOrder, s.thread, s.number, s.kind, s.name, s.title, s.agent, s.repo, s.branch, s.level,
		s.started, s.ended, s.error, s.interrupted, s.model, s.runs, s.failed, s.tools, s.usages, s.in, s.out,
		s.cacheRead, s.cacheWrite, s.waiting, s.priced, s.cost, s.unpriced,
	}
}

// give adds a run.
func (s *sum) give(w runtypes.Wire, meta metadata, size int64) {
	s.bytes += size
	s.add(shareOf(w, meta), 1)
	if s.topOrder == "" || w.DottedOrder <= s.topOrder {
		s.lead(w, meta)
	}
	if s.model == "" {
		s.model = meta.text("ls_model_name")
	}
	s.words.learn(w, meta)
}

// take takes away what a run added before it changed.
func (s *sum) take(w runtypes.Wire, size int64) {
	s.bytes -= size
	s.add(shareOf(w, metadata{w.Metadata()}), -1)
}

// lead takes what the turn's top run says of the whole.
func (s *sum) lead(w runtypes.Wire, meta metadata) {
	start, end, _ := w.Times() // an unreadable time is refused before
	s.topOrder = w.DottedOrder
	s.thread, s.number = short(meta.text("thread_id"), MaxName), meta.number("turn_number")
	if s.thread == "" {
		s.thread = w.TraceID // a turn of no conversation is one by itself
	}
	s.kind, s.name = string(w.Kind()), w.Name
	s.agent = short(meta.text("ls_integration"), MaxName)
	s.repo, s.branch = short(meta.text("git_repo_url"), MaxName), short(meta.text("git_branch"), MaxName)
	s.started, s.ended = micros(start), micros(end)
	s.error, s.interrupted = short(w.Error, maxErrorText), meta.m["ls_is_error_interrupt"] == true
	if s.level = meta.text("capture_level"); s.level == "" && meta.text("ls_tracing_mode") == "metadata" {
		s.level = "metadata"
	}
	if title := firstLine(prompt(w.Inputs)); title != "" {
		s.title = title
	}
}

func (s *sum) add(d share, sign int64) {
	s.runs += sign * d.runs
	s.failed += sign * d.failed
	s.tools += sign * d.tools
	s.usages += sign * d.usages
	s.in += sign * d.in
	s.out += sign * d.out
	s.cacheRead += sign * d.cacheRead
	s.cacheWrite += sign * d.cacheWrite
	s.waiting += sign * d.waiting
	s.priced += sign * d.priced
	s.cost += sign * d.cost
	if sign > 0 && d.unpriced != "" && !slices.Contains(strings.Split(s.unpriced, "\n"), strings.TrimSuffix(d.unpriced, "\n")) {
		s.unpriced += d.unpriced
	}
}

// Bounds of what one run is believed, so that no sum overflows.
const (
	maxWaiting = 365 * 24 * 3600 * 1000 // milliseconds: a year
	maxDollars = 1e6
)

func shareOf(w runtypes.Wire, meta metadata) share {
	d := share{runs: 1, waiting: min(meta.tokens("permission_wait_ms"), maxWaiting)}
	if w.Error != "" && meta.m["ls_is_error_interrupt"] != true {
		d.failed = 1
	}
	if w.RunType == "tool" {
		d.tools = 1
	}
	usage := meta.object("usage_metadata")
	if usage.m == nil {
		return d
	}
	d.usages = 1
	d.in, d.out = usage.tokens("input_tokens"), usage.tokens("output_tokens")
	d.cacheRead, d.cacheWrite = cached(usage)
	switch dollars, known := usage.dollars("total_cost"); {
	case known:
		d.priced, d.cost = 1, int64(math.Round(dollars*1e6))
	case w.EndTime != "" && d.in+d.out > 0: // before its end a run may yet learn its price
		d.unpriced = strings.ReplaceAll(meta.text("ls_model_name"), "\n", " ") + "\n"
	}
	return d
}

// cached are the input tokens that were read from a cache, and written to one.
func cached(usage metadata) (read, written int64) {
	detail := usage.object("input_token_details")
	written = detail.tokens("cache_creation")
	if split := detail.tokens("ephemeral_5m_input_tokens") + detail.tokens("ephemeral_1h_input_tokens"); split > 0 {
		written = split
	}
	return detail.tokens("cache_read"), min(written, maxTokens)
}
