package exporter

import (
	"context"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Receipt says what became of the ops of one Deliver.
type Receipt struct {
	Rest      []runtypes.Op // those whose fate is open, as Export returns them
	Dropped   []runtypes.Op // those that will not arrive, of which OnDrop was told
	Unnamed   int           // dropped beside them: the server did not say which
	Shortened int           // runs that arrived cut down to what the server takes
}

// Deliver is Export with an account of this one call, whatever others are under way.
func (c *Client) Deliver(ctx context.Context, ops []runtypes.Op) (Receipt, error) {
	if len(ops) == 0 {
		return Receipt{}, nil
	}
	items := fold(c.sample(ops))
	err := c.export(ctx, items)
	var r Receipt
	if err != nil {
		r.Rest = undone(items)
	}
	for _, it := range items {
		r.Unnamed += it.unnamed
		switch {
		case it.dropped:
			r.Dropped = append(r.Dropped, it.ops...)
		case it.short:
			r.Shortened++
		}
	}
	return r, err
}
