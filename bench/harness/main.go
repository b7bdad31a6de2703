// Command harness drives the exporter through a fixed workload: turns of one
// root, four model calls and five tool calls, with payloads cut from a corpus. It
// reads its settings from the environment, as the harness of any other client
// does, so that one runner can compare them:
//
//	LANGSMITH_ENDPOINT   base URL of the server
//	BENCH_CORPUS         text to cut payloads from
//	BENCH_IDS            file to write the id of every run to
//	BENCH_TURNS          turns to make (1000)
//	BENCH_IN, BENCH_OUT  bytes of text in a run's inputs and outputs (2000)
//	BENCH_MODE           two: create, then update each run; one: one complete write
//	BENCH_RATE           runs a second, 0 for as fast as it goes
//	BENCH_FLUSH          turns after which to wait for delivery, 0 for only at the end
//	BENCH_GRACEFUL       1: on SIGTERM stop making runs and flush
//	BENCH_REDACT         1: redact, as the exporter does by default
//	BENCH_SPOOL          directory of a spool; empty for none
//	BENCH_IN_FLIGHT      requests under way at once; 0 for the exporter's default
//	BENCH_PATIENCE       seconds the last flush may take (120)
//	BENCH_QUEUE_MB       bound of the queue in MB; 0 for the exporter's default
//	BENCH_PROFILE        file to write a CPU profile to
//
// At the end it prints one JSON line. What arrived is for the server to say.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

func run() error {
	s, err := settingsFrom(os.Getenv)
	if err != nil {
		return err
	}
	if s.profile != "" {
		f, err := os.Create(s.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	ctx := context.Background()
	if s.graceful {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
	}
	b, done, err := s.batcher()
	if err != nil {
		return err
	}
	w, err := newWorkload(s, b)
	if err != nil {
		return err
	}
	began := time.Now()
	made := w.run(ctx)
	submitted := time.Since(began)
	closing, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	err = b.Shutdown(closing)
	total := time.Since(began)
	if err := done(); err != nil {
		return err
	}
	stats := b.Stats()
	said := map[string]any{"delivered": stats.Delivered, "retried": stats.Retried, "refused": w.refused}
	for why, n := range stats.Dropped {
		said["dropped: "+string(why)] = n
	}
	if err != nil {
		said["error"] = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"runs": made, "submit_ms": submitted.Milliseconds(), "flush_ms": (total - submitted).Milliseconds(),
		"total_ms": total.Milliseconds(), "said": said,
	})
}
