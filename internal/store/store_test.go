package store_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// open opens a store in a directory of the test's own.
func open(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "state", "runs.db")
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// identity is that of turn n of a thread.
func identity(thread string, n int) runtypes.Identity {
	return runtypes.Identity{
		Integration: "claude-code", Runtime: "Claude Code", RuntimeVersion: "2.1.332",
		ThreadID: thread, TurnID: "t" + string(rune('0'+n)), TurnNumber: n, WorkingDirectory: "/w",
		Repo: runtypes.Repo{URL: "https://github.com/a/b", Branch: "main"},
	}
}

func runID(at time.Time, key ...string) uuid.UUID { return idgen.Run(at, key...) }

// turn is a whole turn: a root with a model call and a tool below it.
func turn(thread string, n int, at time.Time) (root, llm, tool *runtypes.Run) {
	who := identity(thread, n)
	root = runtypes.Root(runID(at, thread, who.TurnID, "root"), at, who)
	root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: "list <the> files"})
	llm = runtypes.LLM(root, runID(at, thread, who.TurnID, "llm"), at.Add(time.Second),
		runtypes.Model{Name: "claude-opus-4-5", Provider: "anthropic"})
	llm.Usage = &runtypes.Usage{Input: 100, Output: 20}
	tool = runtypes.Tool(root, runID(at, thread, who.TurnID, "tool"), at.Add(2*time.Second), "Bash")
	return root, llm, tool
}

func post(runs ...*runtypes.Run) []runtypes.Op { return ops(runtypes.Post, runs) }

func patch(runs ...*runtypes.Run) []runtypes.Op { return ops(runtypes.Patch, runs) }

// ops copies the runs, as whoever sends them later would.
func ops(verb runtypes.Verb, runs []*runtypes.Run) []runtypes.Op {
	list := make([]runtypes.Op, len(runs))
	for i, r := range runs {
		run := *r
		list[i] = runtypes.Op{Verb: verb, Run: &run}
	}
	return list
}

func export(t *testing.T, s *store.Store, list ...[]runtypes.Op) {
	t.Helper()
	for _, ops := range list {
		if rest, err := s.Export(t.Context(), ops); err != nil || len(rest) > 0 {
			t.Fatalf("export: %d left, %v", len(rest), err)
		}
	}
}

func trace(t *testing.T, s *store.Store, id string) []runtypes.Wire {
	t.Helper()
	runs, err := s.Trace(context.WithoutCancel(t.Context()), id)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestATurnIsReadBackAsItWasWritten(t *testing.T) {
	s := open(t, store.Config{})
	root, llm, tool := turn("thread-1", 1, noon)
	export(t, s, post(root))
	runtypes.Finish(llm, noon.Add(3*time.Second))
	runtypes.Finish(tool, noon.Add(4*time.Second))
	runtypes.Finish(root, noon.Add(5*time.Second))
	export(t, s, post(tool, llm), patch(root))

	runs := trace(t, s, root.ID.String())
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	for i, want := range []*runtypes.Run{root, llm, tool} {
		if runs[i].ID != want.ID.String() || runs[i].EndTime == "" {
			t.Errorf("run %d: %s %q, want %s", i, runs[i].ID, runs[i].EndTime, want.ID)
		}
	}
	if got := string(runs[0].Inputs); got != string(root.Inputs) {
		t.Errorf("inputs %s, want %s", got, root.Inputs)
	}
	if v := runtypes.ValidateWire(runs); len(v) > 0 {
		t.Errorf("violations: %v", v)
	}

	turns, err := s.Turns(t.Context(), store.Filter{})
	if err != nil || len(turns) != 1 {
		t.Fatalf("%v %v", turns, err)
	}
	want := store.Turn{
		TraceID: root.ID.String(), ThreadID: "thread-1", Number: 1, Kind: runtypes.KindRoot,
		Name: "Claude Code Turn", Start: noon, End: noon.Add(5 * time.Second),
		Integration: "claude-code", Repo: "https://github.com/a/b", Branch: "main",
		Runs: 3, TokensIn: 100, TokensOut: 20,
	}
	if turns[0] != want {
		t.Errorf("got  %+v\nwant %+v", turns[0], want)
	}
}
