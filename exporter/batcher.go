package exporter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// shutdownGrace is how long past its deadline Shutdown waits for the sender to
// come back from a redaction or an HTTP client that does not obey its context.
const shutdownGrace = 100 * time.Millisecond

// Batcher queues ops and sends them in the background. It is a runtypes.Sink and
// safe for concurrent use. Its owner calls Shutdown.
type Batcher struct {
	client *Client
	queue  *queue

	ctx    context.Context // of the sender; ends when Shutdown's time is up
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the sender has ended

	stopping atomic.Bool
	stopped  chan struct{} // closed when the first Shutdown has returned
	result   error         // of that
}

var _ runtypes.Sink = (*Batcher)(nil)

// New checks cfg and starts a Batcher.
func New(cfg Config) (*Batcher, error) {
	client, err := NewClient(cfg)
	if err != nil {
		return nil, err
	}
	ops, bytes := client.server.limits(&client.cfg)
	b := &Batcher{
		client: client,
		queue:  newQueue(client.cfg.QueueBytes, ops, int64(bytes)),
		done:   make(chan struct{}), stopped: make(chan struct{}),
	}
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	client.Warm()
	go b.run()
	return b, nil
}

// Submit queues an op and returns at once. The run belongs to the Batcher from
// then on. An op that is refused, with ErrQueueFull, ErrShutdown or a
// *runtypes.FieldError, is also counted and reported to OnDrop, since a Turn has
// nobody to hand the error to.
func (b *Batcher) Submit(op runtypes.Op) error {
	err := b.submit(op)
	if err != nil {
		b.client.drop([]runtypes.Op{op}, &DropError{submitReason(err), err})
	}
	return err
}

func (b *Batcher) submit(op runtypes.Op) error {
	if op.Run == nil {
		return &runtypes.FieldError{Field: "run", Err: errors.New("missing")}
	}
	return b.queue.put(op)
}

func submitReason(err error) Reason {
	switch {
	case errors.Is(err, ErrQueueFull):
		return ReasonQueueFull
	case errors.Is(err, ErrShutdown):
		return ReasonShutdown
	default:
		return ReasonInvalid
	}
}

// Flush waits until everything that was queued when it was called is delivered
// or dropped, or ctx ends. It returns the first failure that kept a request from
// being delivered meanwhile; single runs that the server refused are no failure
// and are found in Stats.
func (b *Batcher) Flush(ctx context.Context) error {
	m := b.queue.flush()
	select {
	case <-m.done:
		return m.err
	default:
	}
	select {
	case <-m.done:
		return m.err
	case <-ctx.Done():
		b.queue.unmark(m)
		return fmt.Errorf("exporter: flush: %w", context.Cause(ctx))
	}
}

// Shutdown refuses further ops, delivers what is queued and ends the Batcher. At
// ctx's end it gives up: what is left goes to OnDrop with ReasonShutdown. Only
// the first call does this; later ones wait for its result or their own ctx.
func (b *Batcher) Shutdown(ctx context.Context) error {
	if b.stopping.CompareAndSwap(false, true) {
		defer close(b.stopped)
		b.result = b.stop(ctx)
		return b.result
	}
	select {
	case <-b.stopped:
		return b.result
	case <-ctx.Done():
		return fmt.Errorf("exporter: shutdown: %w", context.Cause(ctx))
	}
}

func (b *Batcher) stop(ctx context.Context) error {
	m := b.queue.close()
	select {
	case <-b.done:
		return m.err
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	b.cancel(cause)
	grace := time.NewTimer(shutdownGrace)
	defer grace.Stop()
	select {
	case <-b.done:
	case <-grace.C:
	}
	return fmt.Errorf("exporter: shutdown: %w", cause)
}

// Stats returns the counts so far.
func (b *Batcher) Stats() Stats {
	s := b.client.Stats()
	s.Queued, s.QueuedBytes = b.queue.held()
	return s
}

// run is the sender: it lives until Shutdown, whatever happens.
func (b *Batcher) run() {
	defer close(b.done)
	defer b.client.Close()
	for b.await() {
		p := b.queue.take()
		b.queue.settle(p, b.deliver(p.ops))
	}
}

// await returns true when there is something to send, and false when there never
// will be.
func (b *Batcher) await() bool {
	var interval <-chan time.Time
	for {
		some, ready, closed := b.queue.state()
		switch {
		case some && ready:
			return true
		case !some && closed:
			return false
		case some && interval == nil:
			t := time.NewTimer(b.client.cfg.Interval)
			defer t.Stop()
			interval = t.C
		}
		select {
		case <-b.queue.wake:
		case <-interval:
			return true
		}
	}
}

// deliver sends ops, and drops what does not get through.
func (b *Batcher) deliver(ops []runtypes.Op) error {
	rest, err := ops, error(nil)
	reason := ReasonPanic
	if fault := guard(func() error {
		rest, err = b.client.Export(b.ctx, ops)
		return nil
	}); fault != nil {
		err = fault
	} else if reason = ReasonUndelivered; b.ctx.Err() != nil {
		reason = ReasonShutdown
	}
	if len(rest) > 0 {
		b.client.drop(rest, &DropError{reason, err})
	}
	return err
}
