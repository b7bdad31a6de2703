package exporter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

const (
	refill      = 256 << 10 // bytes taken out of a spool at a time; in memory small entries weigh several times that
	shortRest   = 5 * time.Second
	refusedRest = time.Minute
)

// reservoir is a pipe's side of a Spool. Ops go into the spool before Submit
// returns and come out of it as the queue has room, so that memory holds no more
// than ever. What does not get through returns to the queue; what is in the spool
// when the process ends is for the next.
//
// A nil reservoir is that of a pipe without a spool.
type reservoir struct {
	spool Spool
	pipe  *pipe
	late  stranded

	mu     sync.Mutex
	pace   pace     // after a failure
	waits  []*sweep // flushes that want the spool taken in
	failed error    // newest failure
	over   bool     // shut down, and tried again in vain
}

// sweep waits until all that the spool held is in the queue.
type sweep struct {
	done chan struct{}
	err  error
}

func newReservoir(s Spool, p *pipe) *reservoir { return &reservoir{spool: s, pipe: p} }

// put redacts, serialises and spools an op. It reports whether the op is kept, or
// dropped with an error; if neither, the queue may have it.
func (r *reservoir) put(op runtypes.Op) (kept bool, err error) {
	c := r.pipe.client
	it := newItem(op)
	if why := it.prepare(c); why != nil {
		c.dropItem(it, why)
		return false, why
	}
	if _, maxBytes := c.server.limits(&c.cfg); it.wire.size() > maxBytes {
		c.shorten(it, maxBytes) // a spool has its limits too
	}
	r.late.expect(op)
	err = r.spool.Put(appendEntry(nil, &it.wire, op.Run.TraceID))
	if err == nil && op.Verb == runtypes.Patch || err != nil && op.Verb == runtypes.Post {
		r.late.forget(op.Run.ID)
	}
	if err != nil {
		if c.stats.unspooled(err, c.now()) {
			c.cfg.Logger.Warn("runs are kept in memory alone", "error", err)
		}
		kept, full := r.late.keep(op, c.cfg.QueueBytes)
		if full {
			c.drop([]runtypes.Op{op}, &DropError{Reason: ReasonQueueFull, Err: ErrQueueFull})
			return false, ErrQueueFull
		}
		return kept, nil
	}
	r.pipe.queue.notify()
	return true, nil
}

// fill moves entries to the queue while it has room. It returns true when nothing
// more will come.
func (r *reservoir) fill() (over bool) {
	if r == nil || r.isOver() {
		return true
	}
	for {
		room := min(r.pipe.queue.room(), refill)
		if room <= 0 {
			return false
		}
		tickets, entries, err := r.spool.Take(room)
		for i, entry := range entries {
			r.take(tickets[i], entry)
		}
		if err != nil {
			r.fail(err)
			return true
		}
		if len(entries) == 0 {
			r.sweep(nil)
			return true
		}
	}
}

// take queues an entry; one that cannot be read is dropped.
func (r *reservoir) take(ticket uint64, entry []byte) {
	it, err := readEntry(entry, ticket)
	if err != nil {
		r.pipe.client.drop([]runtypes.Op{{Run: new(runtypes.Run)}}, &DropError{Reason: ReasonInvalid, Err: err})
		r.done([]uint64{ticket})
		return
	}
	id, post := it.id(), it.verb == runtypes.Post
	r.pipe.queue.putSpooled(it)
	if !post {
		return
	}
	if patch := r.late.release(id); patch != nil {
		r.pipe.queue.putSpooled(r.inMemory(*patch))
	}
}

// inMemory is an item of an op that is in no spool.
func (r *reservoir) inMemory(op runtypes.Op) *item {
	it := newItem(op)
	it.weight = weight(op.Run)
	return it
}

// lost are the ops that a shutdown leaves neither in the queue nor in the spool.
func (r *reservoir) lost() []runtypes.Op {
	if r == nil {
		return nil
	}
	return r.late.all()
}

// settle tells the spool what is done and returns what is to be tried again.
func (r *reservoir) settle(items []*item, err error) (back []*item) {
	var tickets []uint64
	for _, it := range items {
		tickets = append(tickets, it.gone...)
		it.gone = nil
		if it.done {
			tickets = append(tickets, it.tickets...)
		} else if len(it.tickets) > 0 {
			back = append(back, it)
		}
	}
	r.done(tickets)
	if err == nil {
		return nil
	}
	r.fail(err)
	if r.isOver() {
		return nil // the next process finds them
	}
	return back
}

func (r *reservoir) done(tickets []uint64) {
	if len(tickets) == 0 {
		return
	}
	if err := r.spool.Done(tickets); err != nil {
		r.pipe.client.cfg.Logger.Warn("spool", "error", err)
	}
}

// fail has the pipe rest, or end if it is being shut down.
func (r *reservoir) fail(err error) {
	rest := shortRest
	var later *TemporaryError
	var refused *StatusError
	switch {
	case errors.As(err, &later):
		rest = max(rest, later.RetryAfter)
	case errors.As(err, &refused):
		rest = refusedRest
	}
	c := r.pipe.client
	c.cfg.Logger.Warn("delivery rests", "for", rest, "error", err)
	r.pace.slow(c.now().Add(rest))
	shut := r.pipe.queue.shut()
	r.mu.Lock()
	r.failed = err
	r.over = r.over || shut
	r.mu.Unlock()
	r.sweep(err)
}

// rest is how long the pipe is to leave its destination alone. A shutdown does not
// wait for that.
func (r *reservoir) rest() time.Duration {
	if r == nil || r.pipe.queue.shut() {
		return 0
	}
	return r.pace.left(r.pipe.client.now())
}

// isOver reports whether a shutdown has met a failure.
func (r *reservoir) isOver() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// failure is what a shutdown has met.
func (r *reservoir) failure() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		return nil
	}
	return r.failed
}

// emptied waits until the spool is taken in, or delivery fails.
func (r *reservoir) emptied(ctx context.Context) error {
	s := &sweep{done: make(chan struct{})}
	r.mu.Lock()
	r.waits = append(r.waits, s)
	r.mu.Unlock()
	r.pipe.queue.notify()
	select {
	case <-s.done:
		return s.err
	case <-r.pipe.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("exporter: flush: %w", context.Cause(ctx))
	}
}

// sweep ends the waits.
func (r *reservoir) sweep(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.waits {
		s.err = err
		close(s.done)
	}
	r.waits = nil
}
