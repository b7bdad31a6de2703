package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// abreast is how many processes a storm runs at once.
const abreast = 16

// subject is a program to measure.
type subject struct {
	name     string
	argv     []string
	stdin    string // a file; empty: the null device
	env      []string
	measured bool // its ratios are what the run is for
	off      bool // tracing is switched off: it must cost no more than where it is on

	single, crowd []time.Duration
	errs          []error
}

// once runs the program and returns how long its caller waited.
func (s *subject) once(dir string) (time.Duration, error) {
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Dir, cmd.Env = dir, s.env
	if s.stdin != "" {
		in, err := os.Open(s.stdin)
		if err != nil {
			return 0, err
		}
		defer in.Close()
		cmd.Stdin = in
	}
	start := time.Now()
	err := cmd.Run()
	return time.Since(start), err
}

func (s *subject) alone(n int, dir string) {
	for range n {
		took, err := s.once(dir)
		s.single = append(s.single, took)
		s.errs = append(s.errs, err)
	}
}

func (s *subject) storm(n int, dir string) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	for worker := range abreast {
		wait.Go(func() {
			for range n*(worker+1)/abreast - n*worker/abreast {
				took, err := s.once(dir)
				mu.Lock()
				s.crowd = append(s.crowd, took)
				s.errs = append(s.errs, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
}

// failures are the programs that did not exit with 0.
func failures(subjects []subject) []error {
	var all []error
	for _, s := range subjects {
		if err := errors.Join(s.errs...); err != nil {
			all = append(all, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return all
}

// report prints the table and what follows from it.
func report(to io.Writer, subjects []subject) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "process\tp50 ms\tp99 ms\tx empty\tx node\t%d at once: p50\tp99\t\n", abreast)
	empty := percentile(subjects[0].single, 50)
	node := time.Duration(0)
	if subjects[1].name == nodeName {
		node = percentile(subjects[1].single, 50)
	}
	for _, s := range subjects {
		p50 := percentile(s.single, 50)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", s.name,
			millis(p50), millis(percentile(s.single, 99)), ratio(p50, empty), ratio(p50, node),
			millis(percentile(s.crowd, 50)), millis(percentile(s.crowd, 99)))
	}
	_ = table.Flush()
	on := time.Duration(0)
	for _, s := range subjects {
		if s.name == enabledName {
			on = percentile(s.single, 50)
		}
	}
	for _, s := range subjects {
		if s.off && percentile(s.single, 50) > on {
			fmt.Fprintf(to, "MISSED: %s: p50 is more than where tracing is on\n", s.name)
		}
		if !s.measured {
			continue
		}
		p50 := percentile(s.single, 50)
		if p50 > 5*empty {
			fmt.Fprintf(to, "MISSED: %s: p50 is more than 5 times the empty program's\n", s.name)
		}
		if node > 0 && p50*10 > node {
			fmt.Fprintf(to, "MISSED: %s: p50 is more than a tenth of node's\n", s.name)
		}
	}
}

func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

func ratio(d, of time.Duration) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(d)/float64(of))
}

// draining reports whether a drainer holds the session that the hooks wrote.
func (b *bench) draining(dir string) bool {
	state, err := journal.Open(dir)
	if err != nil {
		return false
	}
	lock, err := state.Session("claude-code", "bench").TryDrain()
	if err == nil {
		lock.Unlock()
	}
	return errors.Is(err, journal.ErrLocked)
}
