package tracehttp

import (
	"context"
	"net/http"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Inject writes the trace of ctx to the headers of a request: see runtypes.Inject.
// It does nothing where ctx carries no turn.
func Inject(ctx context.Context, header http.Header) {
	runtypes.Inject(ctx, joined{header})
}

// Transport sends requests with the trace of their context. The headers name the
// conversation, the repository and the folder: use it for servers of your own only.
// The zero value works. It is safe for concurrent use if Base is.
type Transport struct {
	Base http.RoundTripper // sends the requests. Nil: http.DefaultTransport
}

// RoundTrip sends a request.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	if runtypes.FromContext(req.Context()) != nil {
		req = req.Clone(req.Context())
		Inject(req.Context(), req.Header)
	}
	return base.RoundTrip(req)
}

// joined reads a header that stands several times as one list, which baggage may.
type joined struct{ http.Header }

func (h joined) Get(key string) string { return strings.Join(h.Values(key), ",") }
