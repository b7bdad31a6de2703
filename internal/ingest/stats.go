package ingest

import (
	"maps"
	"sync"
)

// Stats is what a Handler has seen. Requests to /info count only as Info.
type Stats struct {
	Requests int            // ingest requests, hit by faults or not
	Info     int            // requests for /info
	Faults   int            // requests hit by a fault
	Posts    int            // posts stored
	Patches  int            // patches stored
	Known    int            // operations refused as already received
	Wire     int64          // bytes as sent
	Decoded  int64          // bytes after decompression
	MaxOps   int            // most operations in one request
	Statuses map[int]int    // answers, by status
	Routes   map[string]int // ingest requests, by route
	Dropped  map[string]int // what was accepted and not kept: attachment, feedback, serialized, …
}

// counters is Stats under a lock.
type counters struct {
	mu sync.Mutex
	s  Stats
}

func newCounters() *counters {
	return &counters{s: Stats{Statuses: map[int]int{}, Routes: map[string]int{}, Dropped: map[string]int{}}}
}

func (c *counters) update(f func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.s)
}

func (c *counters) snapshot() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.s
	s.Statuses, s.Routes, s.Dropped = maps.Clone(s.Statuses), maps.Clone(s.Routes), maps.Clone(s.Dropped)
	return s
}
