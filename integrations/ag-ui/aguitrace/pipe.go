package aguitrace

import (
	"errors"
	"io"
	"sync"
	"time"
)

// errFull says that the reader of a pipe fell behind.
var errFull = errors.New("aguitrace: the queue is full")

// pipe is a queue of bytes with a bound. Writing never waits: what does not fit closes
// the pipe. It is safe for concurrent use by one reader and any number of writers.
type pipe struct {
	limit int
	now   func() time.Time

	mu     sync.Mutex
	ready  sync.Cond
	chunks []chunk
	size   int
	end    error // why there will be no more; nil: there may be

	at time.Time // when what was read last had been written; the reader's
}

// chunk is one write.
type chunk struct {
	data []byte
	at   time.Time
}

func newPipe(limit int, now func() time.Time) *pipe {
	p := &pipe{limit: limit, now: now}
	p.ready.L = &p.mu
	return p
}

// Write takes a copy of data.
func (p *pipe) Write(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil || len(data) == 0 {
		return
	}
	if p.size+len(data) > p.limit {
		p.end = errFull
	} else {
		p.size += len(data)
		p.chunks = append(p.chunks, chunk{append([]byte(nil), data...), p.now()})
	}
	p.ready.Signal()
}

// Close says that there is no more, and why: io.EOF, or what cut the stream off. Only
// the first reason counts.
func (p *pipe) Close(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end == nil {
		p.end = why
	}
	p.ready.Signal()
}

// Read waits for bytes. After the last of them it returns io.EOF, whatever the reason:
// see why.
func (p *pipe) Read(to []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.chunks) == 0 {
		if p.end != nil {
			return 0, io.EOF
		}
		p.ready.Wait()
	}
	first := &p.chunks[0]
	p.at = first.at
	n := copy(to, first.data)
	p.size -= n
	if first.data = first.data[n:]; len(first.data) == 0 {
		*first = chunk{}
		p.chunks = p.chunks[1:]
	}
	return n, nil
}

// why is the reason that the pipe was closed for.
func (p *pipe) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}
