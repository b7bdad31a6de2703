package ingest

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// FaultKind is a way to misbehave.
type FaultKind string

// The ways to misbehave. Each but FaultSlow and FaultLost stores nothing.
const (
	FaultAnswer FaultKind = ""      // read the request, answer Status
	FaultSlow   FaultKind = "slow"  // wait for Delay, then serve as usual
	FaultHang   FaultKind = "hang"  // never answer: until the client gives up, the server closes, or Delay is over
	FaultReset  FaultKind = "reset" // reset the connection in the middle of the body
	FaultLost   FaultKind = "lost"  // store, then cut the connection: the acknowledgement is lost
)

// Fault is one entry of a script: what to do to which requests. The zero value
// answers 500 to the next ingest request.
type Fault struct {
	Kind       FaultKind
	Status     int           // FaultAnswer; 0: 500
	RetryAfter string        // FaultAnswer: the Retry-After header, seconds or a date; empty: none
	Body       string        // FaultAnswer: sent as HTML, as a proxy would; empty: LangSmith's JSON error
	Delay      time.Duration // before acting
	Path       string        // only this route: /runs/multipart, /runs/batch, /runs, /runs/{id}, /info; empty: every route that takes runs
	Skip       int           // matching requests to leave alone first
	Times      int           // matching requests to hit; 0: one, negative: all from then on
}

// script hands out the faults, in order, to the requests they match.
type script struct {
	mu     sync.Mutex
	faults []Fault
}

func (s *script) set(faults []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append([]Fault(nil), faults...)
	for i := range s.faults {
		if s.faults[i].Times == 0 {
			s.faults[i].Times = 1
		}
	}
}

// next returns the fault that hits a request for path, if any: of those that
// match and are not used up the first. One that still skips lets the request
// pass to those behind it.
func (s *script) next(path string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults {
		f := &s.faults[i]
		if f.Times == 0 || f.Path != path && (f.Path != "" || path == pathInfo) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			f.Times--
		}
		return *f, true
	}
	return Fault{}, false
}

// before does what a fault does ahead of the body. It reports whether the
// request goes on.
func (f Fault) before(w http.ResponseWriter, r *http.Request) bool {
	if f.Kind == FaultReset {
		// Half of the body, or the little that fits a small one.
		_, _ = io.CopyN(io.Discard, r.Body, max(1, r.ContentLength/2))
		wait(r.Context(), f.Delay)
		reset(w)
		return false
	}
	return true
}

// after does what a fault does once the body is read. It reports whether the
// request is still to be served.
func (f Fault) after(w http.ResponseWriter, r *http.Request) bool {
	if f.Kind == FaultHang {
		if f.Delay > 0 {
			wait(r.Context(), f.Delay)
		} else {
			<-r.Context().Done()
		}
		cut()
	}
	wait(r.Context(), f.Delay)
	if f.Kind != FaultAnswer {
		return true
	}
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Body != "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, f.Body) // the client may be gone: nothing to do
		return false
	}
	writeJSON(w, status, map[string]string{"error": "scripted fault"})
	return false
}

// wait sleeps for d or until ctx is done.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// cut ends the request without an answer; net/http closes the connection.
func cut() { panic(http.ErrAbortHandler) }

// reset ends the connection with a TCP reset where the writer allows it.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		cut()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the close is a clean one, which also fails the client
	}
	_ = conn.Close()
}
