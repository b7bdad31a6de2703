package exporter

import (
	"math"
	"sync"

	"github.com/tracesmith/tracesmith/runtypes"
)

// queue holds what a Batcher has accepted, bounded in bytes. A patch joins its
// post while that waits, so that the two leave as one write.
type queue struct {
	mu     sync.Mutex
	lanes  lanes
	bytes  int64   // waiting and under way
	huge   int     // items that count for less than they weigh: one at most
	ops    int     // waiting and under way
	next   uint64  // number of the next item
	open   int     // items waiting and under way
	marks  []*mark // pending flushes, oldest first
	closed bool

	maxBytes   int64         // held
	readyItems int           // items that make a request; see resize
	readyBytes int64         // bytes that make a request
	wake       chan struct{} // one token: look again
}

// mark is a flush that waits for the items before it.
type mark struct {
	upTo uint64 // number of the first item that came after it
	open int    // items before it that are not settled
	err  error  // first failure on the way
	done chan struct{}
}

// note takes account of a settled parcel.
func (m *mark) note(p *parcel, err error) {
	before := m.open
	for _, it := range p.items {
		if it.number < m.upTo {
			m.open--
		}
	}
	if m.open < before && m.err == nil {
		m.err = err
	}
}

func newQueue(maxBytes int64) *queue {
	return &queue{lanes: newLanes(), maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// resize sets what makes a request.
func (q *queue) resize(items, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.readyItems, q.readyBytes = items, int64(bytes)
}

// put adds an op, or says why not. A run of more than half the queue counts as
// half, and there may be one at a time: it will be shortened, though not here, and
// the runs beside it must not be lost for it.
func (q *queue) put(op runtypes.Op) error {
	it := newItem(op)
	it.weight = weight(op.Run)
	q.mu.Lock()
	defer q.mu.Unlock()
	if half := q.maxBytes / 2; it.weight > half {
		it.weight, it.huge = half, 1
	}
	switch {
	case q.closed:
		return ErrShutdown
	case q.huge+it.huge > 1, q.bytes > 0 && q.bytes+it.weight > q.maxBytes:
		return ErrQueueFull
	}
	q.huge += it.huge
	q.add(it)
	return nil
}

// putSpooled adds an item that came out of a spool, whether there is room or not:
// its taker has looked.
func (q *queue) putSpooled(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(it)
}

func (q *queue) add(it *item) {
	wasEmpty, wasReady := q.lanes.items == 0, q.ready()
	q.bytes += it.weight
	q.ops += len(it.ops)
	it.number = q.next
	if q.lanes.add(it) {
		q.next++
		q.open++
	}
	if wasEmpty && q.lanes.items > 0 || !wasReady && q.ready() {
		q.notify()
	}
}

// room is how many bytes more the queue may hold.
func (q *queue) room() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.maxBytes - q.bytes
}

// ready reports whether a request is full, or somebody waits for what is there.
func (q *queue) ready() bool {
	return q.closed || q.lanes.items >= q.readyItems || q.lanes.weight >= q.readyBytes || len(q.marks) > 0
}

// state says whether something may leave, whether it should do so at once, and
// whether nothing will follow.
func (q *queue) state() (some, ready, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lanes.items > 0, q.ready(), q.closed && q.lanes.held == 0
}

// take removes a request's worth of the oldest items. What a flush waits for goes
// alone, so that it need not wait for what came after it.
func (q *queue) take() parcel {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.marks) > 0 {
		if p := q.lanes.take(q.readyItems, q.readyBytes, q.marks[0].upTo); len(p.items) > 0 {
			return p
		}
	}
	return q.lanes.take(q.readyItems, q.readyBytes, math.MaxUint64)
}

// takeAll removes everything that waits.
func (q *queue) takeAll() parcel {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lanes.take(math.MaxInt, math.MaxInt64, math.MaxUint64)
}

// settle ends a parcel's stay: its bytes are free, and flushes behind it are done.
// What is to be tried again is put back, as if it had just come.
func (q *queue) settle(p *parcel, back []*item, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= p.weight
	q.ops -= p.ops
	q.open -= len(p.items)
	for _, it := range p.items {
		q.huge -= it.huge
	}
	q.lanes.release(p)
	pending := q.marks[:0]
	for _, m := range q.marks {
		if m.note(p, err); m.open == 0 {
			close(m.done)
			continue
		}
		pending = append(pending, m)
	}
	clear(q.marks[len(pending):])
	q.marks = pending
	for _, it := range back {
		q.bytes += it.weight
		q.ops += len(it.ops)
		q.open++
		it.number = q.next
		q.next++
	}
	q.lanes.restore(back)
	q.notify()
}

// shut reports whether the queue was closed.
func (q *queue) shut() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// flush marks what is there now. The mark's done is closed once all of it is
// settled.
func (q *queue) flush() *mark {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mark()
}

// close refuses what comes from now on, and marks what is there.
func (q *queue) close() *mark {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	defer q.notify()
	return q.mark()
}

func (q *queue) mark() *mark {
	m := &mark{upTo: q.next, open: q.open, done: make(chan struct{})}
	if m.open == 0 {
		close(m.done)
		return m
	}
	q.marks = append(q.marks, m)
	q.notify()
	return m
}

// unmark takes back a flush that nobody waits for any more.
func (q *queue) unmark(m *mark) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, each := range q.marks {
		if each == m {
			q.marks = append(q.marks[:i], q.marks[i+1:]...)
			return
		}
	}
}

func (q *queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// holds returns the ops and bytes that are queued or under way.
func (q *queue) holds() (ops int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ops, q.bytes
}
