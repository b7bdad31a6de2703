package aguitrace

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
)

// Why a copy ended other than by the stream's end.
var (
	errLeft  = errors.New("aguitrace: the client disconnected")
	errPanic = errors.New("aguitrace: the handler panicked")
)

// Handler records the runs that next streams, each POST request's as a stream of its own.
// A client that leaves interrupts its run. A status other than 2xx and a panic, which
// goes on, are failed runs where the request names one. Requests and answers pass as they
// are, and what next does with its http.ResponseWriter works as before.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	if t.sink == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(r.Context())
		seen := &answer{ResponseWriter: w, tracer: t, asked: t.listen(r)}
		defer func() {
			panicked := recover()
			seen.end(r.Context().Err() != nil, panicked)
			if panicked != nil {
				panic(panicked)
			}
		}()
		next.ServeHTTP(seen, r)
	})
}

// answer copies what a handler writes.
type answer struct {
	http.ResponseWriter
	tracer *Tracer
	asked  *body
	status int
	copy   *pipe // nil: the answer is no stream
	broken bool  // a write failed: the client is gone
}

func (a *answer) WriteHeader(status int) {
	a.begin(status)
	a.ResponseWriter.WriteHeader(status)
}

// begin looks at the head of the answer, once.
func (a *answer) begin(status int) {
	if a.status != 0 || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	a.status = status
	header := a.Header()
	format, ok := agui.FormatOf(header.Get("Content-Type"))
	if status/100 != 2 || !ok {
		return
	}
	a.copy = newPipe(a.tracer.opts.Queue, a.tracer.opts.Now)
	a.tracer.fold(a.copy, decoding{format, header.Get("Content-Encoding")}, a.asked.input())
}

func (a *answer) Write(p []byte) (int, error) {
	a.begin(http.StatusOK)
	n, err := a.ResponseWriter.Write(p)
	if a.copy != nil {
		a.copy.Write(p[:max(n, 0)])
	}
	a.broken = a.broken || err != nil
	return n, err
}

// ReadFrom serves io.Copy. What is copied has to be seen.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{a}, r)
}

// Unwrap lets http.ResponseController reach what is below: deadlines, hijacking.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Flush serves those who ask for an http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// FlushError serves http.ResponseController.
func (a *answer) FlushError() error {
	a.begin(http.StatusOK)
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// end says how the answer ended.
func (a *answer) end(left bool, panicked any) {
	abort, _ := panicked.(error)
	failed := panicked != nil && !errors.Is(abort, http.ErrAbortHandler)
	switch {
	case a.copy != nil && failed:
		a.copy.Close(errPanic)
	case a.copy != nil && (left || a.broken || panicked != nil):
		a.copy.Close(errLeft)
	case a.copy != nil:
		a.copy.Close(io.EOF)
	case failed:
		a.tracer.fail(a.asked.input(), fmt.Sprintf("panic (%T)", panicked))
	case a.status >= 300:
		a.tracer.fail(a.asked.input(), statusText(a.status))
	}
}

func statusText(status int) string {
	return fmt.Sprintf("the agent answered %d %s", status, http.StatusText(status))
}
