package spool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/runtypes"
)

const (
	childDir = "TRACESMITH_TEST_SPOOL"
	childURL = "TRACESMITH_TEST_URL"
)

// child is the process that is killed: it submits runs for ever, and says which of
// them the Batcher has taken. It reports whether this process is one.
func child() bool {
	dir, url := os.Getenv(childDir), os.Getenv(childURL)
	if dir == "" {
		return false
	}
	b, done, err := batcher(dir, url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer done()
	for {
		root := runtypes.Root(uuid.Must(uuid.NewV7()), time.Now(), runtypes.Identity{})
		root.Inputs = json.RawMessage(`{"prompt":"go on"}`)
		first := *root
		root.Outputs = json.RawMessage(`{"answer":"done"}`)
		runtypes.Finish(root, time.Now())
		if b.Submit(runtypes.Op{Verb: runtypes.Post, Run: &first}) == nil &&
			b.Submit(runtypes.Op{Verb: runtypes.Patch, Run: root}) == nil {
			fmt.Println(root.ID)
		}
	}
}

func batcher(dir, url string) (*exporter.Batcher, func() error, error) {
	s, err := Open(Config{Dir: dir})
	if err != nil {
		return nil, nil, err
	}
	b, err := exporter.New(exporter.Config{Endpoint: url, Spool: s, Interval: 10 * time.Millisecond})
	return b, s.Close, err
}

// arrivals is a server that stores runs as LangSmith does: each write once, 409 to
// a request as soon as one of its writes is known.
type arrivals struct {
	mu     sync.Mutex
	writes map[string]int // "post ID"
	ended  map[string]bool
	down   bool
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.URL.Path != "/runs/multipart" || a.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	writes, ended := parts(r)
	for _, name := range writes {
		if a.writes[name] > 0 {
			w.WriteHeader(http.StatusConflict)
			return
		}
	}
	for _, name := range writes {
		a.writes[name]++
	}
	for _, id := range ended {
		a.ended[id] = true
	}
	w.WriteHeader(http.StatusAccepted)
}

func parts(r *http.Request) (writes, ended []string) {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	reader := multipart.NewReader(r.Body, params["boundary"])
	for {
		p, err := reader.NextRawPart()
		if err != nil {
			return writes, ended
		}
		name := strings.Split(p.FormName(), ".")
		if len(name) != 2 {
			continue
		}
		writes = append(writes, name[0]+" "+name[1])
		if body, _ := io.ReadAll(p); strings.Contains(string(body), `"end_time"`) {
			ended = append(ended, name[1])
		}
	}
}

func TestWhatSubmitAcceptedSurvivesKills(t *testing.T) {
	server := &arrivals{writes: map[string]int{}, ended: map[string]bool{}}
	ts := httptest.NewServer(server)
	defer ts.Close()
	dir := t.TempDir()
	var accepted []string
	for round := range 4 {
		server.mu.Lock()
		server.down = round%2 == 0
		server.mu.Unlock()
		accepted = append(accepted, killed(t, dir, ts.URL, 200)...)
	}
	server.mu.Lock()
	server.down = false
	server.mu.Unlock()

	b, done, err := batcher(dir, ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if err := b.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	lost := 0
	for _, id := range accepted {
		if server.writes["post "+id] == 0 || !server.ended[id] {
			lost++
		}
	}
	for name, n := range server.writes {
		if n > 1 {
			t.Errorf("%s arrived %d times", name, n)
		}
	}
	if lost > 0 || len(accepted) < 800 {
		t.Errorf("%d of %d runs lost", lost, len(accepted))
	}
	if got := files(t, dir); len(got) > 1 {
		t.Errorf("left behind: %q", got)
	}
}

// killed starts a child, kills it when it has submitted n runs, and returns the
// ids that it said were taken.
func killed(t *testing.T, dir, url string, n int) (ids []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childURL+"="+url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if id, err := uuid.Parse(lines.Text()); err == nil {
			ids = append(ids, id.String())
		}
		if len(ids) == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	return ids
}

func TestAnOutageIsWaitedOut(t *testing.T) {
	server := &arrivals{writes: map[string]int{}, ended: map[string]bool{}, down: true}
	ts := httptest.NewServer(server)
	defer ts.Close()
	dir := t.TempDir()
	b, done, err := batcher(dir, ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	run := runtypes.Root(uuid.Must(uuid.NewV7()), time.Now(), runtypes.Identity{})
	if err := b.Submit(runtypes.Op{Verb: runtypes.Post, Run: run}); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := b.Shutdown(soon); err == nil {
		t.Error("delivered to a server that is down")
	}
	if got := b.Stats(); len(got.Dropped) > 0 || got.Queued > 0 {
		t.Errorf("%+v", got)
	}
	if err := done(); err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	server.down = false
	server.mu.Unlock()
	if b, done, err = batcher(dir, ts.URL); err != nil {
		t.Fatal(err)
	}
	defer done()
	if err := b.Shutdown(t.Context()); err != nil || server.writes["post "+run.ID.String()] != 1 {
		t.Errorf("%v, %v", server.writes, err)
	}
}
