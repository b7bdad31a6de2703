package exporter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Batcher queues ops and sends them in the background. It is a runtypes.Sink and
// safe for concurrent use. Its owner calls Shutdown.
type Batcher struct {
	pipe *pipe

	stopping atomic.Bool
	stopped  chan struct{} // closed when the first Shutdown has returned
	result   error         // of that
}

var _ runtypes.Sink = (*Batcher)(nil)

// New checks cfg and starts a Batcher.
func New(cfg Config) (*Batcher, error) {
	p, err := newPipe(cfg)
	if err != nil {
		return nil, err
	}
	p.start()
	return &Batcher{pipe: p, stopped: make(chan struct{})}, nil
}

// Submit queues an op and returns at once. The run belongs to the Batcher from
// then on. An op that is refused, with ErrQueueFull, ErrShutdown or a
// *runtypes.FieldError, is also counted and reported to OnDrop, since a Turn has
// nobody to hand the error to.
func (b *Batcher) Submit(op runtypes.Op) error {
	if err := check(op); err != nil {
		b.pipe.client.drop([]runtypes.Op{op}, &DropError{ReasonInvalid, err})
		return err
	}
	return b.pipe.submit(op)
}

func submitReason(err error) Reason {
	if errors.Is(err, ErrShutdown) {
		return ReasonShutdown
	}
	return ReasonQueueFull
}

// Flush waits until everything that was queued when it was called is delivered
// or dropped, or ctx ends. It returns the first failure that kept a request from
// being delivered meanwhile; single runs that the server refused are no failure
// and are found in Stats.
func (b *Batcher) Flush(ctx context.Context) error { return b.pipe.flush(ctx) }

// Shutdown refuses further ops, delivers what is queued and ends the Batcher. At
// ctx's end it gives up: what is left goes to OnDrop with ReasonShutdown. Only
// the first call does this; later ones wait for its result or their own ctx.
func (b *Batcher) Shutdown(ctx context.Context) error {
	if b.stopping.CompareAndSwap(false, true) {
		defer close(b.stopped)
		b.result = b.pipe.stop(ctx)
		return b.result
	}
	select {
	case <-b.stopped:
		return b.result
	case <-ctx.Done():
		return fmt.Errorf("exporter: shutdown: %w", context.Cause(ctx))
	}
}

// Stats returns the counts so far.
func (b *Batcher) Stats() Stats { return b.pipe.stats() }
