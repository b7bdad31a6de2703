package anthropic

import (
	"net/http"

	"github.com/tracesmith/tracesmith/internal/modelcall"
)

// Transport is an http.RoundTripper that records calls of the Messages API. The
// zero value works. It is safe for concurrent use if Base is.
type Transport struct {
	Base     http.RoundTripper // sends the requests. Nil: http.DefaultTransport
	Provider string            // whose price list holds. Empty: anthropic
}

// RoundTrip sends a request and records it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	return t.Middleware(req, base.RoundTrip)
}

// Middleware is for anthropic-sdk-go's option.WithMiddleware; Base is not used.
func (t *Transport) Middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	provider := t.Provider
	if provider == "" {
		provider = "anthropic"
	}
	return modelcall.API{Provider: provider, Read: read}.Do(req, next)
}

// Middleware records a call. It is for anthropic-sdk-go's option.WithMiddleware.
func Middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	return new(Transport).Middleware(req, next)
}
