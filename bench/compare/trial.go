package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
)

// outcome is what a client made of a fault.
type outcome struct {
	counts
	expected int
	wall     time.Duration
	stuck    bool // it had to be killed
}

func (o outcome) String() string {
	text := fmt.Sprintf("%d / %d / %d", o.lost, o.unended, o.repeated)
	if o.stuck {
		return text + fmt.Sprintf(", stuck after %.0f s", o.wall.Seconds())
	}
	return text + fmt.Sprintf(", %.1f s", o.wall.Seconds())
}

// tryFaults runs every client under every fault and prints the table.
func (w work) tryFaults(out io.Writer, clients []client) error {
	subjects := clients[:0]
	for _, c := range clients {
		if c.missing != nil {
			fmt.Fprintf(out, "!!! MISSING: %s: %v\n", c.name, c.missing)
		} else if !strings.Contains(c.name, "redacting") {
			subjects = append(subjects, c)
		}
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer t.Flush()
	fmt.Fprint(t, "lost / without end / twice, time\truns")
	for _, c := range subjects {
		fmt.Fprint(t, "\t", c.name)
	}
	fmt.Fprintln(t)
	for _, each := range trials() {
		if !strings.Contains(each.name, w.only) {
			continue
		}
		row, runs := "", 0
		for i := range subjects {
			got, err := w.try(each, &subjects[i])
			if err != nil {
				return fmt.Errorf("%s: %s: %w", each.name, subjects[i].name, err)
			}
			fmt.Fprintf(os.Stderr, "%s: %s: of %d: %v\n", each.name, subjects[i].name, got.expected, got)
			row, runs = row+"\t"+got.String(), max(runs, got.expected)
		}
		fmt.Fprintf(t, "%s\t%d%s\n", each.name, runs, row)
	}
	return nil
}

// try runs a client once under a fault. What it left in a spool the next process
// delivers to a server that is well again.
func (w work) try(f trial, c *client) (outcome, error) {
	s, err := startServer(w.limit)
	if err != nil {
		return outcome{}, err
	}
	defer s.stop()
	if f.bad != nil {
		s.bad = f.bad()
	}
	w.turns = f.turns
	cmd := w.command(c, s.url, fmt.Sprint("BENCH_RATE=", f.rate), "BENCH_PATIENCE=60")
	if strings.HasPrefix(f.name, "hung") {
		cmd.Env = append(cmd.Env, "BENCH_PATIENCE=5")
	}
	if err := os.WriteFile(w.path("ids"), nil, 0o600); err != nil { // not those of the client before
		return outcome{}, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	got := outcome{}
	if f.kill != nil {
		go func() {
			w.awaitRuns()
			time.Sleep(f.after)
			_ = cmd.Process.Signal(f.kill)
		}()
	}
	limit := max(f.limit, time.Minute)
	if f.limit == 0 {
		limit = 3 * time.Minute
	}
	end := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // how it ends is a part of the trial
	got.stuck = !end.Stop()
	got.wall = time.Since(began)
	ids, err := os.ReadFile(w.path("ids"))
	if err != nil {
		return outcome{}, err
	}
	if spooling(c) {
		if f.limit > 0 {
			s.heal()
		}
		w.turns = 0
		if said, err := w.command(c, s.url, "BENCH_IDS="+w.path("no-ids")).CombinedOutput(); err != nil {
			return outcome{}, fmt.Errorf("the next process: %w\n%s", err, said)
		}
	}
	expected := strings.Fields(string(ids))
	got.counts, got.expected = s.count(expected), len(expected)
	return got, nil
}

// awaitRuns returns when the client has made some: how long a language takes to
// start is not the question.
func (w work) awaitRuns() {
	for range 600 {
		if at, err := os.Stat(w.path("ids")); err == nil && at.Size() > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func spooling(c *client) bool { return strings.Contains(c.name, "spooling") }
