package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A root and its child, as parts hold them.
const (
	rootID  = "019ad3a0-0000-7000-8000-000000000001"
	childID = "019ad3a0-0000-7000-8000-000000000002"

	rootOrder  = "20261130T120000000001Z" + rootID
	childOrder = rootOrder + ".20261130T120001000002Z" + childID

	rootRun = `{"id":"` + rootID + `","trace_id":"` + rootID + `","dotted_order":"` + rootOrder +
		`","name":"Turn","run_type":"chain","start_time":"2026-11-30T12:00:00.000001Z","session_name":"p"}`
	childRun = `{"id":"` + childID + `","trace_id":"` + rootID + `","parent_run_id":"` + rootID +
		`","dotted_order":"` + childOrder + `","name":"Bash","run_type":"tool","start_time":"2026-11-30T12:00:01.000002Z"}`
	rootEnd = `{"id":"` + rootID + `","trace_id":"` + rootID + `","dotted_order":"` + rootOrder +
		`","end_time":"2026-11-30T12:00:09.000000Z"}`

	boundary  = "XBOUNDARYX"
	multipart = "multipart/form-data; boundary=" + boundary
)

// part is one part of a multipart body. headers replaces the usual ones.
type part struct {
	name, body string
	headers    string
}

// form writes parts as a client would.
func form(parts ...part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.headers == "" {
			p.headers = fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(p.body))
		}
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q\r\n%s\r\n%s\r\n", boundary, p.name, p.headers, p.body)
	}
	return b.String() + "--" + boundary + "--\r\n"
}

func post(id, body string) part  { return part{name: "post." + id, body: body} }
func patch(id, body string) part { return part{name: "patch." + id, body: body} }

// start starts a server that ends with the test.
func start(t *testing.T, cfg ingest.Config) *ingest.Server {
	t.Helper()
	s, err := ingest.Start(cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// request is one request of a test.
type request struct {
	method, path string // POST /runs/multipart
	body         string
	header       map[string]string
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends r on a connection of its own.
func send(t *testing.T, s *ingest.Server, r request) (answer, error) {
	t.Helper()
	if r.method == "" {
		r.method = http.MethodPost
	}
	if r.path == "" {
		r.path = "/runs/multipart"
	}
	req, err := http.NewRequestWithContext(t.Context(), r.method, s.URL()+r.path, bytes.NewReader([]byte(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	if r.path == "/runs/multipart" {
		req.Header.Set("Content-Type", multipart)
	}
	for key, value := range r.header {
		req.Header.Set(key, value)
		if key == "Host" {
			req.Host = value
		}
	}
	res, err := (&http.Transport{}).RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(body)}, err
}

// want sends r and checks the status.
func want(t *testing.T, s *ingest.Server, status int, r request) answer {
	t.Helper()
	a, err := send(t, s, r)
	if err != nil || a.status != status {
		t.Fatalf("%s %s: %d %s %v, want %d", r.method, r.path, a.status, a.body, err, status)
	}
	return a
}
