package aguitrace

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// forwarded are headers that proxies before this one may have set, and that pass.
var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// Proxy passes requests on to an AG-UI agent and its answers back, and records the runs.
// Status, headers and bytes pass as they are, each piece at once; of what the client
// accepts, encodings that the copy could not be unpacked from are left out. A client that
// leaves ends the request to the agent. Nothing of a header is recorded.
func (t *Tracer) Proxy(target *url.URL) *Proxy {
	base := &http.Transport{
		DisableCompression: true, // or bytes would be unpacked on the way
		ForceAttemptHTTP2:  true,
		MaxIdleConns:       64, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	return &Proxy{base: base, pass: httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			if p.In.URL.Path == "" || p.In.URL.Path == "/" { // the target is the agent itself
				p.Out.URL.Path, p.Out.URL.RawPath = target.Path, target.RawPath
			}
			for _, name := range forwarded {
				if values, told := p.In.Header[name]; told {
					p.Out.Header[name] = values
				}
			}
			if _, told := p.In.Header["User-Agent"]; !told {
				p.Out.Header["User-Agent"] = nil
			}
			readable(p.Out.Header)
		},
		Transport:     t.Transport(base),
		FlushInterval: -1,
		ErrorLog:      log.New(discard{}, "", 0), // a URL may hold what is not for a log
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, _ error) {
			if r.Context().Err() == nil {
				t.log("the agent does not answer")
			}
			http.Error(w, "tracesmith: the agent does not answer", http.StatusBadGateway)
		},
	}}
}

// Proxy is a proxy in front of one agent.
type Proxy struct {
	pass httputil.ReverseProxy
	base *http.Transport
}

// ServeHTTP passes one request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Else the server closes the request's body when the answer begins. Whoever sends it to
	// the agent may be about to see its end, sees an error instead, and breaks the answer off.
	_ = http.NewResponseController(w).EnableFullDuplex()
	p.pass.ServeHTTP(w, r)
}

// CloseIdleConnections closes the connections to the agent that nothing uses.
func (p *Proxy) CloseIdleConnections() { p.base.CloseIdleConnections() }

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
