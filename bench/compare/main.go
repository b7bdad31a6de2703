package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	w := work{}
	flag.IntVar(&w.turns, "turns", 1000, "turns, of ten runs each")
	flag.IntVar(&w.size, "size", 2000, "bytes of text in a run's inputs, and in its outputs")
	flag.StringVar(&w.mode, "mode", "two", "writes of a run: one or two")
	flag.IntVar(&w.rounds, "rounds", 3, "rounds; the median of each client counts")
	flag.IntVar(&w.limit, "limit", 100, "size_limit that the server states")
	flag.BoolVar(&w.faults, "faults", false, "have the server misbehave in every way, and count what is lost (takes some ten minutes)")
	flag.StringVar(&w.only, "only", "", "of the faults: those whose name holds this")
	flag.Parse()
	if err := run(w); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// work is what every client is given to do.
type work struct {
	turns, size, rounds, limit int
	mode, only                 string
	faults                     bool
	dir                        string
}

func run(w work) (err error) {
	if w.dir, err = os.MkdirTemp("", "compare"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	if err := writeCorpus(w.path("corpus")); err != nil {
		return err
	}
	clients, err := subjects(w.dir)
	if err != nil {
		return err
	}
	if w.faults {
		return w.tryFaults(os.Stdout, clients)
	}
	for range w.rounds { // interleaved, so that a busy moment hits all of them
		for i := range clients {
			c := &clients[i]
			if c.missing != nil {
				continue
			}
			got, err := w.measure(c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.results = append(c.results, got)
		}
	}
	report(os.Stdout, w, clients)
	return nil
}

func (w work) path(name string) string { return filepath.Join(w.dir, name) }

// measure runs a client once, in a process of its own with nobody's settings.
func (w work) measure(c *client) (result, error) {
	s, err := startServer(w.limit)
	if err != nil {
		return result{}, err
	}
	defer s.stop()
	cmd := w.command(c, s.url)
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	r := result{wall: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss: peakMemory(cmd.ProcessState)}
	ids, err := os.ReadFile(w.path("ids"))
	if err != nil {
		return result{}, err
	}
	r.counts = s.count(strings.Fields(string(ids)))
	return r, nil
}

// command is a client's process, with nobody's settings but ours.
func (w work) command(c *client, url string, more ...string) *exec.Cmd {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Dir = w.dir
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "LANGSMITH_") && !strings.HasPrefix(pair, "LANGCHAIN_") && !strings.HasPrefix(pair, "BENCH_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, "LANGSMITH_ENDPOINT="+url, "LANGSMITH_TRACING=true", "HOME="+w.dir,
		"BENCH_CORPUS="+w.path("corpus"), "BENCH_IDS="+w.path("ids"), "BENCH_MODE="+w.mode,
		fmt.Sprint("BENCH_TURNS=", w.turns), fmt.Sprint("BENCH_IN=", w.size), fmt.Sprint("BENCH_OUT=", w.size))
	cmd.Env = append(append(cmd.Env, c.env...), more...)
	return cmd
}
