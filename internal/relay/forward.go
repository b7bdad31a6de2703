package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

// infoWait bounds the wait for LangSmith's answer to what it can take: clients ask
// before their first run.
const infoWait = 3 * time.Second

// maxInfo bounds that answer.
const maxInfo = 1 << 20

// Credentials authenticate, with LangSmith, a client that has the relay's token for
// a key. All may be empty.
type Credentials struct {
	APIKey, WorkspaceID string
	// Token gives an access token where there is no key; nil: nobody is signed in.
	Token func(ctx context.Context) (string, error)
}

// forwarder sends requests on to LangSmith as they are.
type forwarder struct {
	proxy *httputil.ReverseProxy
	to    *url.URL
	who   Credentials
	local http.Handler // answers for LangSmith what a client must know before it sends
}

// swapKey marks in a request's context that its key is the token.
type swapKey struct{}

func newForwarder(to *url.URL, who Credentials, road http.RoundTripper, log *slog.Logger) *forwarder {
	f := &forwarder{to: to, who: who, local: ingest.New(ingest.Config{})}
	transport, ours := road.(*http.Transport)
	if !ours {
		transport = http.DefaultTransport.(*http.Transport)
	}
	transport = transport.Clone()
	transport.DisableCompression = true // answers pass as they come, and questions as they are asked
	transport.ResponseHeaderTimeout = 2 * time.Minute
	f.proxy = &httputil.ReverseProxy{
		Rewrite:   f.rewrite,
		Transport: transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			log.Warn("relay: not sent on", "error", cause(err))
			answer(w, http.StatusBadGateway, "error", "LangSmith could not be reached")
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	return f
}

// cause says why a request could not be sent on, without its address, which may hold
// what was asked.
func cause(err error) string {
	if wrapped, ok := err.(*url.Error); ok { //nolint:errorlint // only the outermost quotes the address
		err = wrapped.Err
	}
	return err.Error()
}

func (f *forwarder) close() {
	f.proxy.Transport.(*http.Transport).CloseIdleConnections()
}

func (f *forwarder) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = f.to.Scheme, f.to.Host, f.to.Host
	base, path := strings.TrimRight(f.to.EscapedPath(), "/"), p.In.URL.EscapedPath()
	if strings.HasSuffix(base, "/api/v1") {
		path = strings.TrimPrefix(path, "/api/v1") // clients may add it to an endpoint that has it
	}
	if whole, err := url.PathUnescape(base + path); err == nil {
		p.Out.URL.Path, p.Out.URL.RawPath = whole, base+path
	}
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	if p.In.Context().Value(swapKey{}) == nil {
		return
	}
	p.Out.Header.Del("Authorization")
	p.Out.Header.Del("X-Api-Key")
	switch {
	case f.who.APIKey != "":
		p.Out.Header.Set("X-Api-Key", f.who.APIKey)
	case f.who.Token != nil:
		if token, err := f.who.Token(p.In.Context()); err == nil && token != "" {
			p.Out.Header.Set("Authorization", "Bearer "+token)
		}
	}
	if f.who.WorkspaceID != "" && p.Out.Header.Get("X-Tenant-Id") == "" {
		p.Out.Header.Set("X-Tenant-Id", f.who.WorkspaceID)
	}
}

// send sends a request on. swap puts Tracesmith's credentials in the place of the
// token.
func (f *forwarder) send(w http.ResponseWriter, r *http.Request, swap bool) {
	if swap {
		r = r.WithContext(context.WithValue(r.Context(), swapKey{}, true))
	}
	f.proxy.ServeHTTP(w, r)
}

// sendBody is send for a request whose body has been read.
func (f *forwarder) sendBody(w http.ResponseWriter, r *http.Request, body []byte, swap bool) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	f.send(w, r, swap)
}

// info answers what the server can take. It is LangSmith's answer, for clients of
// which the relay knows nothing, or while LangSmith cannot be reached one that every
// client can work with. The relay itself takes both compressions and multipart.
func (f *forwarder) info(w http.ResponseWriter, r *http.Request, swap bool) {
	ctx, cancel := context.WithTimeout(r.Context(), infoWait)
	defer cancel()
	rec := &recorder{header: http.Header{}}
	f.send(rec, r.WithContext(ctx), swap)
	if rec.status != http.StatusOK || !json.Valid(rec.body.Bytes()) {
		f.local.ServeHTTP(w, r)
		return
	}
	for key, values := range rec.header {
		w.Header()[key] = values
	}
	w.WriteHeader(rec.status)
	_, _ = w.Write(rec.body.Bytes()) // the client may be gone
}

// recorder keeps a small answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
}

func (r *recorder) Write(data []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.body.Len()+len(data) > maxInfo {
		return 0, io.ErrShortBuffer
	}
	return r.body.Write(data)
}
