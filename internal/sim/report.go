package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// outcome is what a day came to.
type outcome struct {
	name           string
	turns, left    int // ended, and not delivered in the evening
	p50, p99, most time.Duration
	fairness       float64
	backlog        int // events that waited at the worst time
	limited, down  int // requests
	busiest        int // requests in ten seconds
}

// play runs a scenario.
func play(sc scenario, machines int, seed uint64) outcome {
	f := newFleet(sc, machines, seed)
	f.clock.run(evening)
	o := outcome{
		name: sc.name, backlog: f.worst, fairness: f.fairness(), busiest: f.server.busiest,
		limited: f.server.answers[limited], down: f.server.answers[down],
	}
	for _, m := range f.machines {
		if !m.wild {
			o.turns += m.made
		}
	}
	o.left = o.turns - len(f.times)
	slices.Sort(f.times)
	o.p50, o.p99, o.most = f.quantile(0.5), f.quantile(0.99), f.quantile(1)
	return o
}

// quantile of the times from the end of a turn to the answer to its last write.
func (f *fleet) quantile(q float64) time.Duration {
	if len(f.times) == 0 {
		return 0
	}
	return f.times[int(q*float64(len(f.times)-1))]
}

// fairness is Jain's index of the part of its turns that each machine got through in
// time: 1 is all alike, 1/n one alone.
func (f *fleet) fairness() float64 {
	var sum, squares, n float64
	for _, m := range f.machines {
		if m.made == 0 || m.wild {
			continue
		}
		undelivered := 0
		for _, s := range m.waiting {
			if s.ends {
				undelivered++
			}
		}
		x := 1 - float64(m.late+undelivered)/float64(m.made)
		sum, squares, n = sum+x, squares+x*x, n+1
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (n * squares)
}

func write(w io.Writer, list []outcome) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "turns\tleft\tp50\tp99\tmax\tfairness\tbacklog\t429\t5xx\tmost in 10 s\t\tday")
	for _, o := range list {
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%.3f\t%d\t%d\t%d\t%d\t\t%s\n",
			o.turns, o.left, short(o.p50), short(o.p99), short(o.most), o.fairness, o.backlog, o.limited, o.down, o.busiest, o.name)
	}
	return t.Flush()
}

// short is a duration to two or three digits.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0fm", d.Minutes())
	}
	return fmt.Sprintf("%.1fh", d.Hours())
}
