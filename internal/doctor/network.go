package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/config"
)

const network = "network"

// Network says how to look at a destination. The zero value is what a delivery uses.
type Network struct {
	// Proxy finds the proxy of a request; nil: as the environment says.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is how servers are checked; nil: with the system's certificates.
	TLS *tls.Config
	// Patience bounds the wait for one answer; 0: 10 s.
	Patience time.Duration
	// Elsewhere lists where else a key may belong, by name; nil: LangSmith's other
	// deployments.
	Elsewhere func(endpoint string) map[string]string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Target is a destination to look at.
type Target struct {
	exporter.Config
	EndpointSource string // where the endpoint was set
	KeySource      string // where the key was set
	KeyShown       string // the key as it may be shown
	ProxySource    string // where the proxy was set; empty: in the environment, or there is none
	Unusable       error  // why nothing can be sent there; nil: it can
}

const (
	defaultPatience = 10 * time.Second
	maxSkew         = 5 * time.Minute
	maxInfo         = 1 << 20
)

func (n Network) withDefaults() Network {
	if n.Proxy == nil {
		n.Proxy = http.ProxyFromEnvironment
	}
	if n.Patience <= 0 {
		n.Patience = defaultPatience
	}
	if n.Now == nil {
		n.Now = time.Now
	}
	return n
}

// journey notes how far a request came. Its callbacks run on several goroutines.
type journey struct {
	mu        sync.Mutex
	began     time.Time
	addresses []string
	connected bool // TCP, to the server or to the proxy
	tunnel    int  // the proxy's answer to CONNECT; 0: none
	secured   bool
	written   bool
	proxy     *url.URL // nil: none
}

func (j *journey) note(f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f()
}

func (j *journey) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSDone: func(d httptrace.DNSDoneInfo) {
			j.note(func() {
				for _, a := range d.Addrs {
					j.addresses = append(j.addresses, a.String())
				}
			})
		},
		ConnectDone: func(_, _ string, err error) { j.note(func() { j.connected = j.connected || err == nil }) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			j.note(func() { j.secured = j.secured || err == nil })
		},
		WroteRequest: func(w httptrace.WroteRequestInfo) { j.note(func() { j.written = j.written || w.Err == nil }) },
	}
}

// transport makes a new connection for every request, and tells the journey of it.
func (n Network) transport(j *journey) *http.Transport {
	return &http.Transport{
		TLSClientConfig:   n.TLS.Clone(),
		DisableKeepAlives: true,
		ForceAttemptHTTP2: true,
		Proxy: func(r *http.Request) (*url.URL, error) {
			proxy, err := n.Proxy(r)
			j.note(func() { j.proxy = proxy })
			return proxy, err
		},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			j.note(func() { j.tunnel = resp.StatusCode })
			return nil
		},
	}
}

// reach asks the destination what it is, and reports how far that came. It returns
// whether the destination answered as LangSmith.
func (r *Report) reach(ctx context.Context, n Network, t Target) bool {
	ctx, cancel := context.WithTimeout(ctx, n.Patience)
	defer cancel()
	j := &journey{began: n.Now()}
	transport := n.transport(j)
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, j.trace()), http.MethodGet, strings.TrimRight(t.Endpoint, "/")+"/info", http.NoBody)
	if err != nil {
		r.problem(network, "write endpoint as https://HOST", "the endpoint is not a URL (from %s)", t.EndpointSource)
		return false
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		r.fault(explain(err, j, t, n.Patience))
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxInfo))
	if err != nil {
		r.fault(explain(err, j, t, n.Patience))
		return false
	}
	return r.answered(n, t, j, resp, body)
}

// answered reports on the answer to the first question.
func (r *Report) answered(n Network, t Target, j *journey, resp *http.Response, body []byte) bool {
	by := ""
	if j.proxy != nil {
		by = " through the proxy " + config.WithoutPassword(j.proxy.String())
	} else if len(j.addresses) > 0 {
		slices.Sort(j.addresses)
		by = " at " + strings.Join(slices.Compact(j.addresses), ", ")
	}
	took := n.Now().Sub(j.began).Round(time.Millisecond)
	switch {
	case resp.StatusCode >= 500:
		r.problem(network, "try again later; what is recorded is kept and sent then",
			"server: %s answers with status %d", t.Endpoint, resp.StatusCode)
		return false
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		r.problem(network, "set endpoint to where the API itself is; a redirect is not followed, for the key would go along",
			"server: %s redirects to another place (status %d)", t.Endpoint, resp.StatusCode)
		return false
	case !isObject(body):
		r.problem(network, wrongPath(t),
			"server: what answers at %s is not LangSmith's API (status %d, from %s)", t.Endpoint, resp.StatusCode, t.EndpointSource)
		return false
	}
	r.ok(network, "%s reached%s in %s", t.Endpoint, by, took)
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusTooManyRequests {
		r.note(network, wrongPath(t), "%s/info answers with status %d", t.Endpoint, resp.StatusCode)
	}
	r.clock(n.Now(), resp.Header.Get("Date"))
	return true
}

// clock compares this machine's clock with the server's.
func (r *Report) clock(now time.Time, date string) {
	theirs, err := http.ParseTime(date)
	if err != nil {
		return
	}
	skew := now.Sub(theirs)
	if skew.Abs() > maxSkew {
		r.problem("clock", "set the clock (timedatectl set-ntp true): runs are placed by their times",
			"this machine's clock is off by %s", skew.Round(time.Second))
		return
	}
	r.ok("clock", "agrees with the server's")
}

func (r *Report) fault(f fault) {
	r.problem(network, f.fix, "%s: %s", f.layer, f.text)
}

func wrongPath(t Target) string {
	return fmt.Sprintf("check endpoint (from %s): LangSmith's is %s, a self-hosted one ends in /api/v1", t.EndpointSource, exporter.DefaultEndpoint)
}

func isObject(body []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(string(body)), "{")
}

// timedOut reports whether an error is that of patience.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
