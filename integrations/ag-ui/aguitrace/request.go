package aguitrace

import (
	"io"
	"net/http"
	"sync"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
)

// body passes a request's body on and keeps a copy up to a bound. It is read by one
// goroutine and looked at by another.
type body struct {
	io.ReadCloser
	limit int

	mu     sync.Mutex
	kept   []byte
	over   bool
	held   bool // closing waits until the request has been answered or has failed
	closed bool
}

// listen has a request's body copied as it is read.
func (t *Tracer) listen(r *http.Request) *body {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	b := &body{ReadCloser: r.Body, limit: t.opts.Request}
	r.Body = b
	return b
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over:
	case len(b.kept)+n > b.limit:
		b.over, b.kept = true, nil
	default:
		b.kept = append(b.kept, p[:n]...)
	}
	return n, err
}

// Close closes the body, unless it is held.
func (b *body) Close() error {
	b.mu.Lock()
	b.closed = true
	held := b.held
	b.mu.Unlock()
	if held {
		return nil
	}
	return b.ReadCloser.Close()
}

// hold keeps the body open for what release may have to read of it.
func (b *body) hold() {
	if b != nil {
		b.held = true
	}
}

// release lets go of the body. Of a request that failed before it was sent, rest asks to
// read who it was for: nobody else will.
func (b *body) release(rest bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.held = false
	closed := b.closed
	b.mu.Unlock()
	if !closed {
		return // whoever reads it closes it
	}
	if rest {
		_, _ = io.CopyN(io.Discard, b, int64(b.limit)+1)
	}
	_ = b.ReadCloser.Close()
}

// input is what the client asked for; nil: the body does not say, or not all of it was
// read.
func (b *body) input() *agui.RunAgentInput {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return agui.DecodeInput(b.kept)
}
