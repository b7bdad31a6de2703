package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// maxShown bounds the sessions that status prints.
const maxShown = 20

// statusCommand shows how deliveries stand.
func statusCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [--json]",
		Short: "Show what is recorded, delivered, waiting and lost",
		Args:  argCount(0, 0),
		RunE: func(*cobra.Command, []string) error {
			state, err := a.openState()
			if err != nil {
				return err
			}
			status := a.readStatus(state)
			unwritable := state.Writable()
			disk, err := readDisk(state)
			if err != nil {
				status.Problems = append(status.Problems, oneLine(err).Error())
			}
			if asJSON {
				return printStatusJSON(a.stdout, state, status, disk, unwritable)
			}
			printStatus(a.stdout, state, status, disk, unwritable, a.now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printStatusJSON(w io.Writer, state *journal.State, status drain.Status, disk []kept, unwritable error) error {
	report := struct {
		State   string `json:"state"`
		Problem string `json:"problem,omitempty"`
		drain.Status
		Disk []kept `json:"disk"`
	}{State: state.Dir(), Status: status, Disk: disk}
	if unwritable != nil {
		report.Problem = unwritable.Error()
	}
	return printJSON(w, report)
}

// printJSON prints a report for other programs.
func printJSON(w io.Writer, report any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(report)
}

func printStatus(w io.Writer, state *journal.State, status drain.Status, disk []kept, unwritable error, now time.Time) {
	fmt.Fprintf(w, "state: %s\n", state.Dir())
	if unwritable != nil {
		fmt.Fprintf(w, "  nothing can be recorded: %v\n", unwritable)
	}
	for _, other := range status.OtherVersions {
		fmt.Fprintf(w, "  %s belongs to another version of tracesmith and is left alone\n", other)
	}
	for _, problem := range status.Problems {
		fmt.Fprintf(w, "  not readable: %s\n", problem)
	}
	fmt.Fprintln(w, "\ndestinations:")
	for _, d := range status.Destinations {
		fmt.Fprintf(w, "  %s: %s\n", cmp.Or(d.Name, d.ID), destinationText(d, now))
		if d.Late(now) {
			fmt.Fprintln(w, "    find out why with: tracesmith doctor")
		}
	}
	if len(status.Destinations) == 0 {
		fmt.Fprintln(w, "  none yet: no drainer has run")
	}
	printAgents(w, status, now)
	printSessions(w, status, now)
	if status.Shortened > 0 {
		fmt.Fprintf(w, "\nshortened for their size: %s\n", count(int(status.Shortened), "run"))
	}
	if len(status.Dropped) > 0 {
		fmt.Fprintln(w, "\nlost:")
		for _, reason := range slices.Sorted(maps.Keys(status.Dropped)) {
			fmt.Fprintf(w, "  %s: %d\n", strings.ReplaceAll(reason, "_", " "), status.Dropped[reason])
		}
	}
	printDisk(w, disk)
}

func destinationText(d drain.DestinationStatus, now time.Time) string {
	text := "nothing delivered yet"
	if !d.Delivered.IsZero() {
		text = "last delivery " + ago(now, d.Delivered)
	}
	if d.Failures > 0 {
		text += fmt.Sprintf(", failed %s in a row (%s)", count(d.Failures, "time"), d.Error)
	}
	if d.Resting {
		text += ", next try in " + d.NotBefore.Sub(now).Round(time.Second).String()
	}
	if d.Dead > 0 {
		text += fmt.Sprintf(", %d runs refused for good (kept in dead/%s)", d.Dead, d.ID)
	}
	return text
}

func printAgents(w io.Writer, status drain.Status, now time.Time) {
	if len(status.Agents) == 0 {
		return
	}
	fmt.Fprintln(w, "\nagents:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, each := range status.Agents {
		fmt.Fprintf(table, "  %s\t%s\tlast event %s\t%s\n", each.Agent, count(each.Sessions, "session"), ago(now, each.Modified), tallyText(each.Tally, now))
	}
	table.Flush()
}

// tallyText says what became of what was recorded.
func tallyText(t drain.Tally, now time.Time) string {
	parts := []string{count(t.Accepted, "run") + " accepted"}
	if t.Queued > 0 {
		parts = append(parts, count(t.Queued, "event")+" waiting")
	}
	if t.Rejected > 0 {
		parts = append(parts, fmt.Sprintf("%d rejected", t.Rejected))
	}
	if !t.Arrived.IsZero() {
		parts = append(parts, "last "+ago(now, t.Arrived))
	}
	return strings.Join(parts, ", ")
}

func printSessions(w io.Writer, status drain.Status, now time.Time) {
	fmt.Fprintln(w, "\nsessions:")
	if len(status.Sessions) == 0 {
		fmt.Fprintln(w, "  none")
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range status.Sessions[:min(len(status.Sessions), maxShown)] {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", s.Key, cmp.Or(s.Session, "-"), ago(now, s.Modified), sessionText(s, now))
	}
	table.Flush()
	if more := len(status.Sessions) - maxShown; more > 0 {
		fmt.Fprintf(w, "  and %d older ones (see --json)\n", more)
	}
}

func sessionText(s drain.SessionStatus, now time.Time) string {
	text := tallyText(s.Tally, now)
	switch {
	case s.Problem != "":
		text += ", " + s.Problem
	case s.Open > 0 && s.Gone:
		text += ", agent is gone, turn to be closed"
	case s.Open > 0:
		text += ", turn under way"
	case s.Ended:
		text += ", ended"
	}
	return text
}

// ago says how long ago something happened.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return "never"
	}
	switch age := now.Sub(then); {
	case age < -time.Minute:
		return "at a time that is still to come (was the clock wrong?)"
	case age < time.Minute:
		return "just now"
	case age < time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(age.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(age.Hours()/24))
	}
}
