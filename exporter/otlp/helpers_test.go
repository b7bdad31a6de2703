package otlp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

var (
	someTime = time.Date(2026, 11, 30, 4, 5, 6, 7000, time.UTC)
	someone  = runtypes.Identity{
		Integration: "claude-code", Runtime: "Claude Code", RuntimeVersion: "1.0.28",
		ThreadID: "thread", TurnID: "turn", TurnNumber: 3,
	}
)

// turn is a root run with a model call and a tool call below it, n telling it from others.
func turn(n int) (root, llm, tool *runtypes.Run) {
	id := func(kind string) [2]string { return [2]string{kind, fmt.Sprint(n)} }
	key := func(kind string) []string { k := id(kind); return k[:] }
	root = runtypes.Root(idgen.Run(someTime, key("root")...), someTime, someone)
	root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: "How many files?"})
	llm = runtypes.LLM(root, idgen.Run(someTime, key("llm")...), someTime.Add(time.Millisecond), runtypes.Model{
		Name: "claude-opus-4-5", Provider: "anthropic", InvocationParams: map[string]any{"temperature": 0.5, "max_tokens": 1024},
	})
	llm.Inputs = root.Inputs
	llm.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: "Let me see."})
	llm.Usage = &runtypes.Usage{Input: 100, Output: 20, CacheRead: 60, Ephemeral5m: 10, Reasoning: 5}
	llm.Metadata = map[string]any{"stop_reason": "tool_use", "more": []string{"a", "b"}, "part": 0.25}
	llm.Events = []runtypes.RunEvent{{Name: "new_token", Time: someTime.Add(2 * time.Millisecond), Data: map[string]any{"n": 1}}}
	runtypes.Finish(llm, someTime.Add(time.Second))
	tool = runtypes.Tool(root, idgen.Run(someTime, key("tool")...), someTime.Add(time.Second), "bash")
	tool.Inputs, tool.Outputs = json.RawMessage(`{"command":"ls"}`), json.RawMessage(`{"output":"3"}`)
	tool.Metadata = map[string]any{"tool_call_id": "call_1"}
	runtypes.Finish(tool, someTime.Add(2*time.Second))
	return root, llm, tool
}

// ended is what the patch of a root says: its post has the inputs.
func ended(root *runtypes.Run) *runtypes.Run {
	r := *root
	r.Inputs, r.Outputs = nil, json.RawMessage(`{"output":"Three."}`)
	return runtypes.Finish(&r, someTime.Add(3*time.Second))
}

func post(r *runtypes.Run) runtypes.Op  { return runtypes.Op{Verb: runtypes.Post, Run: r} }
func patch(r *runtypes.Run) runtypes.Op { return runtypes.Op{Verb: runtypes.Patch, Run: r} }

// serve starts a server that takes spans as LangSmith does.
func serve(t *testing.T, cfg ingest.Config) *ingest.Server {
	t.Helper()
	s, err := ingest.Start(cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return s
}

// drops records what OnDrop is told.
type drops struct {
	mu      sync.Mutex
	ops     []runtypes.Op
	unnamed int
	why     []*exporter.DropError
}

func (d *drops) add(ops []runtypes.Op, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	drop := why.(*exporter.DropError)
	d.ops, d.why, d.unnamed = append(d.ops, ops...), append(d.why, drop), d.unnamed+drop.Unnamed
}

func config(endpoint string, d *drops) exporter.Config {
	cfg := exporter.Config{Endpoint: endpoint, Redact: exporter.NoRedaction, MaxElapsed: time.Minute}
	if d != nil {
		cfg.OnDrop = d.add
	}
	return cfg
}

func client(t *testing.T, cfg exporter.Config) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func export(t *testing.T, c *Client, ops ...runtypes.Op) {
	t.Helper()
	if rest, err := c.Export(t.Context(), ops); err != nil || len(rest) > 0 {
		t.Fatalf("%d left: %v", len(rest), err)
	}
}

// scripted answers requests one after the other; the last answer stays.
type scripted struct {
	mu      sync.Mutex
	answers []func(w http.ResponseWriter, spans int)
	spans   []int // of each request
	header  []http.Header
	bodies  []*tracepb.TracesData
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw := make([]byte, r.ContentLength)
	for n := 0; n < len(raw); {
		m, err := r.Body.Read(raw[n:])
		if n += m; err != nil {
			break
		}
	}
	plain, _ := ingest.Plain(r.Header, raw, ingest.Limits{})
	var data tracepb.TracesData
	if err := proto.Unmarshal(plain, &data); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	n := len(spansOf(&data))
	s.spans, s.header, s.bodies = append(s.spans, n), append(s.header, r.Header), append(s.bodies, &data)
	answer := s.answers[min(len(s.spans), len(s.answers))-1]
	answer(w, n)
}

func spansOf(data *tracepb.TracesData) (list []*tracepb.Span) {
	for _, resource := range data.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			list = append(list, scope.GetSpans()...)
		}
	}
	return list
}

// status answers with one.
func status(code int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, _ int) { w.WriteHeader(code) }
}

// refusing takes all spans of a request but n.
func refusing(n byte) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, _ int) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write([]byte{0x0a, 0x04, 0x08, n, 0x12, 0x00}) // partial_success { rejected_spans: n, error_message: "" }
	}
}
