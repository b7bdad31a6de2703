package exporter

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Client sends ops to LangSmith while its caller waits. It is safe for
// concurrent use, but the order of two Export calls under way at once is open:
// the ops of one trace belong in one call, or in calls that follow each other.
type Client struct {
	cfg    Config
	http   *transport
	server server
	pace   pace
	stats  counters
	redact redactor
	orphan orphans
	coder  *coder
	now    func() time.Time

	life       context.Context // ends with Close
	end        context.CancelFunc
	background sync.WaitGroup
}

// NewClient checks cfg and returns a client. It does not touch the network.
func NewClient(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, http: newTransport(&cfg), redact: newRedactor(cfg.Redact), now: time.Now, coder: newCoder(min(cfg.InFlight, runtime.GOMAXPROCS(0)), cfg.Level)}
	c.server.plain = cfg.NoCompression
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// Close ends the background question to the server and gives up idle
// connections. Exports under way are not disturbed.
func (c *Client) Close() error {
	c.end()
	c.background.Wait()
	c.http.idle()
	return nil
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats { return c.stats.snapshot() }

// Export delivers ops in order and returns when that is done or cannot go on.
//
// With a nil error every op was delivered, or dropped and reported to OnDrop.
// Otherwise rest holds the ops whose fate is open, in order, for a later Export;
// among them may be some that did arrive, which is harmless. The error is a
// *TemporaryError when the server could not be reached or wants to be left
// alone, a *StatusError when it refuses everything (errors.Is with
// ErrUnauthorized and ErrForbidden tells why), or ctx's. Where a run's post
// arrived but the patch merged into it did not, rest holds the patch alone.
//
// The runs must not change while Export runs; it does not change them either.
func (c *Client) Export(ctx context.Context, ops []runtypes.Op) (rest []runtypes.Op, err error) {
	r, err := c.Deliver(ctx, ops)
	return r.Rest, err
}

// sample leaves out the ops of traces that are not kept.
func (c *Client) sample(ops []runtypes.Op) []runtypes.Op {
	if c.cfg.Sampling == nil {
		return ops
	}
	kept := make([]runtypes.Op, 0, len(ops))
	for _, op := range ops {
		if op.Run == nil || c.keeps(op) {
			kept = append(kept, op)
		}
	}
	return kept
}

// keeps reports whether an op's trace is kept, and counts it if not.
func (c *Client) keeps(op runtypes.Op) bool {
	if sampled(c.cfg.Sampling, op.Run.TraceID) {
		return true
	}
	c.stats.leftOut()
	return false
}

// undone lists the ops that are neither delivered nor dropped, in order.
func undone(items []*item) (ops []runtypes.Op) {
	for _, it := range items {
		if !it.done {
			ops = append(ops, it.ops...)
		}
	}
	return ops
}

// export delivers items and notes what keeps it from that.
func (c *Client) export(ctx context.Context, items []*item) error {
	c.Warm()
	err := c.exportItems(ctx, items)
	if err != nil {
		c.stats.failed(err)
	}
	return err
}

// exportItems fills requests to what the server takes and delivers them.
func (c *Client) exportItems(ctx context.Context, items []*item) error {
	var batch []*item
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if size > smallBody { // it is worth a wait to know how it may be compressed
			c.await(ctx, c.cfg.Interval)
		}
		err := c.deliver(ctx, batch)
		batch, size = batch[:0], 0
		return err
	}
	for _, it := range items {
		if ctx.Err() != nil {
			return fmt.Errorf("exporter: export: %w", context.Cause(ctx))
		}
		maxOps, maxBytes := c.server.limits(&c.cfg)
		if !c.prepare(it, maxBytes) {
			continue
		}
		if len(batch) >= maxOps || size+it.wire.size() > maxBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, it), size+it.wire.size()
	}
	return flush()
}

// prepare serialises an item and makes it fit a request of its own. It reports
// whether there is something to send.
func (c *Client) prepare(it *item, maxBytes int) bool {
	if why := it.prepare(c); why != nil {
		c.dropItem(it, why)
		return false
	}
	if it.wire.size() > maxBytes {
		c.shorten(it, maxBytes) // where that does not suffice the server may yet take it
	}
	return true
}

// shorten cuts an item's texts to make it fit, and reports whether it got smaller.
func (c *Client) shorten(it *item, target int) bool {
	before, files := it.wire.size(), len(it.wire.files)
	if !it.wire.shorten(target) {
		return false
	}
	c.stats.detached(files - len(it.wire.files))
	if !it.short {
		it.short = true
		c.stats.shortened()
	}
	c.cfg.Logger.Warn("run shortened", "run", it.wire.id, "bytes", before, "kept", it.wire.size())
	return true
}

// delivered settles items that the server has.
func (c *Client) delivered(items []*item) {
	for _, it := range items {
		c.stats.delivered(len(it.ops))
		it.settle()
	}
}

func (c *Client) dropItem(it *item, why *DropError) {
	if it.spooled() {
		it.fill()
	}
	c.drop(it.ops, why)
	it.dropped = true
	it.settle()
}

// drop counts and reports ops that will not arrive.
func (c *Client) drop(ops []runtypes.Op, why *DropError) {
	n := len(ops) + why.Unnamed
	if n == 0 {
		return
	}
	c.orphan.lost(ops...)
	why.Endpoint = c.cfg.Endpoint
	total, warn := c.stats.dropped(n, why, c.now())
	if warn {
		first := uuid.Nil
		if len(ops) > 0 {
			first = runID(ops[0])
		}
		c.cfg.Logger.Warn("ops dropped", "ops", n, "reason", why.Reason, "total", total, "first", first, "error", why.Err)
	}
	if c.cfg.OnDrop == nil {
		return
	}
	if err := guard(func() error { c.cfg.OnDrop(ops, why); return nil }); err != nil {
		c.cfg.Logger.Error("OnDrop", "error", err)
	}
}

// runID names an op's run, for logs.
func runID(op runtypes.Op) uuid.UUID {
	if op.Run == nil {
		return uuid.Nil
	}
	return op.Run.ID
}
