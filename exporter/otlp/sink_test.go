package otlp

import (
	"context"
	"errors"
	"testing"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

func sink(t *testing.T, cfg exporter.Config) *Sink {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestATurnGoesThroughASink(t *testing.T) {
	server := serve(t, ingest.Config{})
	s := sink(t, config(server.URL()+"/otel", nil))
	turn := runtypes.StartTurn(s, someone, "How many files?")
	turn.Tool("bash", "call_1", map[string]string{"command": "ls"}).End("3")
	sub := turn.Subagent("researcher", "agent-1", "Look")
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if runs := server.Memory().Runs(); len(runs) != 1 || runs[0].RunType != "tool" {
		t.Errorf("what has not ended was sent: %+v", runs)
	}
	sub.End("Found")
	turn.End("Three.")
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs := server.Memory().Runs()
	if len(runs) != 3 || len(runs[0].Inputs) == 0 || len(runs[0].Outputs) == 0 || runs[0].ParentRunID != "" {
		t.Errorf("%+v", runs)
	}
	if counts := server.Memory().Counts(); counts.Posts != 3 || counts.Again > 0 {
		t.Errorf("%+v", counts)
	}
	if stats := s.Stats(); stats.Delivered != 3 || stats.Bare > 0 || len(stats.Dropped) > 0 {
		t.Errorf("%+v", stats)
	}
}

func TestARunThatFindsNoRoomGoesWithoutItsInputs(t *testing.T) {
	server := serve(t, ingest.Config{})
	cfg := config(server.URL()+"/otel", nil)
	cfg.QueueBytes = 3000 // room for one
	s := sink(t, cfg)
	var roots []*runtypes.Run
	for n := range 2 {
		root, _, _ := turn(n)
		roots = append(roots, root)
		if err := s.Submit(post(root)); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range roots {
		if err := errors.Join(s.Submit(patch(ended(root))), s.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, root := range roots {
		got, ok := server.Memory().Run(root.ID.String())
		if !ok || (len(got.Inputs) > 0) != (n == 0) || len(got.Outputs) == 0 {
			t.Errorf("%d: %v %+v", n, ok, got)
		}
	}
	if stats := s.Stats(); stats.Bare != 1 {
		t.Errorf("%+v", stats)
	}
}

func TestWhatNeverEndsIsToldAtShutdown(t *testing.T) {
	server := serve(t, ingest.Config{})
	var lost drops
	s := sink(t, config(server.URL()+"/otel", &lost))
	root, llm, _ := turn(1)
	if err := errors.Join(s.Submit(post(root)), s.Submit(post(llm))); err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(lost.ops) != 1 || lost.ops[0].Run.ID != root.ID || !errors.Is(lost.why[0], errUnended) || s.Stats().Dropped[exporter.ReasonShutdown] != 1 {
		t.Errorf("%+v, %+v", lost.ops, s.Stats())
	}
	other, _, _ := turn(2)
	for n, late := range []*runtypes.Run{llm, other} { // one that has ended and one that has not
		if err := s.Submit(post(late)); !errors.Is(err, exporter.ErrShutdown) {
			t.Errorf("%d after Shutdown: %v", n, err)
		}
	}
	if len(lost.ops) != 3 || s.Stats().Dropped[exporter.ReasonShutdown] != 3 {
		t.Errorf("%+v, %+v", lost.ops, s.Stats())
	}
}
