package exporter

import (
	"context"
	"fmt"
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
	err := p.queue.put(op)
	if err != nil {
		p.client.drop([]runtypes.Op{op}, &DropError{submitReason(err), err})
	}
	return err
}

func (p *pipe) flush(ctx context.Context) error {
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
		return m.err
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
	defer p.senders.Wait()
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
			p.queue.settle(&parcel, p.deliver(parcel.items))
		})
	}
}

// await returns true when there is something to send, and false when there never
// will be.
func (p *pipe) await() bool {
	var interval <-chan time.Time
	for {
		some, ready, over := p.queue.state()
		switch {
		case some && ready:
			return true
		case over:
			return false
		case some && interval == nil:
			t := time.NewTimer(p.client.cfg.Interval)
			defer t.Stop()
			interval = t.C
		}
		select {
		case <-p.queue.wake:
		case <-interval:
			return true
		}
	}
}

// deliver sends items, and drops what does not get through.
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
		p.client.drop(undone(items), &DropError{reason, err})
	}
	return err
}
