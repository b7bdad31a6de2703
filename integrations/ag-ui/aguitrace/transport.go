package aguitrace

import (
	"errors"
	"io"
	"net/http"
	"sync"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
)

// Transport records the runs that a client reads, each POST request's answer as a stream
// of its own. A client that closes an answer before its end, or whose request is
// cancelled, interrupts the run. A nil base is http.DefaultTransport.
func (t *Tracer) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	if t.sink == nil {
		return base
	}
	return &transport{tracer: t, base: base}
}

type transport struct {
	tracer *Tracer
	base   http.RoundTripper
}

// RoundTrip sends a request as it is.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost {
		return t.base.RoundTrip(req)
	}
	own := req.WithContext(req.Context()) // the caller's request is not to be changed
	asked := t.tracer.listen(own)
	asked.hold()
	resp, err := t.base.RoundTrip(own)
	asked.release(err != nil && req.Context().Err() == nil)
	if err != nil {
		message := "no answer from the agent"
		if req.Context().Err() != nil {
			message = "the client disconnected before the agent answered"
		}
		t.tracer.fail(asked.input(), message)
		return resp, err
	}
	format, ok := agui.FormatOf(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 300:
		t.tracer.fail(asked.input(), statusText(resp.StatusCode))
	case ok && resp.StatusCode >= 200 && resp.Body != nil:
		copied := newPipe(t.tracer.opts.Queue, t.tracer.opts.Now)
		t.tracer.fold(copied, decoding{format, resp.Header.Get("Content-Encoding")}, asked.input())
		resp.Body = &tee{ReadCloser: resp.Body, copy: copied, left: func() bool { return req.Context().Err() != nil }}
	}
	return resp, nil
}

// tee copies a body as it is read.
type tee struct {
	io.ReadCloser
	copy *pipe
	left func() bool // whether the client has given up
	once sync.Once
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.copy.Write(p[:n])
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), !t.left():
		t.copy.Close(io.EOF) // the end, or as much of it as there will be
	default:
		t.copy.Close(errLeft)
	}
	return n, err
}

// Close before the end is the client's leaving. What was not read may have held the end.
func (t *tee) Close() error {
	t.once.Do(func() { t.copy.Close(errLeft) })
	return t.ReadCloser.Close()
}
