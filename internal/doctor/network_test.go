package doctor

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "lsv2_pt_0123456789abcdef"

// here is a network that takes no proxy from the environment.
func here() Network {
	return Network{
		Proxy:     func(*http.Request) (*url.URL, error) { return nil, nil },
		Elsewhere: func(string) map[string]string { return nil },
	}
}

func target(endpoint string) Target {
	return Target{
		Config:         exporter.Config{Endpoint: endpoint, APIKey: key, Project: "p", AllowHTTP: true},
		EndpointSource: "config.toml", KeySource: "LANGSMITH_API_KEY", KeyShown: "****cdef",
	}
}

// server is a LangSmith that does what it is told.
func server(t *testing.T, cfg ingest.Config) *ingest.Server {
	t.Helper()
	s, err := ingest.Start(cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

// diagnose looks at a destination and returns what is wrong with it.
func diagnose(t *testing.T, n Network, to Target) []Line {
	t.Helper()
	return examine(t, n, to, true)
}

func examine(t *testing.T, n Network, to Target, send bool) []Line {
	t.Helper()
	var r Report
	r.Deliver(t.Context(), n, to, send)
	var wrong []Line
	for _, line := range r.Lines {
		if strings.Contains(line.Text+line.Fix, key) {
			t.Errorf("shows the key: %+v", line)
		}
		if line.Level == Problem {
			wrong = append(wrong, line)
		}
	}
	return wrong
}

// expect wants one problem that names the layer, and a fix.
func expect(t *testing.T, name string, got []Line, layer, fix string) {
	t.Helper()
	if len(got) != 1 || !strings.HasPrefix(got[0].Text, layer) || !strings.Contains(got[0].Fix, fix) {
		t.Errorf("%s: want one problem %q with the fix %q, got %+v", name, layer, fix, got)
	}
}

func TestARoundTripNamesItsRun(t *testing.T) {
	s := server(t, ingest.Config{Key: key})
	var r Report
	r.Deliver(t.Context(), here(), target(s.URL()), true)
	if r.Problems() > 0 {
		t.Fatalf("%+v", r.Lines)
	}
	runs := s.Memory().Runs()
	if len(runs) != 1 || runs[0].SessionName != "p" || runs[0].Name != "tracesmith doctor" {
		t.Fatalf("arrived: %+v", runs)
	}
	last := r.Lines[len(r.Lines)-1]
	if !strings.Contains(last.Text, runs[0].ID) || !strings.Contains(last.Text, `"p"`) {
		t.Errorf("does not name the run: %s", last.Text)
	}
}

func TestATestRunThatCanBeReadIsShownWithItsPage(t *testing.T) {
	s := server(t, ingest.Config{})
	upstream, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/runs/") {
			if looks++; looks < 2 { // it is not there at once
				w.WriteHeader(http.StatusNotFound)
				return
			}
			fmt.Fprintf(w, `{"id": %q, "app_path": "/o/t/projects/p/x/r/y"}`, strings.TrimPrefix(r.URL.Path, "/runs/"))
			return
		}
		r.Host, r.URL.Host = upstream.Host, upstream.Host
		s.Handler.ServeHTTP(w, r)
	}))
	defer front.Close()
	var r Report
	r.Deliver(t.Context(), here(), target(front.URL), true)
	if last := r.Lines[len(r.Lines)-1]; r.Problems() > 0 || !strings.Contains(last.Text, front.URL+"/o/t/projects/p/x/r/y") {
		t.Errorf("%+v", r.Lines)
	}
}

func TestEachStatusIsExplained(t *testing.T) {
	always := func(status int) ingest.Config {
		return ingest.Config{Faults: []ingest.Fault{{Status: status, Times: -1}}}
	}
	for name, c := range map[string]struct {
		cfg        ingest.Config
		layer, fix string
	}{
		"401": {ingest.Config{Key: "another"}, "401: the key ****cdef is not accepted", "LANGSMITH_API_KEY"},
		"403": {always(403), "403: the key ****cdef may not write there", "LANGSMITH_WORKSPACE_ID"},
		"404": {always(404), "404", "config.toml"},
		"422": {always(422), "the test run was not taken: status 422", "later"},
	} {
		s := server(t, c.cfg)
		expect(t, name, diagnose(t, here(), target(s.URL())), c.layer, c.fix)
	}
	s := server(t, always(403))
	to := target(s.URL())
	to.WorkspaceID = "w1"
	expect(t, "wrong workspace", diagnose(t, here(), to), "403", "check the workspace w1")
}

func TestAKeyOfAnotherRegionIsFound(t *testing.T) {
	eu := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("x-api-key") == key && r.URL.Path == "/sessions" {
			fmt.Fprint(w, "[]")
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer eu.Close()
	s := server(t, ingest.Config{Faults: []ingest.Fault{{Status: 403, Times: -1}}})
	n := here()
	n.Elsewhere = func(string) map[string]string { return map[string]string{"APAC": s.URL(), "EU": eu.URL} }
	expect(t, "EU", diagnose(t, n, target(s.URL())), "403", "the key belongs to the EU region: set LANGSMITH_ENDPOINT="+eu.URL)
	us := reader(t, http.StatusForbidden)
	expect(t, "EU, unsent", examine(t, n, target(us), false), "403", "the key belongs to the EU region: set LANGSMITH_ENDPOINT="+eu.URL)
}

// reader is a LangSmith that answers who wants to read with a status.
func reader(t *testing.T, status int) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/info" {
			w.WriteHeader(status)
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAKeyIsLookedAtWithoutATestRun(t *testing.T) {
	expect(t, "wrong key", examine(t, here(), target(reader(t, 401)), false), "401: the key ****cdef is not accepted", "LANGSMITH_API_KEY")
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} { // it may only write
		if wrong := examine(t, here(), target(reader(t, status)), false); len(wrong) > 0 {
			t.Errorf("%d: %+v", status, wrong)
		}
	}
}

func TestALimitDoesNotSpeakOfTheEndpoint(t *testing.T) {
	s := server(t, ingest.Config{Faults: []ingest.Fault{{Status: 429, Times: -1}}})
	var r Report
	r.Deliver(t.Context(), here(), target(s.URL()), false)
	for _, line := range r.Lines {
		if strings.Contains(line.Fix, "check endpoint") {
			t.Errorf("%+v", line)
		}
	}
}

func TestEachLayerIsNamed(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome</html>") }))
	defer plain.Close()
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.example", http.StatusFound))
	defer moved.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer broken.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = silent()
	secure.StartTLS()
	defer secure.Close()

	for name, c := range map[string]struct{ endpoint, layer, fix string }{
		"refused":           {"http://" + freePort(t), "TCP", "HTTPS_PROXY"},
		"not LangSmith":     {plain.URL, "server: what answers", "config.toml"},
		"a redirect":        {moved.URL, "server: " + moved.URL + " redirects", "endpoint"},
		"a bad gateway":     {broken.URL, "server", "later"},
		"wrong certificate": {secure.URL, "TLS: the certificate", "SSL_CERT_FILE"},
		"no TLS":            {strings.Replace(plain.URL, "http:", "https:", 1), "TLS", "http://"},
		"hung":              {"http://" + hung(t), "server: ", "later"},
		"hung before TLS":   {"https://" + hung(t), "TLS", "config.toml"},
		"cut":               {"http://" + cutting(t), "server", "later"},
	} {
		n := here()
		if strings.HasPrefix(name, "hung") {
			n.Patience = 300 * time.Millisecond
		}
		expect(t, name, diagnose(t, n, target(c.endpoint)), c.layer, c.fix)
	}
	n := here()
	n.TLS = &tls.Config{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "other.example"}
	expect(t, "another name", diagnose(t, n, target(secure.URL)), "TLS: the certificate is not for other.example", "endpoint")
	n.TLS = &tls.Config{RootCAs: n.TLS.RootCAs, ServerName: "example.com", Time: func() time.Time { return time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC) }}
	expect(t, "out of date", diagnose(t, n, target(secure.URL)), "TLS: the certificate of", "clock")
}

func TestANameThatIsNotKnownIsTheLayerOfNames(t *testing.T) {
	err := fmt.Errorf("get: %w", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "smith.exmaple", IsNotFound: true}})
	f := explain(err, &journey{}, target("https://smith.exmaple"), time.Second)
	if f.layer != "DNS" || !strings.Contains(f.text, "smith.exmaple") || !strings.Contains(f.fix, "config.toml") {
		t.Errorf("%+v", f)
	}
	if f := explain(context.DeadlineExceeded, &journey{}, target("https://x"), time.Second); f.layer != "TCP" || !strings.Contains(f.text, "within 1s") {
		t.Errorf("%+v", f)
	}
}

func TestTheProxyIsBlamedForWhatItDoes(t *testing.T) {
	s := server(t, ingest.Config{})
	by := func(proxy string) Network {
		n := here()
		n.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://" + proxy) }
		return n
	}
	secure := target("https://smith.example")
	expect(t, "dead", diagnose(t, by(freePort(t)), secure), "proxy: no connection to the proxy", "HTTPS_PROXY")
	expect(t, "dead, without TLS", diagnose(t, by(freePort(t)), target("http://smith.example")), "proxy: no connection to the proxy", "check HTTP_PROXY")
	noted := secure
	noted.ProxySource = "installed.toml"
	expect(t, "noted", diagnose(t, by(freePort(t)), noted), "proxy: no connection to the proxy", "check proxy (from installed.toml), or name smith.example in no_proxy")
	impatient := by(hung(t))
	impatient.Patience = 300 * time.Millisecond
	expect(t, "hung", diagnose(t, impatient, secure), "proxy: the proxy", "NO_PROXY")
	expect(t, "login", diagnose(t, by(answering(t, "407 Proxy Authentication Required")), secure), "proxy: the proxy", "USER:PASSWORD")
	expect(t, "forbids", diagnose(t, by(answering(t, "403 Forbidden")), secure), "proxy: the proxy", "allow smith.example")

	working := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Host, r.Host = "", "127.0.0.1"
		s.Handler.ServeHTTP(w, r)
	}))
	defer working.Close()
	var r Report
	r.Deliver(t.Context(), by(strings.TrimPrefix(working.URL, "http://")), target("http://smith.example"), true)
	if r.Problems() > 0 || !strings.Contains(r.Lines[0].Text, "through the proxy") {
		t.Errorf("%+v", r.Lines)
	}
}

func TestAServerThatKeepsTheTestRunWaitingIsNamed(t *testing.T) {
	s := server(t, ingest.Config{Faults: []ingest.Fault{{Kind: ingest.FaultHang, Times: -1}}})
	impatient := here()
	impatient.Patience = 300 * time.Millisecond
	expect(t, "hung", diagnose(t, impatient, target(s.URL())), "the test run was not taken: the server took the request and does not answer", "try again later")
}

func TestAWrongClockIsSeen(t *testing.T) {
	s := server(t, ingest.Config{})
	n := here()
	n.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	wrong := diagnose(t, n, target(s.URL()))
	if len(wrong) != 1 || wrong[0].Check != "clock" {
		t.Errorf("%+v", wrong)
	}
}

// freePort is an address where nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l := listen(t)
	_ = l.Close()
	return l.Addr().String()
}

// hung takes connections and says nothing.
func hung(t *testing.T) string { return serve(t, func(net.Conn) {}) }

// cutting takes connections, and ends them once something was said.
func cutting(t *testing.T) string {
	return serve(t, func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		_ = c.Close()
	})
}

// answering takes connections and gives everybody the same answer.
func answering(t *testing.T, status string) string {
	return serve(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 "+status+"\r\nContent-Length: 0\r\n\r\n")
		}
	})
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func serve(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l := listen(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				break
			}
			if err == nil {
				open = append(open, c)
				talk(c)
			}
		}
		for _, c := range open {
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

func TestProxiesAreShownWithoutTheirPasswords(t *testing.T) {
	env := map[string]string{"HTTPS_PROXY": "http://me:secret@proxy:3128"}
	got := Proxies(func(name string) string { return env[name] })
	if len(got) != 1 || got[0] != "HTTPS_PROXY=http://xxxxx@proxy:3128" {
		t.Errorf("%q", got)
	}
}

// What stands before the @ may be a password, also where the rest is no URL.
func TestAProxyThatIsNoURLIsShownWithoutItsPassword(t *testing.T) {
	r := new(Report)
	at := &url.URL{Scheme: "http", Host: "http:", Path: "//me:secret@proxy:bad"} // as net/http reads http://me:secret@proxy:bad
	r.Deliver(t.Context(), Network{Patience: time.Second, Proxy: http.ProxyURL(at)}, Target{Config: exporter.Config{Endpoint: "https://smith.example"}}, false)
	if text := fmt.Sprint(r.Lines); len(r.Lines) == 0 || strings.Contains(text, "secret") {
		t.Error(text)
	}
}

func TestNothingIsAskedOfAPlaceThatCannotBeSentTo(t *testing.T) {
	for _, bad := range []Target{{Config: exporter.Config{Endpoint: "http://192.0.2.1"}}, {Config: exporter.Config{Endpoint: "https://smith.example"}, Unusable: errors.New("no key")}} {
		r := new(Report)
		r.Deliver(t.Context(), Network{Proxy: func(*http.Request) (*url.URL, error) {
			t.Error("a request was made")
			return nil, nil
		}}, bad, true)
		if r.Problems() != 1 {
			t.Errorf("%+v", r.Lines)
		}
	}
}

// silent swallows what a server says of handshakes that are meant to fail.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
