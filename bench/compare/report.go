package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// result is what one run of a client cost.
type result struct {
	wall, cpu time.Duration
	rss       int64 // bytes at its peak
	counts
}

// report prints the medians, and how many times ours each of them is.
func report(out io.Writer, w work, clients []client) {
	fmt.Fprintf(out, "%d runs in turns of ten, %d + %d bytes of text each, %s write(s) a run, median of %d\n\n",
		w.turns*10, w.size, w.size, w.mode, w.rounds)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "client\truns/s\twall s\t\tCPU s/1000\t\tRSS MB\t\twire MB\t\tof MB\trequests\tlost\tno end\trepeated\tpatch first\t")
	ours := clients[0].median()
	for _, c := range clients {
		if c.missing != nil {
			continue
		}
		r := c.median()
		times := func(a, b float64) string { return fmt.Sprintf("%.2fx", a/b) }
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%s\t%.3f\t%s\t%.0f\t%s\t%.1f\t%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t\n", c.name,
			float64(w.turns*10)/r.wall.Seconds(),
			r.wall.Seconds(), times(r.wall.Seconds(), ours.wall.Seconds()),
			r.cpu.Seconds()*100/float64(w.turns), times(r.cpu.Seconds(), ours.cpu.Seconds()),
			float64(r.rss)/1e6, times(float64(r.rss), float64(ours.rss)),
			float64(r.wire)/1e6, times(float64(r.wire), float64(ours.wire)), float64(r.decoded)/1e6,
			r.requests, r.lost, r.unended, r.repeated, r.orphan)
	}
	_ = t.Flush() // to a terminal or a pipe that nobody reads
	for _, c := range clients {
		if c.missing != nil {
			fmt.Fprintf(out, "\n!!! MISSING: %s: %v\n", c.name, c.missing)
		}
	}
}

// median takes the middle of each figure, and the worst of what may not happen.
func (c *client) median() result {
	if len(c.results) == 0 {
		return result{}
	}
	middle := func(less func(a, b result) int) result {
		return slices.SortedFunc(slices.Values(c.results), less)[len(c.results)/2]
	}
	r := middle(func(a, b result) int { return int(a.wall - b.wall) })
	r.cpu = middle(func(a, b result) int { return int(a.cpu - b.cpu) }).cpu
	r.rss = middle(func(a, b result) int { return int(a.rss - b.rss) }).rss
	for _, each := range c.results {
		r.lost, r.unended = max(r.lost, each.lost), max(r.unended, each.unended)
		r.repeated, r.orphan = max(r.repeated, each.repeated), max(r.orphan, each.orphan)
	}
	return r
}
