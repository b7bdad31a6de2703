package exporter

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// Reach is what requests of another kind to the endpoint go through: the same proxy,
// certificates and bounds as those that send runs. It gives no key and no workspace, and
// refuses an endpoint that runs would not be sent to. A redirect to another server is not
// followed.
func (c Config) Reach() (*http.Client, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	client, _ := connect(&c)
	return client, nil
}

// connect makes the client. idle closes the connections that are ours.
func connect(cfg *Config) (hc *http.Client, idle func()) {
	hc, idle = new(http.Client), func() {}
	if cfg.HTTPClient != nil {
		*hc = *cfg.HTTPClient // a copy: the caller's redirect policy stays its own
	} else if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		own := shared.Clone()
		own.ResponseHeaderTimeout = attemptTime
		own.MaxIdleConnsPerHost = cfg.InFlight
		if cfg.TLS != nil {
			own.TLSClientConfig = cfg.TLS.Clone()
		}
		own.Proxy = discreet(own.Proxy)
		if cfg.Proxy != nil {
			own.Proxy = cfg.Proxy
		}
		if !cfg.AllowHTTP && plain(cfg.Endpoint) {
			stay(own)
		}
		hc.Transport, idle = own, own.CloseIdleConnections
	}
	if hc.Transport == nil {
		hc.Transport = http.DefaultTransport
	}
	if cfg.Wrap != nil {
		hc.Transport = cfg.Wrap(hc.Transport)
	}
	hc.CheckRedirect = sameServer
	return hc, idle
}

// stay keeps what is not encrypted on this machine, whatever a name resolves to and
// whoever would be asked for it.
func stay(t *http.Transport) {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return ErrPlainHTTP
		}
		return nil
	}}
	t.DialContext, t.Proxy = dialer.DialContext, nil
}

// discreet keeps what the environment says of a proxy out of errors: it may be a password.
func discreet(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if proxy == nil {
		return nil
	}
	return func(r *http.Request) (*url.URL, error) {
		at, err := proxy(r)
		if err != nil {
			return nil, errors.New("exporter: the proxy of the environment is no URL")
		}
		return at, nil
	}
}

// sameServer follows a redirect only where it repeats the request (307, 308) to
// the same server. The key is a header that net/http would carry to any host, and
// a POST that became a GET would look delivered.
func sameServer(next *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) < 5 && next.Method == first.Method && next.URL.Scheme == first.URL.Scheme && next.URL.Host == first.URL.Host {
		return nil
	}
	return http.ErrUseLastResponse
}
