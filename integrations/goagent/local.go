package goagent

import (
	"bytes"
	"io"
	"net/http"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/store"
)

// storeEndpoint is the local store as the exporter sees it. No socket is opened.
const storeEndpoint = "https://tracesmith.invalid"

// storeClient speaks to the store as to LangSmith, so that queue, bounds, redaction
// and counts are the same for both: its requests are answered within the process.
func storeClient(local *store.Store) *http.Client {
	return &http.Client{Transport: inProcess{ingest.New(ingest.Config{
		Sink:    local,
		Without: ingest.Without{Zstd: true, Gzip: true}, // nothing is saved by packing
	})}}
}

// inProcess is a round tripper that has a handler answer.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	served := req.Clone(req.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	defer served.Body.Close()
	w := &answer{status: http.StatusOK, header: http.Header{}}
	p.handler.ServeHTTP(w, served)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: req,
	}, nil
}

// answer keeps what a handler writes.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
