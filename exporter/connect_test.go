package exporter

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

func TestAnUnencryptedEndpointIsForThisMachineOnly(t *testing.T) {
	check := func(endpoint string, allowed bool, want error) {
		t.Helper()
		c, err := NewClient(Config{Endpoint: endpoint, APIKey: "key", AllowHTTP: allowed})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", endpoint, err, want)
		}
		if c != nil {
			c.Close()
		}
	}
	for _, here := range []string{"http://127.0.0.1:1984", "http://127.9.9.9", "http://[::1]:80/api/v1", "http://localhost:1984", "http://LOCALHOST", "http://smith.localhost"} {
		check(here, false, nil)
	}
	for _, away := range []string{"http://smith.example", "http://10.0.0.1", "http://localhost.example", "http://127.0.0.1.example", "http://0.0.0.0", "http://[::]"} {
		check(away, false, ErrPlainHTTP)
		check(away, true, nil)
	}
	check("https://smith.example", false, nil)
}

func TestAServerOfAnUnknownAuthorityGetsNothing(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	server.StartTLS()
	defer server.Close()
	c := newTestClient(t, Config{Endpoint: server.URL, APIKey: "key", MaxElapsed: 2 * time.Second})
	rest, err := c.Export(t.Context(), posts(0, 1))
	var unknown x509.UnknownAuthorityError
	if len(rest) != 1 || !errors.As(err, &unknown) || asked.Load() != 0 {
		t.Errorf("%d left, %d requests, %v", len(rest), asked.Load(), err)
	}
	c.Close()

	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	c = newTestClient(t, Config{Endpoint: server.URL, APIKey: "key", TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
	export(t, c, posts(0, 1)...)
	if asked.Load() == 0 {
		t.Error("a server of a known authority was not asked")
	}
	c.Close()
}

func TestRequestsTakeTheProxyAndPassTheWatcher(t *testing.T) {
	var through, seen atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Host == "smith.example" {
			through.Add(1)
		}
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newTestClient(t, Config{
		Endpoint: "http://smith.example", AllowHTTP: true, Proxy: http.ProxyURL(at),
		Wrap: func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				seen.Add(1)
				return next.RoundTrip(r)
			})
		},
	})
	export(t, c, posts(0, 1)...)
	if through.Load() == 0 || seen.Load() == 0 {
		t.Errorf("%d through the proxy, %d seen", through.Load(), seen.Load())
	}
	c.Close()
}
