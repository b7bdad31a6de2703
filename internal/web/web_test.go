package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/web"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// token is what the page's own requests show.
const token = "a-token-of-the-tests"

// client is a page that is let in.
type client struct {
	http *http.Client
	base string
}

func newPage(tb testing.TB, server *web.Server) *client {
	tb.Helper()
	base, _, _ := strings.Cut(server.URL(), "/?")
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	return &client{&http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, base}
}

// request is one of the page's, to be changed before it is sent.
func (c *client) request(tb testing.TB, path string) *http.Request {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, c.base+path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// do sends a request, and wants a status.
func (c *client) do(tb testing.TB, r *http.Request, status int) (body string, header http.Header) {
	tb.Helper()
	answer, err := c.http.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}
	if answer.StatusCode != status {
		tb.Fatalf("%s: %d, want %d: %.300s", r.URL, answer.StatusCode, status, text)
	}
	return string(text), answer.Header
}

func (c *client) get(tb testing.TB, path string, status int) string {
	tb.Helper()
	body, _ := c.do(tb, c.request(tb, path), status)
	return body
}

// ask reads an answer of JSON.
func (c *client) ask(tb testing.TB, path string) map[string]any {
	tb.Helper()
	var v map[string]any
	if text := c.get(tb, path, http.StatusOK); json.Unmarshal([]byte(text), &v) != nil {
		tb.Fatalf("%s: no JSON: %.200s", path, text)
	}
	return v
}

// list asks for a list by its name.
func (c *client) list(tb testing.TB, name, query string) []map[string]any {
	tb.Helper()
	all, ok := c.ask(tb, "/api/"+name+query)[name].([]any)
	if !ok {
		tb.Fatalf("no %s", name)
	}
	out := make([]map[string]any, len(all))
	for i := range all {
		out[i], _ = all[i].(map[string]any)
	}
	return out
}

// world is a page on a store of its own.
type world struct {
	*client
	store  *store.Store
	server *web.Server
}

func newWorld(t *testing.T, cfg web.Config) *world {
	t.Helper()
	runs, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "store", "runs.db")})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store, cfg.Token = runs, token
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	server, err := web.Start(cfg, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		if err := runs.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{newPage(t, server), runs, server}
}

func (w *world) put(t *testing.T, verb runtypes.Verb, runs ...*runtypes.Run) {
	t.Helper()
	var ops []runtypes.Op
	for _, run := range runs {
		ops = append(ops, runtypes.Op{Verb: verb, Run: run})
	}
	if rest, err := w.store.Export(t.Context(), ops); err != nil || len(rest) > 0 {
		t.Fatal(len(rest), err)
	}
}

// turn is a whole turn: a root with a model call and a tool that failed.
func turn(thread string, n int, at time.Time, prompt string) (root, llm, tool *runtypes.Run) {
	who := runtypes.Identity{
		Integration: "claude-code", Runtime: "Claude Code", RuntimeVersion: "2.1.332", ThreadID: thread, TurnNumber: n,
		TurnID: thread + string(rune('0'+n)), WorkingDirectory: "/home/dev/widgets", Repo: runtypes.Repo{URL: "https://github.com/a/b", Branch: "main"},
	}
	id := func(kind string) []string { return []string{thread, who.TurnID, kind} }
	root = runtypes.Root(idgen.Run(at, id("root")...), at, who)
	root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: prompt})
	llm = runtypes.LLM(root, idgen.Run(at, id("llm")...), at.Add(time.Second), runtypes.Model{Name: "claude-opus-4-5", Provider: "anthropic"})
	llm.Inputs, llm.Outputs = root.Inputs, runtypes.Messages(runtypes.Message{Role: "assistant", Content: "done"})
	llm.Usage = &runtypes.Usage{Input: 100, Output: 20, CacheRead: 60}
	llm.Events = []runtypes.RunEvent{{Name: "new_token", Time: at.Add(1500 * time.Millisecond)}}
	tool = runtypes.Tool(root, idgen.Run(at, id("tool")...), at.Add(2*time.Second), "Bash")
	tool.Inputs = []byte(`{"command":"make test"}`)
	tool.Metadata = map[string]any{"permission_wait_ms": 700}
	runtypes.Finish(llm, at.Add(2*time.Second))
	runtypes.Finish(tool, at.Add(3*time.Second)).Error = "exit status 1"
	runtypes.Finish(root, at.Add(4*time.Second))
	return root, llm, tool
}

// put stores a whole turn and returns its id.
func (w *world) turn(t *testing.T, thread string, n int, at time.Time, prompt string) string {
	t.Helper()
	root, llm, tool := turn(thread, n, at, prompt)
	w.put(t, runtypes.Post, root, llm, tool)
	return root.ID.String()
}

// with is a path with parameters.
func with(path string, params ...string) string {
	v := url.Values{}
	for i := 0; i < len(params); i += 2 {
		v.Set(params[i], params[i+1])
	}
	return path + "?" + v.Encode()
}

// A browser that learns of each module from the one before asks for them one after the
// other.
func TestThePageNamesItsModulesAtOnce(t *testing.T) {
	w := newWorld(t, web.Config{})
	index := w.get(t, "/", http.StatusOK)
	files, err := filepath.Glob(filepath.Join("static", "*.js"))
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "main.js" || name == "theme.js" {
			continue
		}
		if !strings.Contains(index, `<link rel="modulepreload" href="`+name+`">`) {
			t.Errorf("%s is not among the modules that index.html names", name)
		}
	}
	if n := strings.Count(index, "modulepreload"); n != len(files)-2 {
		t.Errorf("%d modules are named, there are %d", n, len(files)-2)
	}
}
