package exporter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Batcher queues ops and sends them in the background. It is a runtypes.Sink and
// safe for concurrent use. Its owner calls Shutdown.
type Batcher struct {
	pipes []*pipe // one for each destination

	stopping atomic.Bool
	stopped  chan struct{} // closed when the first Shutdown has returned
	result   error         // of that
}

var _ runtypes.Sink = (*Batcher)(nil)

// New checks cfg and starts a Batcher.
func New(cfg Config) (*Batcher, error) {
	list, err := cfg.Split()
	if err != nil {
		return nil, err
	}
	b := &Batcher{stopped: make(chan struct{})}
	for _, each := range list {
		p, err := newPipe(each)
		if err != nil {
			return nil, err
		}
		b.pipes = append(b.pipes, p)
	}
	for _, p := range b.pipes {
		p.start()
	}
	return b, nil
}

// Submit queues an op and returns at once. Its run may be changed afterwards, but not
// what it refers to: the bytes of its inputs, or a value within its metadata. An op that is refused, with ErrQueueFull, ErrShutdown or a
// *runtypes.FieldError, is also counted and reported to OnDrop, since a Turn has
// nobody to hand the error to. Faults that take a look at the payload to find are
// reported there alone.
//
// Whoever makes runs faster than they can be sent, such as an import, calls Flush
// every few thousand.
func (b *Batcher) Submit(op runtypes.Op) error {
	fault := check(op)
	if fault == nil {
		op.Run = snapshot(op.Run)
	}
	var failures []error
	for _, p := range b.pipes {
		if fault != nil {
			p.client.drop([]runtypes.Op{op}, &DropError{Reason: ReasonInvalid, Err: fault})
		} else if p.client.keeps(op) {
			if err := p.submit(op); err != nil {
				failures = append(failures, err)
			}
		}
	}
	switch {
	case fault != nil:
		return fault
	case len(failures) == 1:
		return failures[0]
	}
	return errors.Join(failures...)
}

// snapshot copies a run and its maps, which must not be written while they are read.
func snapshot(r *runtypes.Run) *runtypes.Run {
	c := *r
	c.Metadata, c.Model.InvocationParams = maps.Clone(r.Metadata), maps.Clone(r.Model.InvocationParams)
	c.Tags = slices.Clone(r.Tags)
	return &c
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
func (b *Batcher) Flush(ctx context.Context) error {
	return b.all(func(p *pipe) error { return p.flush(ctx) })
}

// Shutdown refuses further ops, delivers what is queued and ends the Batcher. At
// ctx's end it gives up: what is left goes to OnDrop with ReasonShutdown, or stays
// in the spool. Only the first call does this; later ones wait for its result or
// their own ctx.
func (b *Batcher) Shutdown(ctx context.Context) error {
	if b.stopping.CompareAndSwap(false, true) {
		defer close(b.stopped)
		b.result = b.all(func(p *pipe) error { return p.stop(ctx) })
		return b.result
	}
	select {
	case <-b.stopped:
		return b.result
	case <-ctx.Done():
		return fmt.Errorf("exporter: shutdown: %w", context.Cause(ctx))
	}
}

// all does the same to every pipe at once.
func (b *Batcher) all(f func(*pipe) error) error {
	if len(b.pipes) == 1 {
		return f(b.pipes[0])
	}
	failures := make([]error, len(b.pipes))
	var wg sync.WaitGroup
	for i, p := range b.pipes {
		wg.Go(func() { failures[i] = f(p) })
	}
	wg.Wait()
	return errors.Join(failures...)
}

// Stats returns the counts so far, of all replicas together.
func (b *Batcher) Stats() Stats {
	sum := Stats{Dropped: map[Reason]int64{}}
	for _, p := range b.pipes {
		sum.add(p.stats())
	}
	return sum
}

// ReplicaStats returns the counts so far of each replica, in their order.
func (b *Batcher) ReplicaStats() []Stats {
	list := make([]Stats, len(b.pipes))
	for i, p := range b.pipes {
		list[i] = p.stats()
	}
	return list
}
