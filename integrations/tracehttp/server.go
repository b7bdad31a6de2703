package tracehttp

import (
	"fmt"
	"net/http"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Options say how a server joins traces. The zero value records nothing.
type Options struct {
	Sink runtypes.Sink // where runs go. Nil: requests pass through
	// Identity says who the server is: the caller, where it says nothing. Name a version
	// if the caller has one, which the contract wants on all runs of a trace. Thread, turn
	// and repository are always the caller's.
	Identity runtypes.Identity
	// Name names the run of a request. Nil: its method and path
	Name func(*http.Request) string
	// Alone starts a turn also for a request that carries no trace. Identity has to
	// name a thread then.
	Alone bool
}

// Handler records each request that carries a trace as a run under the caller's,
// which next finds by runtypes.FromContext. The run says method, path and status,
// and not what was said: next hangs tools and model calls under it. A status from
// 500 on and a panic, which goes on, are failures; a caller that left before the
// answer interrupts it. Trust a caller's headers as far as the caller: whoever
// reaches the server can put runs into the traces it sends.
func Handler(o Options, next http.Handler) http.Handler {
	if o.Sink == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parent, ok := runtypes.Extract(joined{r.Header})
		if !ok && !o.Alone {
			next.ServeHTTP(w, r)
			return
		}
		o.serve(w, r, parent, next)
	})
}

func (o Options) serve(w http.ResponseWriter, r *http.Request, parent runtypes.Parent, next http.Handler) {
	name := r.Method + " " + r.URL.Path
	if o.Name != nil {
		name = o.Name(r)
	}
	request := map[string]string{"method": r.Method, "path": r.URL.Path}
	ctx, turn := runtypes.Begin(r.Context(), o.Sink, o.Identity, request, runtypes.WithParent(parent), runtypes.WithName(name))
	defer turn.Guard(ctx)
	seen := &recorder{ResponseWriter: w}
	next.ServeHTTP(seen, r.WithContext(ctx))
	switch status := seen.code(); {
	case r.Context().Err() != nil:
	case status >= 500:
		turn.Fail(fmt.Errorf("%d %s", status, http.StatusText(status)))
	default:
		turn.End(map[string]int{"status": status})
	}
}

// recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach what is below: flushing, hijacking.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush serves those who ask for an http.Flusher.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
