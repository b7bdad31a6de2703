package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Head is a run without what makes it long.
type Head struct {
	runtypes.Wire         // without inputs and outputs
	HasInputs, HasOutputs bool
	Bytes                 int64 // of the whole run

	Start, End time.Time // zero End: still running
	Meta       map[string]any
	Tokens     Tokens
	Dollars    *float64      // what it cost, where it knows that
	FirstToken time.Time     // zero: not known
	Waiting    time.Duration // for a person; 0: none is known
}

// read takes the head's facts out of its wire.
func (h *Head) read() {
	h.Meta = h.Wire.Metadata()
	h.Start, h.End, _ = h.Times() // what cannot be read is not known
	meta := metadata{h.Meta}
	h.Waiting = millis(min(meta.tokens("permission_wait_ms"), maxWaiting))
	usage := meta.object("usage_metadata")
	if usage.m != nil {
		h.Tokens = tokensOf(usage)
	}
	if dollars, known := usage.dollars("total_cost"); known {
		h.Dollars = &dollars
	}
	var events []struct {
		Name string    `json:"name"`
		Time time.Time `json:"time"`
	}
	if json.Unmarshal(h.Events, &events) != nil {
		return
	}
	for _, e := range events {
		if e.Name == "new_token" {
			h.FirstToken = e.Time
			return
		}
	}
}

// tokensOf are one run's tokens: a nought that it says is one.
func tokensOf(usage metadata) (t Tokens) {
	says := func(m metadata, key string, n int64) *int64 {
		if _, ok := m.m[key].(json.Number); !ok {
			return nil
		}
		return &n
	}
	detail := usage.object("input_token_details")
	read, written := cached(usage)
	t.Input = says(usage, "input_tokens", usage.tokens("input_tokens"))
	t.Output = says(usage, "output_tokens", usage.tokens("output_tokens"))
	t.CacheRead = says(detail, "cache_read", read)
	for _, key := range []string{"cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"} {
		if t.CacheWrite == nil {
			t.CacheWrite = says(detail, key, written)
		}
	}
	return t
}

// Heads returns the runs of a trace, by its whole id, in dotted order and without their
// inputs and outputs.
func (s *Store) Heads(ctx context.Context, trace string) ([]Head, error) {
	list, err := query(ctx, s.db, func(rows *sql.Rows) (h Head, err error) {
		var text string
		if err = rows.Scan(&h.Bytes, &text, &h.HasInputs, &h.HasOutputs); err != nil {
			return h, err
		}
		if h.Wire, err = decode(text); err != nil {
			return h, err
		}
		h.HasInputs, h.HasOutputs = h.HasInputs || len(h.Inputs) > 0, h.HasOutputs || len(h.Outputs) > 0
		h.Inputs, h.Outputs = nil, nil
		h.read()
		return h, nil
	}, `SELECT r.bytes, r.wire, b.inputs IS NOT NULL, b.outputs IS NOT NULL FROM runs r LEFT JOIN bodies b ON b.id = r.id
		WHERE r.trace_id = ? ORDER BY r.dotted_order`, trace)
	if err != nil {
		return nil, fmt.Errorf("store: heads: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("store: trace %q: %w", trace, ErrNotFound)
	}
	return list, nil
}

// Run returns one run of a trace, both by their whole ids.
func (s *Store) Run(ctx context.Context, trace, id string) (runtypes.Wire, error) {
	list, err := query(ctx, s.db, scanWhole, "SELECT "+wholeRun+" WHERE r.id = ? AND r.trace_id = ?", id, trace)
	switch {
	case err != nil:
		return runtypes.Wire{}, fmt.Errorf("store: run: %w", err)
	case len(list) == 0:
		return runtypes.Wire{}, fmt.Errorf("store: run %q: %w", id, ErrNotFound)
	}
	return list[0], nil
}
