package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Head is a run without what makes it long.
type Head struct {
	runtypes.Wire         // without inputs and outputs
	HasInputs, HasOutputs bool
	Bytes                 int64 // of the whole run
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
