package main

import (
	"time"

	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/patience"
)

// What the program does: see internal/drain and internal/cli.
const (
	maxOps      = 100         // of a request
	exportOps   = 200         // of an export
	exportLimit = time.Minute // how long one is tried
)

// step is what a hook recorded: a part of a turn.
type step struct {
	made   time.Duration
	events int
	bytes  int64
	ends   bool // the turn with it
}

// machine is one developer's: what waits in its journal, and its drainer.
type machine struct {
	fleet *fleet
	rate  float64 // turns an hour
	wild  bool    // it is not counted among those that the table is about

	waiting   []step
	busy      bool          // a drainer has a request under way or pauses between two
	notBefore time.Duration // shared by its processes
	failures  int
	metLimit  time.Duration // when it last did

	left     int // ops until the export under way is over
	deadline time.Duration
	tries    *patience.Tries

	made, late int // turns ended, and those that took longer than lateness
}

// wake is a hook's call: a drainer starts, or one that lingers looks again.
func (m *machine) wake() {
	if m.busy || len(m.waiting) == 0 || m.fleet.clock.now < m.notBefore {
		return
	}
	m.busy, m.left = true, 0
	m.next()
}

// next begins a request with what waits, oldest first.
func (m *machine) next() {
	if m.left <= 0 {
		m.left, m.deadline = exportOps, m.fleet.clock.now+exportLimit
	}
	m.tries = patience.NewTries(m.fleet.dice)
	m.send()
}

// parcel is what fits into a request: how many steps, and what they hold.
func (m *machine) parcel() (n, events int, bytes int64) {
	for n < len(m.waiting) && (n == 0 || events+m.waiting[n].events <= maxOps) {
		events += m.waiting[n].events
		bytes += m.waiting[n].bytes
		n++
	}
	return n, events, bytes
}

func (m *machine) send() {
	n, events, bytes := m.parcel()
	f := m.fleet
	f.clock.at(f.clock.now+f.latency(), func() {
		if got := f.server.take(f.clock.now, events, bytes); got == accepted {
			m.left -= events
			m.arrived(n)
		} else {
			m.refused(got == limited)
		}
	})
}

func (m *machine) arrived(n int) {
	f := m.fleet
	for _, s := range m.waiting[:n] {
		f.backlog -= s.events
		if s.ends {
			f.delivered(m, f.clock.now-s.made)
		}
	}
	m.waiting = m.waiting[n:]
	over := m.left <= 0 || len(m.waiting) == 0 // the export
	if over {
		m.failures, m.notBefore = 0, m.slowly()
	}
	if len(m.waiting) > 0 && f.clock.now >= m.notBefore {
		m.next()
		return
	}
	m.busy = false
}

// slowly is until when a machine that has met a limit leaves the server alone.
func (m *machine) slowly() time.Duration {
	now := m.fleet.clock.now
	if m.metLimit == 0 {
		return now
	}
	return now + patience.Slowly(now-m.metLimit, m.fleet.dice)
}

func (m *machine) refused(limited bool) {
	f := m.fleet
	pause := m.tries.Pause(limited, 0)
	if f.clock.now+pause <= m.deadline {
		f.clock.at(f.clock.now+pause, m.send)
		return
	}
	m.failures++
	if limited {
		m.metLimit = f.clock.now
	}
	m.notBefore = f.clock.now + patience.Rest(m.failures, limited, journal.LongestRest, 0, f.dice)
	m.busy = false
}
