package exporter

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// shutdownGrace is how long past its deadline a shutdown waits for the senders to
// come back from a redaction or an HTTP client that does not obey its context.
const shutdownGrace = 100 * time.Millisecond

// pipe is the way to one destination: a queue, and senders that empty it through
// a Client.
type pipe struct {
	client *Client
	queue  *queue
	spool  *reservoir // nil: what waits does so in memory alone

	ctx     context.Context // of the senders; ends when a shutdown's time is up
	cancel  context.CancelCauseFunc
	senders sync.WaitGroup
	slots   chan struct{} // one for each request that may be under way
	done    chan struct{} // closed when the last sender has ended
}

func newPipe(cfg Config) (*pipe, error) {
	client, err := NewClient(cfg)
	if err != nil {
		return nil, err
	}
	p := &pipe{
		client: client, queue: newQueue(client.cfg.QueueBytes),
		slots: make(chan struct{}, client.cfg.InFlight), done: make(chan struct{}),
	}
	if cfg.Spool != nil {
		p.spool = newReservoir(cfg.Spool, p)
	}
	p.queue.resize(client.server.limits(&client.cfg))
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	return p, nil
}

// start begins to send.
func (p *pipe) start() {
	p.client.Warm()
	go p.run()
}

// submit queues an op, or counts and reports that it was not taken.
func (p *pipe) submit(op runtypes.Op) error {
	if p.spool != nil && !p.queue.shut() {
		if kept, err := p.spool.put(op); kept || err != nil {
			return err
		}
	}
	err := p.queue.put(op)
	if err != nil {
		p.client.drop([]runtypes.Op{op}, &DropError{Reason: submitReason(err), Err: err})
	}
	return err
}

func (p *pipe) flush(ctx context.Context) error {
	if p.spool != nil {
		if err := p.spool.emptied(ctx); err != nil {
			return err
		}
	}
	m := p.queue.flush()
	select {
	case <-m.done:
		return m.err
	default:
	}
	select {
	case <-m.done:
		return m.err
	case <-ctx.Done():
		p.queue.unmark(m)
		return fmt.Errorf("exporter: flush: %w", context.Cause(ctx))
	}
}

// stop refuses further ops, delivers what is queued and ends the pipe, or gives up
// when ctx ends.
func (p *pipe) stop(ctx context.Context) error {
	m := p.queue.close()
	select {
	case <-p.done:
		return p.outcome(m)
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	p.cancel(cause)
	grace := time.NewTimer(shutdownGrace)
	defer grace.Stop()
	select {
	case <-p.done:
	case <-grace.C:
	}
	return fmt.Errorf("exporter: shutdown: %w", cause)
}

// outcome is the first failure after a shutdown began.
func (p *pipe) outcome(m *mark) error {
	if m.err != nil || p.spool == nil {
		return m.err
	}
	return p.spool.failure()
}

func (p *pipe) stats() Stats {
	s := p.client.Stats()
	s.Queued, s.QueuedBytes = p.queue.holds()
	return s
}

// run hands parcels to senders. It lives until the pipe is stopped and empty,
// whatever happens.
func (p *pipe) run() {
	defer close(p.done)
	defer p.client.Close()
	defer p.leave()
	for {
		p.slots <- struct{}{} // what is submitted meanwhile fills the request
		if !p.await() {
			return
		}
		p.client.await(p.ctx, p.client.cfg.Interval)
		p.queue.resize(p.client.server.limits(&p.client.cfg))
		parcel := p.queue.take()
		p.senders.Go(func() {
			defer func() { <-p.slots }()
			err := p.deliver(parcel.items)
			p.queue.settle(&parcel, p.back(parcel.items, err), err)
		})
	}
}

// await returns true when there is something to send, and false when there never
// will be.
func (p *pipe) await() bool {
	var interval, rest <-chan time.Time
	for {
		over := p.spool.fill()
		some, ready, last := p.queue.state()
		wait := p.spool.rest()
		switch {
		case last && over, p.spool.isOver():
			return false
		case wait > 0 && rest == nil:
			t := time.NewTimer(wait)
			defer t.Stop()
			rest = t.C
		case wait > 0:
		case some && ready:
			return true
		case some && interval == nil:
			t := time.NewTimer(p.client.cfg.Interval)
			defer t.Stop()
			interval = t.C
		}
		select {
		case <-p.queue.wake:
		case <-rest:
			rest = nil
		case <-interval:
			if p.spool.rest() == 0 {
				return true
			}
			interval = nil // it starts again after the rest
		}
	}
}

// leave waits for the senders and gives up what a shutdown that met a failure has
// left in the queue. The spool still has its part of that.
func (p *pipe) leave() {
	p.senders.Wait()
	left := p.queue.takeAll()
	err := p.spool.failure()
	p.drop(left.items, &DropError{Reason: ReasonUndelivered, Err: err})
	p.client.drop(p.spool.lost(), &DropError{Reason: ReasonUndelivered, Err: err})
	p.queue.settle(&left, nil, err)
}

// drop reports what is neither done nor in a spool.
func (p *pipe) drop(items []*item, why *DropError) {
	lost := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.spooled() })
	p.client.drop(undone(lost), why)
}

// deliver sends items, and drops what does not get through and is in no spool.
func (p *pipe) deliver(items []*item) error {
	reason, err := ReasonPanic, error(nil)
	if fault := guard(func() error {
		err = p.client.export(p.ctx, items)
		return nil
	}); fault != nil {
		err = fault
	} else if reason = ReasonUndelivered; p.ctx.Err() != nil {
		reason = ReasonShutdown
	}
	if err != nil {
		p.drop(items, &DropError{Reason: reason, Err: err})
	}
	return err
}

// back settles what came out of the spool and is done, and returns what is to be
// tried again.
func (p *pipe) back(items []*item, err error) []*item {
	if p.spool == nil {
		return nil
	}
	return p.spool.settle(items, err)
}
