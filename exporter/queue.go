package exporter

import (
	"sync"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// queue holds what a Batcher has accepted, bounded in bytes. A patch joins its
// post while that waits, so that the two leave as one write.
type queue struct {
	mu      sync.Mutex
	entries []entry              // waiting, oldest first
	posts   map[uuid.UUID]uint64 // number of the waiting post of a run
	bytes   int64                // waiting and under way
	waiting int64                // bytes of entries
	ops     int                  // waiting and under way
	taken   uint64               // entries ever taken: the number of entries[0]
	settled uint64               // entries ever delivered or dropped
	marks   []*mark              // pending flushes, oldest first
	closed  bool

	maxBytes   int64         // held
	readyOps   int           // entries that make a request
	readyBytes int64         // bytes that make a request
	wake       chan struct{} // one token: look again
}

// entry is one op, or a post with the patches that joined it.
type entry struct {
	op      runtypes.Op
	patches []runtypes.Op
	bytes   int64
}

// mark is a flush that waits for the entries before it.
type mark struct {
	upTo uint64
	err  error // first failure on the way
	done chan struct{}
}

func newQueue(maxBytes int64, readyOps int, readyBytes int64) *queue {
	return &queue{
		posts: map[uuid.UUID]uint64{}, maxBytes: maxBytes,
		readyOps: readyOps, readyBytes: readyBytes, wake: make(chan struct{}, 1),
	}
}

// put adds an op, or says why not.
func (q *queue) put(op runtypes.Op) error {
	size := weight(op.Run)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrShutdown
	case q.bytes+size > q.maxBytes:
		return ErrQueueFull
	}
	wasReady := q.ready()
	q.bytes += size
	q.waiting += size
	q.ops++
	if n, ok := q.posts[op.Run.ID]; ok && op.Verb == runtypes.Patch {
		e := &q.entries[n-q.taken]
		e.patches = append(e.patches, op)
		e.bytes += size
	} else {
		if op.Verb == runtypes.Post {
			q.posts[op.Run.ID] = q.taken + uint64(len(q.entries))
		}
		q.entries = append(q.entries, entry{op: op, bytes: size})
	}
	if len(q.entries) == 1 || !wasReady && q.ready() {
		q.notify()
	}
	return nil
}

// ready reports whether a request is full, or somebody waits for what is there.
func (q *queue) ready() bool {
	return q.closed || len(q.entries) >= q.readyOps || q.waiting >= q.readyBytes || len(q.marks) > 0
}

// state says whether something waits, whether it should leave at once, and
// whether nothing will follow.
func (q *queue) state() (some, ready, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.entries) > 0, q.ready(), q.closed
}

// parcel is what take hands to the sender.
type parcel struct {
	ops     []runtypes.Op
	entries int
	bytes   int64
}

// take removes the oldest entries: a request's worth, and none from behind a
// flush, which must not wait for what came after it.
func (q *queue) take() parcel {
	q.mu.Lock()
	defer q.mu.Unlock()
	limit := min(len(q.entries), q.readyOps)
	if len(q.marks) > 0 {
		limit = min(limit, int(q.marks[0].upTo-q.taken))
	}
	var p parcel
	for _, e := range q.entries[:limit] {
		if p.entries > 0 && p.bytes+e.bytes > q.readyBytes {
			break
		}
		p.entries++
		p.bytes += e.bytes
		p.ops = append(append(p.ops, e.op), e.patches...)
		if e.op.Verb == runtypes.Post {
			q.forget(e.op.Run.ID, q.taken+uint64(p.entries-1))
		}
	}
	clear(q.entries[:p.entries]) // the runs must not outlive their delivery
	q.entries = q.entries[p.entries:]
	q.taken += uint64(p.entries)
	q.waiting -= p.bytes
	return p
}

// forget drops the note of a waiting post, unless a later one took its place.
func (q *queue) forget(id uuid.UUID, number uint64) {
	if q.posts[id] == number {
		delete(q.posts, id)
	}
}

// settle ends a parcel's stay: its bytes are free, and flushes behind it are done.
func (q *queue) settle(p parcel, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= p.bytes
	q.ops -= len(p.ops)
	q.settled += uint64(p.entries)
	pending := q.marks[:0]
	for _, m := range q.marks {
		if m.err == nil {
			m.err = err
		}
		if m.upTo <= q.settled {
			close(m.done)
			continue
		}
		pending = append(pending, m)
	}
	clear(q.marks[len(pending):])
	q.marks = pending
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
	m := &mark{upTo: q.taken + uint64(len(q.entries)), done: make(chan struct{})}
	if m.upTo == q.settled {
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

// held returns the ops and bytes that are queued or under way.
func (q *queue) held() (ops int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ops, q.bytes
}

// weight estimates what a run holds in memory and, roughly, on the wire.
func weight(r *runtypes.Run) int64 {
	n := runOverhead + len(r.Inputs) + len(r.Outputs) + len(r.Error) + len(r.DottedOrder)
	n += weightOf(r.Metadata) + weightOf(r.Model.InvocationParams)
	for _, e := range r.Events {
		n += valueOverhead + weightOf(e.Data)
	}
	return int64(n)
}

const (
	runOverhead   = 2 << 10 // the struct, the identity and what frames it on the wire
	valueOverhead = 64
)

// weightOf looks at a map's own values only: nested ones are rare and small.
func weightOf(m map[string]any) int {
	n := 0
	for key, value := range m {
		n += valueOverhead + len(key)
		switch v := value.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}
