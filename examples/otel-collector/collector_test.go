//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/road"
	"github.com/tracesmith/tracesmith/runtypes"
)

// asCollector has this program be the collector.
const asCollector = "TRACESMITH_TEST_COLLECTOR"

var program string // the tracesmith binary

func TestMain(m *testing.M) {
	if path := os.Getenv(asCollector); path != "" {
		os.Args = []string{"otel-collector", "--config", path}
		main()
		return
	}
	dir, err := os.MkdirTemp("", "tracesmith-collector-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "tracesmith")
	build := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", program, "./cmd/tracesmith")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// recordings of whole sessions.
var recordings = []string{
	"claude-code/parallel", "claude-code/failing", "claude-code/nested-subagents", "claude-code/tui-esc-stream",
	"claude-code/background-agent", "claude-code/resume-and-fork", "openai-codex/sub_v2", "openai-codex/tui_compact",
	"copilot/background_subagent", "cursor/parallel_subagents",
}

// Hooks record, drainers deliver to LangSmith itself and, over OTLP, to a collector that
// passes the spans on to another LangSmith, which is slow and loses some answers. The
// collector is killed with -9 and started again all the while. In the end both hold the same
// runs, each once.
func TestACollectorThatIsKilledLosesNothingAndDoublesNothing(t *testing.T) {
	faults := []ingest.Fault{{Kind: ingest.FaultLost, Skip: 1}, {Kind: ingest.FaultLost, Skip: 4}, {Kind: ingest.FaultLost, Skip: 7}}
	direct, behind := serve(t), serve(t, append(faults, ingest.Fault{Kind: ingest.FaultSlow, Delay: 100 * time.Millisecond, Times: -1})...)
	c := &collector{t: t, listen: freeAddress(t), langsmith: behind.URL()}
	c.start()
	t.Cleanup(c.kill)
	state := filepath.Join(t.TempDir(), "state")
	stop := c.torment(rand.New(rand.NewPCG(1, 2)))
	var last *road.Drive
	for _, recording := range recordings {
		last = play(t, recording, []string{
			"TRACESMITH_STATE=" + state, "PATH=" + os.Getenv("PATH"),
			"LANGSMITH_ENDPOINT=" + direct.URL(), "LANGSMITH_API_KEY=key",
			"TRACESMITH_OTLP_ENDPOINT=http://" + c.listen, "TRACESMITH_STORE=off",
		})
		_ = last.Deliver(t.Context()) // it may find the collector dead
	}
	stop()
	deliver(t, last)

	want, got := byID(direct.Memory().Runs()), byID(behind.Memory().Runs())
	for id, run := range want {
		other, ok := got[id]
		if !ok {
			t.Errorf("%s %q did not come through the collector", id, run.Name)
			continue
		}
		if diff := cmp.Diff(plain(run), plain(other)); diff != "" {
			t.Errorf("%s %q:\n%s", id, run.Name, diff)
		}
	}
	counts, stats := behind.Memory().Counts(), behind.Stats()
	if len(got) != len(want) || counts.Again > 0 || counts.Posts != len(want) || len(want) < 100 {
		t.Errorf("%d runs directly, %d by the collector, %+v", len(want), len(got), counts)
	}
	if c.kills < 5 || stats.Known == 0 {
		t.Errorf("the collector was killed %d times, and %d spans came again: too few to show anything", c.kills, stats.Known)
	}
	t.Logf("%d runs; the collector was killed %d times; %d requests reached LangSmith, in which %d spans came again",
		len(got), c.kills, stats.Requests, stats.Known)
}

// What LangSmith answers comes through the collector, but for 413 and 422, which its exporter
// makes 500s of: a drainer takes them for "later" until one run alone is known to cause them.
func TestWhatLangSmithAnswersComesThrough(t *testing.T) {
	behind := serve(t)
	c := &collector{t: t, listen: freeAddress(t), langsmith: behind.URL()}
	c.start()
	defer c.kill()
	for langsmith, want := range map[int]int{
		400: 400, 401: 401, 403: 403, 404: 404, 413: 500, 422: 500, 429: 429, 500: 500, 503: 503,
	} {
		behind.Script(ingest.Fault{Status: langsmith})
		answer, err := http.Post("http://"+c.listen+"/v1/traces", "application/x-protobuf", bytes.NewReader(oneSpan(t)))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d comes through as %d, not as %d", langsmith, answer.StatusCode, want)
		}
	}
}

func oneSpan(t *testing.T) []byte {
	t.Helper()
	traces := ptrace.NewTraces()
	traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("span")
	body, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// A key that LangSmith refuses behind the collector keeps everything where it is.
func TestARefusedKeyBehindACollectorLosesNothing(t *testing.T) {
	behind, err := ingest.Start(ingest.Config{Key: "another"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer behind.Close(context.Background())
	c := &collector{t: t, listen: freeAddress(t), langsmith: behind.URL()}
	c.start()
	defer c.kill()
	env := []string{
		"TRACESMITH_STATE=" + filepath.Join(t.TempDir(), "state"), "PATH=" + os.Getenv("PATH"),
		"TRACESMITH_OTLP_ENDPOINT=http://" + c.listen, "TRACESMITH_STORE=off", "TRACESMITH_UPLOAD=off",
	}
	drive := play(t, "claude-code/parallel", env)
	if err := drive.Deliver(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("the key that LangSmith refuses: %v", err)
	}
	c.kill()
	right := serve(t)
	c.langsmith = right.URL()
	c.start()
	deliver(t, drive)
	if runs := right.Memory().Runs(); len(runs) == 0 || len(behind.Memory().Runs()) > 0 {
		t.Errorf("%d runs arrived", len(runs))
	}
}

// plain is a run without what a span does not say, or says otherwise: see package otlp.
func plain(w runtypes.Wire) (rest struct {
	Run  runtypes.Wire
	Meta map[string]any
}) {
	rest.Meta = w.Metadata()
	for key, value := range rest.Meta {
		switch value.(type) {
		case []any, map[string]any:
			if raw, err := runtypes.Marshal(value); err == nil && key != "usage_metadata" {
				rest.Meta[key] = string(raw)
			}
		}
	}
	w.Extra, w.Events = nil, nil
	rest.Run = w
	return rest
}

func byID(runs []runtypes.Wire) map[string]runtypes.Wire {
	m := map[string]runtypes.Wire{}
	for _, run := range runs {
		m[run.ID] = run
	}
	return m
}

func serve(t *testing.T, faults ...ingest.Fault) *ingest.Server {
	t.Helper()
	s, err := ingest.Start(ingest.Config{Key: "key", Faults: faults}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// play runs the hooks of a recorded session.
func play(t *testing.T, recording string, env []string) *road.Drive {
	t.Helper()
	name, recorded, _ := strings.Cut(recording, "/")
	agent, ok := agents.Find(name)
	if !ok {
		t.Fatalf("no agent is named %s", name)
	}
	rec, err := replay.Load(filepath.Join("..", "..", "integrations", name, "testdata", recorded))
	if err != nil {
		t.Fatal(err)
	}
	stage, err := rec.Stage(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d := &road.Drive{Program: program, Agent: agent, Stage: stage, Env: env}
	d.Host = func(cmd *exec.Cmd, _ func(*os.Process)) ([]byte, error) {
		return agent.Reply, cmd.Run() // a session's start may say that deliveries fail
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// deliver delivers what is left.
func deliver(t *testing.T, d *road.Drive) {
	t.Helper()
	var err error
	for range 5 {
		if err = d.Deliver(t.Context()); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// collector is one in a process of its own.
type collector struct {
	t                 *testing.T
	listen, langsmith string
	process           *exec.Cmd
	kills             int
}

func (c *collector) start() {
	c.t.Helper()
	c.process = exec.Command(os.Args[0])
	c.process.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OTEL_") }),
		asCollector+"=config.yaml", "OTLP_LISTEN="+c.listen, "LANGSMITH_ENDPOINT="+c.langsmith, "LANGSMITH_API_KEY=key")
	var said bytes.Buffer
	c.process.Stdout, c.process.Stderr = &said, &said
	if err := c.process.Start(); err != nil {
		c.t.Error(err)
		return
	}
	for range 200 {
		if answer, err := http.Get("http://" + c.listen); err == nil {
			_ = answer.Body.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.kill() // its output is whole then
	c.t.Errorf("the collector does not listen: %s", said.Bytes())
}

func (c *collector) kill() {
	if c.process.ProcessState == nil {
		_ = c.process.Process.Kill()
		_ = c.process.Wait()
	}
}

// torment kills the collector again and again, and starts it anew after a while, until it is
// told to stop; then it is up.
func (c *collector) torment(dice *rand.Rand) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Duration(dice.IntN(400)) * time.Millisecond):
			}
			c.kill()
			c.kills++
			time.Sleep(time.Duration(dice.IntN(300)) * time.Millisecond)
			c.start()
		}
	})
	stop = sync.OnceFunc(func() { close(done); wg.Wait() })
	c.t.Cleanup(stop)
	return stop
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
