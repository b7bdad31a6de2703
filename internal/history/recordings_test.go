package history

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const recordingsDir = "../../integrations/claude-code/testdata"

// recordings lists the recorded sessions of Claude Code.
func recordings(t *testing.T) []string {
	t.Helper()
	hooks, err := filepath.Glob(filepath.Join(recordingsDir, "*", "hooks.jsonl"))
	if err != nil || len(hooks) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var names []string
	for _, path := range hooks {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	return names
}

// stage lays a recording out as real files, with the times it was recorded at.
func stage(t *testing.T, name string) *replay.Stage {
	t.Helper()
	rec, err := replay.Load(filepath.Join(recordingsDir, name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := rec.Stage(t.TempDir(), rec.Steps[0].At)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// server is a destination in memory.
type server struct {
	mu    sync.Mutex
	runs  map[uuid.UUID]runtypes.Wire
	ops   int
	again int // ops for runs that were complete
	fail  func(op runtypes.Op) error
}

func newServer() *server { return &server{runs: map[uuid.UUID]runtypes.Wire{}} }

func (s *server) export(ctx context.Context, ops []runtypes.Op) ([]runtypes.Op, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return ops, err
	}
	for i, op := range ops {
		if s.fail != nil {
			if err := s.fail(op); err != nil {
				return ops[i:], err
			}
		}
		s.take(op)
	}
	return nil, nil
}

func (s *server) take(op runtypes.Op) {
	s.ops++
	wire, err := runtypes.Encode(op)
	if err != nil {
		panic(err)
	}
	known, ok := s.runs[op.Run.ID]
	switch {
	case ok && known.EndTime != "":
		s.again++
	case ok:
		s.runs[op.Run.ID] = runtypes.MergeWire(known, wire)
	default:
		s.runs[op.Run.ID] = wire
	}
}

func (s *server) sorted() []runtypes.Wire {
	return slices.SortedFunc(maps.Values(s.runs), func(a, b runtypes.Wire) int { return strings.Compare(a.DottedOrder, b.DottedOrder) })
}

func (s *server) destination(id string) drain.Destination {
	return drain.Destination{ID: id, Name: id, Export: drain.Plain(s.export), Past: true}
}

func openState(t *testing.T) *journal.State {
	t.Helper()
	state, err := journal.Open(filepath.Join(t.TempDir(), "tracesmith", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// config imports from a home, long after anything was written there.
func config(t *testing.T, state *journal.State, home string, to ...drain.Destination) Config {
	t.Helper()
	return Config{
		State: state, Agent: claudecode.Agent(), Destinations: to,
		Place:  integrations.Place{Home: home, Env: func(string) string { return "" }},
		Redact: redact.Run,
		Now:    func() time.Time { return time.Now().Add(24 * time.Hour) },
	}
}

func mustImport(t *testing.T, cfg Config) Report {
	t.Helper()
	i, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	report, err := i.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// hookOnly are recordings with runs that no transcript has: a prompt that another
// hook refused has neither a line of its own nor an id there.
var hookOnly = map[string]int{"prompt-blocked-by-hook": 1, "no-session-persistence": 3, "no-session-persistence-subagent": 5}

func TestImportGivesTheIDsOfLiveCapture(t *testing.T) {
	for _, name := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stage(t, name)
			live, err := s.Run(claudecode.Agent(), replay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.ShowAll(); err != nil {
				t.Fatal(err)
			}
			to := newServer()
			report := mustImport(t, config(t, openState(t), s.Home, to.destination("one")))
			runs := to.sorted()
			if diff := cmp.Diff(rootsOf(runs), announced(t, s.Home)); diff != "" {
				t.Errorf("traces announced before (-built +announced):\n%s", diff)
			}
			if n := hookOnly[name]; n > 0 {
				if len(live.Runs)-len(runs) != n {
					t.Errorf("%d runs of %d, want all but %d", len(runs), len(live.Runs), n)
				}
				return
			}
			compare(t, live.Runs, runs)
			for _, v := range runtypes.ValidateWire(runs) {
				t.Error(v)
			}
			if to.ops != len(runs) {
				t.Errorf("%d writes for %d runs", to.ops, len(runs))
			}
			if total := report.Total(); total.Runs != len(runs) || total.New != total.Turns || len(report.Lost)+len(report.Left) > 0 {
				t.Errorf("report: %+v", report)
			}
		})
	}
}

// announced lists the traces that the sessions of a home say they have.
func announced(t *testing.T, home string) []string {
	t.Helper()
	var ids []string
	place := integrations.Place{Home: home, Env: func(string) string { return "" }}
	src := drain.NewSnapshot()
	for s, err := range claudecode.Agent().Past(src, place) {
		if err != nil {
			t.Fatal(err)
		}
		told, err := s.Tell(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range told.Traces {
			ids = append(ids, id.String())
		}
	}
	slices.Sort(ids)
	return ids
}

func rootsOf(runs []runtypes.Wire) []string {
	var ids []string
	for _, run := range runs {
		if run.ParentRunID == "" {
			ids = append(ids, run.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// compare wants the same runs with the same meaning. What only hooks know may
// differ: how long a tool ran, and how long a person was waited for.
func compare(t *testing.T, live, imported []runtypes.Wire) {
	t.Helper()
	byID := map[string]runtypes.Wire{}
	for _, run := range imported {
		byID[run.ID] = run
	}
	for _, want := range live {
		got, ok := byID[want.ID]
		delete(byID, want.ID)
		if !ok {
			t.Errorf("%s run %s (%s) is missing", want.Kind(), want.Name, want.ID)
			continue
		}
		for what, pair := range map[string][2]any{
			"kind":    {want.Kind(), got.Kind()},
			"name":    {want.Name, got.Name},
			"parent":  {want.ParentRunID, got.ParentRunID},
			"trace":   {want.TraceID, got.TraceID},
			"inputs":  {want.Inputs, got.Inputs},
			"outputs": {want.Outputs, got.Outputs},
			"error":   {reason(want.Error), reason(got.Error)},
			"usage":   {want.Metadata()["usage_metadata"], got.Metadata()["usage_metadata"]},
			"number":  {want.Metadata()["turn_number"], got.Metadata()["turn_number"]},
			"branch":  {want.Metadata()["git_branch"], got.Metadata()["git_branch"]},
			"cwd":     {want.Metadata()["cwd"], got.Metadata()["cwd"]},
			"stopped": {want.Metadata()["ls_is_error_interrupt"], got.Metadata()["ls_is_error_interrupt"]},
		} {
			a, _ := json.Marshal(pair[0])
			b, _ := json.Marshal(pair[1])
			if string(a) != string(b) {
				t.Errorf("%s run %s: %s is %s, live %s", want.Kind(), want.Name, what, b, a)
			}
		}
		if mark := got.Metadata()["imported"]; (mark == true) != (got.ParentRunID == "") {
			t.Errorf("%s run %s: imported is %v", got.Kind(), got.Name, mark)
		}
	}
	for _, run := range byID {
		t.Errorf("%s run %s (%s) is not what live capture gives", run.Kind(), run.Name, run.ID)
	}
}

// reason is an error without how it was learned that nobody works on the session.
func reason(text string) string {
	if strings.HasPrefix(text, "Interrupted: ") {
		return "Interrupted"
	}
	return text
}
