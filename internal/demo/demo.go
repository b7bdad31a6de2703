// Package demo does the main job on embedded parts: recorded sessions go through
// real hook processes, a real drainer and HTTP to a LangSmith-protocol server on
// loopback. It needs no account and no network.
package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/road"
	"github.com/tracesmith/tracesmith/runtypes"
)

// recordings are sessions of Claude Code 2.1.332: one with a subagent, one whose
// tools fail, one that is interrupted in a tool.
//
//go:embed all:recordings
var recordings embed.FS

// Config says where the demo runs.
type Config struct {
	Program string // the tracesmith binary
	Dir     string // an empty folder; the state stays in Dir/state
}

// Result is what arrived.
type Result struct {
	Runs     []runtypes.Wire // what the server holds, parents first
	Hooks    []time.Duration // how long each hook process took
	Requests int             // requests that carried runs
	Bytes    int64           // and their size on the wire
}

// Run plays the sessions side by side, each hook at the time it was recorded at.
func Run(ctx context.Context, cfg Config) (Result, error) {
	sources := filepath.Join(cfg.Dir, "recordings")
	embedded, err := fs.Sub(recordings, "recordings")
	if err != nil {
		return Result{}, fmt.Errorf("demo: %w", err)
	}
	if err := os.CopyFS(sources, embedded); err != nil {
		return Result{}, fmt.Errorf("demo: %w", err)
	}
	server, err := ingest.Start(ingest.Config{Key: "demo"}, "127.0.0.1:0")
	if err != nil {
		return Result{}, fmt.Errorf("demo: %w", err)
	}
	defer server.Close(context.WithoutCancel(ctx))

	drives, err := stage(cfg, sources, server.URL())
	if err != nil {
		return Result{}, err
	}
	if err := play(ctx, drives); err != nil {
		return Result{}, err
	}
	result := Result{Runs: server.Memory().Runs()}
	for _, d := range drives {
		result.Hooks = append(result.Hooks, d.Times...)
	}
	slices.SortFunc(result.Runs, func(a, b runtypes.Wire) int { return compare(a.DottedOrder, b.DottedOrder) })
	slices.Sort(result.Hooks)
	stats := server.Stats()
	result.Requests, result.Bytes = stats.Requests, stats.Wire
	return result, nil
}

// stage lays each recording out with a home of its own and a small repository.
func stage(cfg Config, sources, endpoint string) ([]*road.Drive, error) {
	names, err := os.ReadDir(sources)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	var drives []*road.Drive
	for _, name := range names {
		rec, err := replay.Load(filepath.Join(sources, name.Name()))
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		staged, err := rec.Stage(filepath.Join(cfg.Dir, name.Name()), time.Now())
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		d := &road.Drive{
			Program: cfg.Program, Agent: claudecode.Agent(), Stage: staged, Pace: true,
			Env: append(inherited(), "TRACESMITH_STATE="+filepath.Join(cfg.Dir, "state"),
				"LANGSMITH_ENDPOINT="+endpoint, "LANGSMITH_API_KEY=demo"),
		}
		err = d.Repository("widgets", "feature/trace", "5f3c1a9e0b7d4c2a8e6f1d3b5a7c9e0f2b4d6a81", "https://github.com/example/widgets.git")
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		drives = append(drives, d)
	}
	return drives, nil
}

// inherited is what a process needs of this one's environment to start at all.
func inherited() []string {
	var env []string
	for _, name := range []string{"PATH", "SystemRoot", "TMPDIR", "TEMP", "TMP"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// play drives all sessions at once and waits until everything is delivered.
func play(ctx context.Context, drives []*road.Drive) error {
	var group sync.WaitGroup
	errs := make([]error, len(drives))
	for i, d := range drives {
		group.Go(func() { errs[i] = d.Run(ctx) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return drives[0].Deliver(ctx)
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
