package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// row is a run with what its columns say of it.
type row struct {
	wire            runtypes.Wire
	posted, patched bool
}

// columns of a run, in the order of values.
const columns = `id, trace_id, parent_id, dotted_order, thread_id, turn_number, kind, name, started, ended,
	error, interrupted, model, tokens_in, tokens_out, integration, repo, branch, posted, patched, bytes, wire`

// values returns what goes into columns, the run's long parts, and the size the run is
// charged with.
func (r row) values(meta metadata) (values []any, long body, size int64, err error) {
	w := r.wire
	head, long, err := split(w)
	if err != nil {
		return nil, body{}, 0, err
	}
	text, err := runtypes.Marshal(head)
	if err != nil {
		return nil, body{}, 0, err
	}
	_, end, err := w.Times()
	if err != nil && w.StartTime != "" { // a lone patch may be without
		return nil, body{}, 0, err
	}
	usage := meta.object("usage_metadata")
	size = int64(len(text)) + long.size()
	return []any{
		w.ID, w.TraceID, w.ParentRunID, w.DottedOrder, meta.text("thread_id"), meta.number("turn_number"),
		string(w.Kind()), w.Name, r.started(), micros(end),
		w.Error, meta.m["ls_is_error_interrupt"] == true, meta.text("ls_model_name"),
		usage.tokens("input_tokens"), usage.tokens("output_tokens"),
		meta.text("ls_integration"), meta.text("git_repo_url"), meta.text("git_branch"),
		r.posted, r.patched, size, string(text),
	}, long, size, nil
}

// started is the run's start in microseconds.
func (r row) started() int64 {
	start, _, _ := r.wire.Times() // an unreadable time is refused by values
	return micros(start)
}

// write folds one write into the row. It reports whether that changed anything:
// what the row already has is left alone.
func (r *row) write(verb runtypes.Verb, w runtypes.Wire) bool {
	switch {
	case verb == runtypes.Post && !r.posted:
		if r.patched { // the patch was first: it still has the last word
			w = runtypes.MergeWire(w, r.wire)
		}
		r.wire, r.posted = w, true
	case verb == runtypes.Post && w.EndTime != "" && r.wire.EndTime == "":
		// After a crash the post comes again, merged with the patch that ends it.
		r.wire, r.patched = runtypes.MergeWire(r.wire, w), true
	case verb == runtypes.Patch && !r.patched:
		r.wire, r.patched = runtypes.MergeWire(r.wire, w), true
	default:
		return false
	}
	return true
}

func decode(text string) (runtypes.Wire, error) {
	var w runtypes.Wire
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return w, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return w, nil
}

// metadata reads a decoded JSON object leniently: what has another type counts
// as absent.
type metadata struct{ m map[string]any }

func (m metadata) text(key string) string {
	s, _ := m.m[key].(string)
	return s
}

func (m metadata) object(key string) metadata {
	o, _ := m.m[key].(map[string]any)
	return metadata{o}
}

func (m metadata) number(key string) int64 {
	n, _ := m.m[key].(json.Number)
	i, err := n.Int64()
	if err != nil {
		return 0
	}
	return i
}

// maxTokens is more than any model call takes, and little enough that the sum over a
// trace stays a number that SQLite holds.
const maxTokens int64 = 1 << 40

// tokens reads a count. What cannot be one is cut to what can.
func (m metadata) tokens(key string) int64 {
	return min(max(m.number(key), 0), maxTokens)
}

// dollars reads a price, and whether there is one.
func (m metadata) dollars(key string) (amount float64, known bool) {
	n, ok := m.m[key].(json.Number)
	if !ok {
		return 0, false
	}
	amount, err := n.Float64()
	if err != nil || amount < 0 {
		return 0, false
	}
	return min(amount, maxDollars), true
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
