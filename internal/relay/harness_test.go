package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

const ownKey = "lsv2_pt_own"

// The test program is the relay that is killed, and a client that ends.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("RELAY_STATE") != "":
		serveAsChild()
	case os.Getenv("RELAY_CLIENT") != "":
		postAsChild()
	default:
		goleak.VerifyTestMain(m)
	}
}

func serveAsChild() {
	r, err := start(os.Getenv("RELAY_STATE"), os.Getenv("RELAY_LISTEN"), os.Getenv("RELAY_UPSTREAM"))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.URL())
	_ = r.Wait(context.Background())
}

func postAsChild() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	if status, err := postBody(os.Getenv("RELAY_CLIENT"), os.Getenv("RELAY_TOKEN"), body); err != nil || status != http.StatusAccepted {
		panic(fmt.Sprint(status, err))
	}
}

// running is a relay with what it delivers by.
type running struct {
	*Relay
	client *exporter.Client
}

func (r *running) Close(ctx context.Context) error {
	return errors.Join(r.Relay.Close(ctx), r.client.Close())
}

// start starts a relay whose one destination is a LangSmith at upstream.
func start(dir, listen, upstream string) (*running, error) {
	state, err := journal.Open(dir)
	if err != nil {
		return nil, err
	}
	client, err := exporter.NewClient(exporter.Config{Endpoint: upstream, APIKey: ownKey, MaxElapsed: time.Second, Redact: exporter.NoRedaction})
	if err != nil {
		return nil, err
	}
	r, err := Start(Config{
		Drain: drain.Config{
			State: state, Redact: redact.Run, Insist: true, Grace: time.Millisecond,
			Destinations: []drain.Destination{{ID: "langsmith-test", Name: "test", Export: client.Deliver, Past: true}},
		},
		Rules:  func(string) Rules { return Rules{} },
		Listen: listen, Upstream: upstream, Key: ownKey,
		Who:    Credentials{APIKey: ownKey, WorkspaceID: "workspace"},
		Settle: 150 * time.Millisecond, Sweep: 50 * time.Millisecond,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &running{r, client}, nil
}

// bench is a relay and the LangSmith behind it.
type bench struct {
	t         *testing.T
	dir       string
	token     string
	langsmith *ingest.Server
	relay     *running
	url       string
}

func newBench(t *testing.T, cfg ingest.Config) *bench {
	t.Helper()
	langsmith, err := ingest.Start(cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, langsmith.Close) })
	b := &bench{t: t, dir: filepath.Join(t.TempDir(), "state", "v1"), langsmith: langsmith}
	return b
}

func (b *bench) start() *bench {
	b.t.Helper()
	r, err := start(b.dir, "127.0.0.1:0", b.langsmith.URL())
	if err != nil {
		b.t.Fatal(err)
	}
	b.relay, b.url = r, r.URL()
	b.t.Cleanup(func() { b.stop() })
	b.readToken()
	return b
}

func (b *bench) readToken() {
	b.t.Helper()
	token, err := Token(Dir(b.dir))
	if err != nil {
		b.t.Fatal(err)
	}
	b.token = token
}

func (b *bench) stop() {
	b.t.Helper()
	if b.relay != nil {
		closing(b.t, b.relay.Close)
		b.relay = nil
	}
}

func closing(t *testing.T, end func(context.Context) error) {
	t.Helper()
	// A server gives a connection that never asked anything five seconds.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	http.DefaultClient.CloseIdleConnections()
	if err := end(ctx); err != nil {
		t.Error(err)
	}
}

// spawn starts the relay as a process of its own.
func (b *bench) spawn() *exec.Cmd {
	b.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "RELAY_STATE="+b.dir, "RELAY_LISTEN="+addr, "RELAY_UPSTREAM="+b.langsmith.URL())
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.t.Fatal(err)
	}
	b.url = strings.TrimSpace(line)
	b.readToken()
	return child
}

// write is one native write, as its JSON.
type native struct {
	verb runtypes.Verb
	run  map[string]any
}

func fixture(t testing.TB, name string) []native {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "native", name+".runs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var list []native
	for line := range bytes.Lines(raw) {
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		var run map[string]any
		if err := dec.Decode(&run); err != nil {
			t.Fatal(err)
		}
		list = append(list, native{runtypes.Post, run})
	}
	return list
}

// halves makes of each whole post a post at its start and a patch at its end, in the
// order that a client sends them in.
func halves(list []native) []native {
	var out []native
	var open []native
	flush := func(order string) {
		for len(open) > 0 && !strings.HasPrefix(order, open[len(open)-1].run["dotted_order"].(string)+".") {
			out, open = append(out, open[len(open)-1]), open[:len(open)-1]
		}
	}
	for _, each := range list {
		post, patch := map[string]any{}, map[string]any{}
		for key, value := range each.run {
			switch key {
			case "outputs", "end_time", "error", "events":
				patch[key] = value
			case "inputs":
				post[key] = value
			default:
				post[key], patch[key] = value, value
			}
		}
		flush(each.run["dotted_order"].(string))
		out = append(out, native{runtypes.Post, post})
		open = append(open, native{runtypes.Patch, patch})
	}
	flush("")
	return out
}

func batchOf(list []native) []byte {
	body := map[string][]any{}
	for _, each := range list {
		body[string(each.verb)] = append(body[string(each.verb)], each.run)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return raw
}

// multipartOf is the same writes as LangSmith's clients send them.
func multipartOf(list []native) (body []byte, contentType string) {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	part := func(name string, value any) {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		to, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="` + name + `"`},
			"Content-Type":        {"application/json; length=" + strconv.Itoa(len(raw))},
		})
		if err != nil {
			panic(err)
		}
		_, _ = to.Write(raw)
	}
	for _, each := range list {
		id := each.run["id"].(string)
		main := map[string]any{}
		for key, value := range each.run {
			main[key] = value
		}
		var parts []string
		for _, field := range []string{"inputs", "outputs", "events", "extra", "error", "serialized"} {
			if _, there := main[field]; there {
				parts = append(parts, field)
				delete(main, field)
			}
		}
		part(string(each.verb)+"."+id, main)
		for _, field := range parts {
			part(string(each.verb)+"."+id+"."+field, each.run[field])
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes(), w.FormDataContentType()
}

func postBody(url, key string, body []byte) (status int, err error) {
	req, err := http.NewRequest(http.MethodPost, url+"/runs/batch", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// post sends writes to the relay with its token.
func (b *bench) post(list ...native) {
	b.t.Helper()
	if status, err := postBody(b.url, b.token, batchOf(list)); err != nil || status != http.StatusAccepted {
		b.t.Fatalf("post: %d, %v", status, err)
	}
}

// await waits until LangSmith has what is wanted of it.
func (b *bench) await(what string, there func([]runtypes.Wire) bool) []runtypes.Wire {
	b.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for {
		runs := b.langsmith.Memory().Runs()
		if there(runs) {
			return runs
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("LangSmith never had %s: %s", what, outline(runs))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// whole reports whether there are n turns, and all of them and what is in them ended.
func whole(n int) func([]runtypes.Wire) bool {
	return func(runs []runtypes.Wire) bool {
		roots := 0
		for _, w := range runs {
			if w.EndTime == "" {
				return false
			}
			if w.ParentRunID == "" {
				roots++
			}
		}
		return roots == n
	}
}

// outline is a tree of runs, one a line.
func outline(runs []runtypes.Wire) string {
	var out strings.Builder
	for _, w := range runs {
		end := ""
		if w.EndTime == "" {
			end = " (open)"
		}
		if w.Error != "" {
			first, _, _ := strings.Cut(w.Error, "\n")
			end += " error: " + first
		}
		fmt.Fprintf(&out, "%s%s %s%s\n", strings.Repeat("  ", strings.Count(w.DottedOrder, ".")), w.Kind(), w.Name, end)
	}
	return out.String()
}

func check(t *testing.T, runs []runtypes.Wire) {
	t.Helper()
	for _, v := range runtypes.ValidateWire(runs) {
		t.Error(v)
	}
	for _, w := range runs {
		if _, counted := w.Metadata()["usage_metadata"]; counted && w.RunType != "llm" {
			t.Errorf("%s has usage", w.Name)
		}
	}
}
