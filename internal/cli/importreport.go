package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tracesmith/tracesmith/internal/history"
)

// maxFoldersShown bounds the folders that an import prints.
const maxFoldersShown = 40

// leftText says why sessions were left out and, where it helps, what to do.
var leftText = []struct{ reason, text string }{
	{history.LeftLive, "at work, left to live capture"},
	{history.LeftWaiting, "recorded by hooks and not delivered yet (see: tracesmith drain)"},
	{history.LeftUnreadable, "cannot be read (see the log)"},
	{history.LeftOld, "not written to since the given time"},
}

// printImport prints what an import has done, or would do.
func (a *app) printImport(report history.Report, took time.Duration) {
	a.printFolders(report)
	total := report.Total()
	for _, sent := range report.Sent {
		verb := "got"
		if report.DryRun {
			verb = "would get"
		}
		text := fmt.Sprintf("%s %s %s (%s)", cmp.Or(sent.Name, sent.ID), verb, count(sent.Turns, "turn"), count(sent.Runs, "run"))
		if sent.Refused > 0 {
			text += fmt.Sprintf(" and refused %s for good (see: tracesmith status)", count(sent.Refused, "run"))
		}
		if sent.Error != "" {
			text += " and then failed"
		}
		fmt.Fprintln(a.stdout, text)
	}
	if known := total.Turns - total.New; known > 0 {
		fmt.Fprintf(a.stdout, "%s delivered before\n", count(known, "turn"))
	}
	if report.Off > 0 {
		fmt.Fprintf(a.stdout, "%s in folders where tracing is switched off\n", count(report.Off, "turn"))
	}
	for _, left := range leftText {
		if n := report.Left[left.reason]; n > 0 {
			fmt.Fprintf(a.stdout, "%s %s\n", count(n, "session"), left.text)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(report.Lost)) {
		fmt.Fprintf(a.stdout, "lost, %s: %d\n", strings.ReplaceAll(reason, "_", " "), report.Lost[reason])
	}
	if report.DryRun {
		fmt.Fprintln(a.stdout, "dry run: nothing was sent")
		return
	}
	fmt.Fprintf(a.stdout, "done in %s\n", took.Round(100*time.Millisecond))
}

// printFolders prints a table of the folders with the most new turns.
func (a *app) printFolders(report history.Report) {
	if len(report.Folders) == 0 {
		fmt.Fprintln(a.stdout, "no past turns found")
		return
	}
	folders := slices.SortedStableFunc(slices.Values(report.Folders), func(a, b history.Folder) int { return cmp.Compare(b.New, a.New) })
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(f history.Folder, name string) {
		fmt.Fprintf(table, "%d\t%d\t%d\t%s\t  %s\n", f.Sessions, f.Turns, f.New, size(f.Bytes), name)
	}
	fmt.Fprintf(table, "sessions\tturns\tnew\tsize\t  %s\n", "folder")
	for _, f := range folders[:min(len(folders), maxFoldersShown)] {
		row(f, cmp.Or(f.Path, "(not known)"))
	}
	if more := len(folders) - maxFoldersShown; more > 0 {
		fmt.Fprintf(table, "\t\t\t\t  and %d more (see --json)\n", more)
	}
	if len(folders) > 1 {
		row(report.Total(), "in all")
	}
	table.Flush()
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
