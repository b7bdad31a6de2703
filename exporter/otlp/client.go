package otlp

import (
	"context"
	"sync/atomic"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Client sends spans while its caller waits. It is safe for concurrent use.
type Client struct {
	to   *exporter.Client
	bare atomic.Int64
}

// NewClient checks cfg and returns a client. It does not touch the network. Of cfg, the
// fields Address and Replicas have no meaning here. Header may not authenticate;
// Credentials may hold any header.
func NewClient(cfg exporter.Config) (*Client, error) {
	cfg, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	to, err := exporter.NewClient(cfg)
	if err != nil {
		return nil, wrap(err)
	}
	return &Client{to: to}, nil
}

// Export sends the runs that have ended, as exporter.Client.Export sends ops: with a nil
// error each was delivered, or dropped and reported to OnDrop; otherwise rest holds those
// whose fate is open, each as one op.
//
// A run that has not ended is left out. Its patch is to come in the same call, or merged with
// the post (runtypes.Merge) in a later one: alone it goes without the inputs.
func (c *Client) Export(ctx context.Context, ops []runtypes.Op) (rest []runtypes.Op, err error) {
	r, err := c.Deliver(ctx, ops)
	return r.Rest, err
}

// Deliver is Export with an account of this one call, whatever others are under way. Runs
// that arrived without their inputs count as shortened.
func (c *Client) Deliver(ctx context.Context, ops []runtypes.Op) (exporter.Receipt, error) {
	here := joiner{limit: 1 << 62} // they are in memory already
	var whole []runtypes.Op
	for _, op := range ops {
		if op, ended := here.join(op); ended {
			whole = append(whole, op)
		}
	}
	r, err := c.to.Deliver(ctx, whole)
	bare := patches(whole) - patches(r.Rest)
	c.bare.Add(bare)
	r.Shortened += int(bare - patches(r.Dropped))
	return r, wrap(err)
}

// patches counts the runs that go without what only their posts said.
func patches(ops []runtypes.Op) (n int64) {
	for _, op := range ops {
		if op.Verb == runtypes.Patch {
			n++
		}
	}
	return n
}

// Close gives up idle connections.
func (c *Client) Close() error { return c.to.Close() }

// Stats returns the counts so far.
func (c *Client) Stats() Stats { return Stats{Stats: c.to.Stats(), Bare: c.bare.Load()} }
