package ingest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// ErrForm says that a request is not one that [Decode] reads.
var ErrForm = errors.New("ingest: the request writes no runs")

// Writes is what one request writes.
type Writes struct {
	Posts, Patches []runtypes.Wire
	// Dropped counts the parts and fields that a Wire does not hold, by name.
	Dropped map[string]int
	// Refused are the writes that cannot be read, or that LangSmith would not take.
	Refused []Refused
}

// Refused is a write that has a strict server refuse its whole request.
type Refused struct {
	Verb runtypes.Verb
	Run  runtypes.Wire // what can be told of it: ids, name and metadata, each if it is right
	Err  error
}

// Status is the answer that LangSmith would give to a request that Decode has an error
// for, or for a write of it.
func Status(err error) int {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.status
	}
	return http.StatusBadRequest
}

// Decode reads a request that writes runs, by its method, path and headers and the
// body as it was sent. It is lenient: nulls are taken for absent, text that is no UTF-8
// is mended, integers may be of any size, a run may be earlier than its parent or be
// written twice, and a write that is wrong otherwise concerns no other one. An error says
// why no write of the request can be read, or that it is another request.
func Decode(r *http.Request, raw []byte, limits Limits) (Writes, error) {
	decode := decoderOf(r)
	if decode == nil {
		return Writes{}, ErrForm
	}
	body, err := Plain(r.Header, raw, limits)
	if err != nil {
		return Writes{}, err
	}
	b, err := decode(body)
	if err != nil {
		return Writes{}, err
	}
	return Writes{Posts: b.posts, Patches: b.patches, Dropped: b.dropped, Refused: b.refused}, nil
}

// Plain undoes the compression of a body, within limits. With an error body is what could
// be read before it.
func Plain(header http.Header, raw []byte, limits Limits) ([]byte, error) {
	sent := &http.Request{Header: header, Body: io.NopCloser(bytes.NewReader(raw))}
	body, _, err := readBody(sent, limits.withDefaults(), Without{})
	return body, err
}

func decoderOf(r *http.Request) func(body []byte) (*batch, error) {
	path := strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/api/v1")
	id, single := strings.CutPrefix(path, pathRuns+"/")
	switch {
	case r.Method == http.MethodPost && path == pathMultipart:
		return func(body []byte) (*batch, error) {
			return multipartInto(newLenient(), body, r.Header.Get("Content-Type"))
		}
	case r.Method == http.MethodPost && path == pathBatch:
		return func(body []byte) (*batch, error) { return batchInto(newLenient(), body) }
	case r.Method == http.MethodPost && path == pathRuns:
		return func(body []byte) (*batch, error) { return postInto(newLenient(), body) }
	case r.Method == http.MethodPatch && single:
		return func(body []byte) (*batch, error) { return patchInto(newLenient(), body, id) }
	}
	return nil
}
