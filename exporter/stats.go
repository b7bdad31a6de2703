package exporter

import (
	"maps"
	"sync"
	"time"
)

// quietTime is how long a reason for drops that was warned of is not warned of
// again: a full queue drops thousands of ops a second.
const quietTime = time.Minute

// Stats counts what an exporter has done. Ops are those handed in, before a post
// and its patch were merged.
type Stats struct {
	Queued      int   // ops a Batcher holds, queued and under way
	QueuedBytes int64 // their size, estimated

	Delivered int64            // ops
	Sampled   int64            // ops left out since their traces are not kept
	Dropped   map[Reason]int64 // ops, by reason; never nil
	Shortened int64            // runs cut down to what the server takes
	Detached  int64            // attachments left out: of runs cut down, or of an endpoint that takes none
	Unspooled int64            // ops that Config.Spool did not take, and memory did
	Requests  int64            // attempts included
	Retried   int64            // attempts after the first of a request
	Bytes     int64            // of bodies, before compression
	WireBytes int64            // of bodies, as sent
	LastError string           // newest failure, without content; empty: none
}

// add sums the stats of several destinations.
func (s *Stats) add(o Stats) {
	s.Queued += o.Queued
	s.QueuedBytes += o.QueuedBytes
	s.Delivered += o.Delivered
	s.Sampled += o.Sampled
	for why, n := range o.Dropped {
		s.Dropped[why] += n
	}
	s.Shortened += o.Shortened
	s.Detached += o.Detached
	s.Unspooled += o.Unspooled
	s.Requests += o.Requests
	s.Retried += o.Retried
	s.Bytes += o.Bytes
	s.WireBytes += o.WireBytes
	if o.LastError != "" {
		s.LastError = o.LastError
	}
}

// counters is a Stats that many goroutines write.
type counters struct {
	mu     sync.Mutex
	s      Stats
	warned map[Reason]time.Time

	unspooledAt time.Time // last warned of
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

// undelivered takes back what delivered counted.
func (c *counters) undelivered(ops int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Delivered -= int64(ops)
}

// dropped returns the drops for that reason so far, and whether it is time to
// warn of them.
func (c *counters) dropped(ops int, why *DropError, now time.Time) (total int64, warn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.s.Dropped == nil {
		c.s.Dropped, c.warned = map[Reason]int64{}, map[Reason]time.Time{}
	}
	c.s.Dropped[why.Reason] += int64(ops)
	c.s.LastError = why.Error()
	last, before := c.warned[why.Reason]
	if warn = !before || now.Sub(last) >= quietTime; warn {
		c.warned[why.Reason] = now
	}
	return c.s.Dropped[why.Reason], warn
}

func (c *counters) shortened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Shortened++
}

func (c *counters) detached(files int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Detached += int64(files)
}

func (c *counters) leftOut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Sampled++
}

// unspooled reports whether it is time to warn of that.
func (c *counters) unspooled(err error, now time.Time) (warn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Unspooled++
	c.s.LastError = err.Error()
	if warn = c.s.Unspooled == 1 || now.Sub(c.unspooledAt) >= quietTime; warn {
		c.unspooledAt = now
	}
	return warn
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
