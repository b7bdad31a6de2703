package exporter

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// A name below localhost is asked of whatever answers names here.
func TestWhatIsNotEncryptedStaysHereWhateverANameMeans(t *testing.T) {
	shared := http.DefaultTransport.(*http.Transport).Clone()
	stay(shared)
	for address, here := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "192.0.2.1:1": false, "[2001:db8::1]:1": false, "0.0.0.0:1": false} {
		conn, err := shared.DialContext(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		if errors.Is(err, ErrPlainHTTP) == here {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestWhatIsForThisMachineGoesThroughNoProxy(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := newLangsmith(t)
	server := httptest.NewServer(s)
	defer server.Close()
	c := newTestClient(t, Config{Endpoint: server.URL, APIKey: "key", Proxy: http.ProxyURL(at)})
	export(t, c, posts(0, 1)...)
	c.Close()
	if asked.Load() != 0 || len(s.runs) != 1 {
		t.Errorf("the proxy was asked %d times, %d runs arrived", asked.Load(), len(s.runs))
	}
}

func TestReachTakesTheSameRoadAsRuns(t *testing.T) {
	for _, bad := range []string{"http://smith.example", "http://localhost.evil.example", "http://127.0.0.1@evil.example", "http://2130706433", "http://0x7f.0.0.1", "http://127.1", "ftp://127.0.0.1"} {
		if _, err := (Config{Endpoint: bad}).Reach(); err == nil {
			t.Errorf("%s is reached", bad)
		}
	}
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	client, err := Config{Endpoint: server.URL}.Reach()
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	answer, err := client.Get(server.URL)
	if err != nil || answer.StatusCode != http.StatusTemporaryRedirect || elsewhere.Load() != 0 {
		t.Errorf("%v, %d requests went on", err, elsewhere.Load())
	}
	_ = answer.Body.Close()
}

func TestAProxysPasswordIsInNoError(t *testing.T) {
	for _, failure := range []error{errors.New(`invalid proxy address "http://me:hunter2@x"`), &url.Error{Op: "parse", URL: "http://me:hunter2@x", Err: errors.New("no")}} {
		_, err := discreet(func(*http.Request) (*url.URL, error) { return nil, failure })(nil)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Error(err)
		}
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	c := newTestClient(t, Config{Endpoint: "https://smith.example", Proxy: http.ProxyURL(&url.URL{
		Scheme: "http", User: url.UserPassword("me", "hunter2"), Host: gone.Addr().String(),
	}), MaxElapsed: 1})
	defer c.Close()
	if _, err := c.Export(t.Context(), posts(0, 1)); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
