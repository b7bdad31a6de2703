package main

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// misbehaviour is what a server does instead of taking a request. The zero value
// does nothing of the kind.
type misbehaviour interface {
	// meet decides about the n-th request before it is read.
	meet(n int, since time.Duration, r *http.Request) reaction
	// judge decides about one that was read, by a status other than 0. The server's
	// lock is held.
	judge(s *server, writes []write) int
}

// reaction is what a request meets with. The zero value takes it.
type reaction struct {
	status     int
	retryAfter int  // seconds; 0: no header
	cut        bool // the connection ends in the middle of the body
	hang       bool // there is no answer
	deaf       bool // the writes are taken, and the connection ends before the answer
}

// refusal is an answer's status.
type refusal int

func (r refusal) Error() string { return "status " + strconv.Itoa(int(r)) }

// misbehave reports whether that was all.
func (s *server) misbehave(bad misbehaviour, w http.ResponseWriter, r *http.Request, n int) bool {
	do := bad.meet(n, time.Since(s.began), r)
	switch {
	case do.cut:
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		panic(http.ErrAbortHandler)
	case do.hang:
		_, _ = io.Copy(io.Discard, r.Body) // only then is the end of the connection noticed
		<-r.Context().Done()
		return true
	case do.deaf:
		if raw, err := io.ReadAll(r.Body); err == nil {
			_ = s.take(r, raw) // whatever it is: nobody is told
		}
		panic(http.ErrAbortHandler)
	case do.status != 0:
		_, _ = io.Copy(io.Discard, r.Body)
		if do.retryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(do.retryAfter))
		}
		w.WriteHeader(do.status)
		_, _ = io.WriteString(w, `{"error":"scripted"}`)
		return true
	}
	return false
}

// trial is a fault and how the work is done under it.
type trial struct {
	name  string
	bad   func() misbehaviour
	turns int
	rate  int           // runs a second; 0: as fast as it goes
	kill  os.Signal     // sent to the client
	after time.Duration // that long after its first run
	limit time.Duration // then it is killed; 0: three minutes
}

// trials are the faults of the table.
func trials() []trial {
	every := func(n int, do reaction) func() misbehaviour {
		return func() misbehaviour { return meets(func(i int, _ time.Duration) reaction { return when(i%n == 0, do) }) }
	}
	limited := func(retryAfter int) func() misbehaviour {
		return func() misbehaviour { return &rateLimit{most: 10, window: 2 * time.Second, retryAfter: retryAfter} }
	}
	outage := func(_ int, at time.Duration) reaction {
		return when(at > 3*time.Second && at < 33*time.Second, reaction{status: http.StatusServiceUnavailable})
	}
	strict := func() misbehaviour { return known{meets(func(int, time.Duration) reaction { return reaction{} })} }
	return []trial{
		{name: "5 % answered 500", turns: 500, bad: every(20, reaction{status: http.StatusInternalServerError})},
		{name: "429, Retry-After 2", turns: 300, bad: limited(2)},
		{name: "429 without", turns: 300, bad: limited(0)},
		{name: "30 s of 503", turns: 600, rate: 150, bad: func() misbehaviour { return meets(outage) }},
		{name: "20 % reset in the body", turns: 500, bad: every(5, reaction{cut: true})},
		{name: "413 above 64 KiB", turns: 300, bad: func() misbehaviour { return tooLarge(64 << 10) }},
		{name: "422 for one run of 1,000", turns: 100, bad: func() misbehaviour { return &poison{nth: 500} }},
		{name: "409 for all, 20 % of the answers lost", turns: 500, bad: func() misbehaviour {
			return known{meets(func(i int, _ time.Duration) reaction { return when(i%5 == 0, reaction{deaf: true}) })}
		}},
		{name: "SIGTERM", turns: 1000, rate: 500, kill: syscall.SIGTERM, after: 3 * time.Second, bad: strict},
		{name: "SIGKILL", turns: 1000, rate: 500, kill: os.Kill, after: 3 * time.Second, bad: strict},
		{name: "hung server at the end", turns: 100, limit: 100 * time.Second, bad: every(1, reaction{hang: true})},
	}
}

func when(so bool, do reaction) reaction {
	if so {
		return do
	}
	return reaction{}
}

// meets is a misbehaviour that goes by a request's number and time.
type meets func(n int, at time.Duration) reaction

func (f meets) meet(n int, at time.Duration, _ *http.Request) reaction { return f(n, at) }
func (meets) judge(*server, []write) int                               { return 0 }

// known refuses a request as soon as one of its writes was taken before.
type known struct{ meets }

func (known) judge(s *server, writes []write) int {
	for _, w := range writes {
		if run := s.runs[w.id]; run != nil && (w.verb == "post" && run.posts > 0 || w.verb == "patch" && run.patches > 0) {
			return http.StatusConflict
		}
	}
	return 0
}

// tooLarge is the most that a body may have as it is sent.
type tooLarge int64

func (most tooLarge) meet(_ int, _ time.Duration, r *http.Request) reaction {
	return when(r.ContentLength > int64(most) || r.ContentLength < 0, reaction{status: http.StatusRequestEntityTooLarge})
}
func (tooLarge) judge(*server, []write) int { return 0 }

// poison refuses every request that holds the nth run it has seen.
type poison struct {
	nth  int
	seen map[string]bool
	id   string
}

func (*poison) meet(int, time.Duration, *http.Request) reaction { return reaction{} }

func (p *poison) judge(_ *server, writes []write) int {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	status := 0
	for _, w := range writes {
		if !p.seen[w.id] {
			if p.seen[w.id] = true; len(p.seen) == p.nth {
				p.id = w.id
			}
		}
		if w.id == p.id {
			status = http.StatusUnprocessableEntity
		}
	}
	return status
}
