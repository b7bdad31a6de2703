//go:build linux

package road

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/integrations/cursor"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

var program string

func TestMain(m *testing.M) {
	if os.Getenv(hostVariable) != "" {
		host()
		return
	}
	dir, err := os.MkdirTemp("", "tracesmith-road-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "tracesmith")
	build := exec.Command("go", "build", "-o", program, "../../cmd/tracesmith")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// journey is a recorded session on its way to a server.
type journey struct {
	t      *testing.T
	drive  *Drive
	server *ingest.Server
	spans  *ingest.Server // another, which gets spans; nil: none does
	state  string
	agent  *exec.Cmd // plays the agent's process
}

// begin lays a recording out and starts a server and an agent's process. Another
// agent's recordings than Claude Code's are named with the agent: openai-codex/tools.
func begin(t *testing.T, recording string, faults []ingest.Fault) *journey {
	t.Helper()
	name, recorded, other := strings.Cut(recording, "/")
	if !other {
		name, recorded = claudecode.Name, recording
	}
	recorder, ok := agents.Find(name)
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
	server := listen(t, faults)
	agent := exec.Command("sleep", "3600")
	if name == cursor.Name { // which is known as the process that calls the hook, and by nothing else
		agent = exec.Command(os.Args[0])
		agent.Env = append(os.Environ(), hostVariable+"=1")
	}
	caller := newCaller(t, agent)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill() })
	j := &journey{t: t, server: server, state: filepath.Join(t.TempDir(), "state"), agent: agent}
	j.drive = &Drive{
		Program: program, Agent: recorder, Stage: stage, PID: agent.Process.Pid,
		Env: []string{
			"TRACESMITH_STATE=" + j.state, "LANGSMITH_ENDPOINT=" + server.URL(), "LANGSMITH_API_KEY=key",
			"PATH=" + os.Getenv("PATH"),
		},
	}
	if name == cursor.Name {
		j.drive.Host = caller.run
	}
	return j
}

// doubled has the session's runs go to another server as spans, too.
func (j *journey) doubled(faults []ingest.Fault) *journey {
	j.t.Helper()
	j.spans = listen(j.t, faults)
	return j.with("TRACESMITH_OTLP_ENDPOINT="+j.spans.URL()+"/otel", "TRACESMITH_OTLP_HEADERS=x-api-key=key")
}

func listen(t *testing.T, faults []ingest.Fault) *ingest.Server {
	t.Helper()
	server, err := ingest.Start(ingest.Config{Key: "key", Faults: faults}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Close(ctx)
	})
	return server
}

// run plays the session; the agent's process is gone in the end.
func (j *journey) run() {
	j.t.Helper()
	if err := j.drive.Run(j.t.Context()); err != nil {
		j.t.Fatal(err)
	}
	if err := j.agent.Process.Kill(); err != nil {
		j.t.Fatal(err)
	}
	_ = j.agent.Wait()
}

func (j *journey) deliver() {
	j.t.Helper()
	if err := j.drive.Deliver(j.t.Context()); err != nil {
		j.t.Fatal(err)
	}
}

// expected replays what hooks left in the journal.
func (j *journey) expected() []runtypes.Wire {
	j.t.Helper()
	dir, err := journal.DefaultDir(func(string) string { return j.state })
	if err != nil {
		j.t.Fatal(err)
	}
	state, err := journal.Open(dir)
	if err != nil {
		j.t.Fatal(err)
	}
	sessions, err := state.Sessions()
	if err != nil {
		j.t.Fatal(err)
	}
	var entries []journal.Entry
	for _, s := range sessions {
		sizes, err := s.Sizes()
		if err != nil {
			j.t.Fatal(err)
		}
		for record, err := range s.Read(journal.Positions{}, sizes) {
			if err != nil {
				j.t.Fatal(err)
			}
			if !record.Bad {
				entries = append(entries, record.Entry)
			}
		}
	}
	if len(entries) == 0 {
		j.t.Fatal("no hook reached the journal")
	}
	res, err := j.drive.Stage.Entries(j.drive.Agent, entries)
	if err != nil {
		j.t.Fatal(err)
	}
	return res.Runs
}

// compare holds what the server has against the replay.
func (j *journey) compare(want []runtypes.Wire) {
	j.t.Helper()
	got := j.server.Memory().Runs()
	for i := range got {
		if got[i].EndTime == "" {
			j.t.Errorf("%s run %s is left open", got[i].Name, got[i].ID)
		}
		got[i].SessionName = "" // the exporter's
		got[i].Extra = withoutLevel(j.t, got[i].Extra)
	}
	if diff := cmp.Diff(lines(j.t, want), lines(j.t, got)); diff != "" {
		j.t.Errorf("the server holds something else than the replay (-replay +server):\n%s", diff)
	}
	if counts := j.server.Memory().Counts(); counts.Posts != len(want) {
		j.t.Errorf("%d posts for %d runs", counts.Posts, len(want))
	}
	if orphans := j.server.Memory().Orphans(); len(orphans) > 0 {
		j.t.Errorf("patches without a post: %v", orphans)
	}
	for _, v := range runtypes.ValidateWire(got) {
		j.t.Error(v)
	}
	if j.spans == nil {
		return
	}
	if diff := cmp.Diff(outlines(want), outlines(j.spans.Memory().Runs())); diff != "" {
		j.t.Errorf("other runs came as spans (-replay +spans):\n%s", diff)
	}
}

// outlines are what of runs a span cannot change.
func outlines(runs []runtypes.Wire) (list []string) {
	for _, run := range runs {
		list = append(list, fmt.Sprintln(run.DottedOrder, run.Name, run.EndTime, run.Error, string(run.Inputs), string(run.Outputs)))
	}
	slices.Sort(list)
	return list
}

// lines prints runs one a line, in an order of their own.
func lines(t *testing.T, runs []runtypes.Wire) []string {
	t.Helper()
	var list []string
	for _, run := range runs {
		raw, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(sorted))
	}
	slices.Sort(list)
	return list
}

// withoutLevel leaves out what the settings add, which a replay has none of.
func withoutLevel(t *testing.T, extra json.RawMessage) json.RawMessage {
	t.Helper()
	rest := strings.Replace(string(extra), `"capture_level":"full",`, "", 1)
	if rest == string(extra) {
		t.Errorf("a run without its level: %s", extra)
	}
	return json.RawMessage(rest)
}
