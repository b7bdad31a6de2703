package exporter

import (
	"maps"
	"sync"
)

// Stats counts what an exporter has done. Ops are those handed in, before a post
// and its patch were merged.
type Stats struct {
	Queued      int   // ops a Batcher holds, queued and under way
	QueuedBytes int64 // their size, estimated

	Delivered int64            // ops
	Dropped   map[Reason]int64 // ops, by reason; never nil
	Shortened int64            // runs cut down to what the server takes
	Requests  int64            // attempts included
	Retried   int64            // attempts after the first of a request
	Bytes     int64            // of bodies, before compression
	WireBytes int64            // of bodies, as sent
	LastError string           // newest failure, without content; empty: none
}

// counters is a Stats that many goroutines write.
type counters struct {
	mu sync.Mutex
	s  Stats
}

func (c *counters) snapshot() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.s
	s.Dropped = maps.Clone(s.Dropped)
	if s.Dropped == nil {
		s.Dropped = map[Reason]int64{}
	}
	return s
}

func (c *counters) delivered(ops int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Delivered += int64(ops)
}

func (c *counters) dropped(ops int, why *DropError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.s.Dropped == nil {
		c.s.Dropped = map[Reason]int64{}
	}
	c.s.Dropped[why.Reason] += int64(ops)
	c.s.LastError = why.Error()
}

func (c *counters) shortened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Shortened++
}

func (c *counters) requested(req *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Requests++
	c.s.Bytes += int64(req.plain)
	c.s.WireBytes += int64(len(req.body))
}

func (c *counters) retried(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Retried++
	c.s.LastError = err.Error()
}

func (c *counters) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.LastError = err.Error()
}
