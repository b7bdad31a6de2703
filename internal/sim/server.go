package main

import "time"

// LangSmith's limits of requests: see the package's doc.
const (
	requestWindow = 10 * time.Second
	requestLimit  = 6000
)

// plan is what a plan allows in an hour.
type plan struct {
	events int
	bytes  int64
}

// largest is the largest plan that LangSmith documents.
var largest = plan{events: 500_000, bytes: 5 << 30}

// answer is what a request is told.
type answer int

const (
	accepted answer = iota
	limited         // 429
	down            // 503, or no connection
)

// server takes requests within limits.
type server struct {
	plan      plan
	scale     float64 // of the limit of requests: small fleets meet a small one
	downFrom  time.Duration
	downUntil time.Duration

	window   time.Duration // the ten seconds under way
	requests int           // in them
	hour     time.Duration // the hour under way
	events   int           // in it
	bytes    int64

	answers [down + 1]int
	busiest int // most requests of a window, those refused included
}

func (s *server) take(now time.Duration, events int, bytes int64) (got answer) {
	defer func() { s.answers[got]++ }()
	if w := now.Truncate(requestWindow); w != s.window {
		s.window, s.requests = w, 0
	}
	if h := now.Truncate(time.Hour); h != s.hour {
		s.hour, s.events, s.bytes = h, 0, 0
	}
	s.requests++
	s.busiest = max(s.busiest, s.requests)
	switch {
	case now >= s.downFrom && now < s.downUntil:
		return down
	case float64(s.requests) > s.scale*requestLimit:
		return limited
	case s.events+events > s.plan.events || s.bytes+bytes > s.plan.bytes:
		return limited
	}
	s.events += events
	s.bytes += bytes
	return accepted
}
