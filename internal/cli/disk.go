package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/store"
)

// kept is what one part of the state takes on this disk, and what it may take before
// the oldest of it goes, or
// further runs are only counted. 0 stands for no bound of that kind.
type kept struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	MaxBytes int64  `json:"max_bytes,omitempty"`
	MaxDays  int    `json:"max_days,omitempty"` // since the last write
	MaxRuns  int    `json:"max_runs,omitempty"` // of one destination
}

// readDisk looks at all parts. What cannot be read is an error and hides nothing else.
func readDisk(state *journal.State) ([]kept, error) {
	contents, err := state.Contents()
	days := func(d time.Duration) int { return int(d.Hours() / 24) }
	return []kept{
		{Name: "journals", Bytes: contents.Sessions, MaxBytes: drain.DefaultMaxTotal, MaxDays: days(drain.DefaultKeep)},
		{Name: "local store", Bytes: storeSize(state), MaxBytes: store.DefaultMaxBytes, MaxDays: days(store.DefaultMaxAge)},
		{Name: "copies of requests", Bytes: contents.Sent, MaxBytes: journal.MaxSent},
		{Name: "refused runs", Bytes: contents.Dead, MaxRuns: journal.MaxDead},
		{Name: "log", Bytes: contents.Log},
	}, err
}

func printDisk(w io.Writer, disk []kept) {
	fmt.Fprintln(w, "\non this disk:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, each := range disk {
		var bounds []string
		if each.MaxBytes > 0 {
			bounds = append(bounds, "at most "+size(each.MaxBytes))
		}
		if each.MaxDays > 0 {
			bounds = append(bounds, fmt.Sprintf("%d days", each.MaxDays))
		}
		if each.MaxRuns > 0 {
			bounds = append(bounds, fmt.Sprintf("at most %d runs of a destination", each.MaxRuns))
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", each.Name, size(each.Bytes), strings.Join(bounds, ", "))
	}
	table.Flush()
}
