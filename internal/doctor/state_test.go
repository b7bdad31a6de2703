package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
)

func TestWhatDoesNotGetDeliveredIsReported(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	destination := func(d journal.Destination) drain.Status {
		d.Name, d.Error = "there", "why"
		return drain.Status{Destinations: []drain.DestinationStatus{{ID: "there", Destination: d}}}
	}
	for name, c := range map[string]struct {
		status drain.Status
		want   []string // level and text
	}{
		"well":   {destination(journal.Destination{Delivered: now}), []string{"ok there last accepted runs at"}},
		"once":   {destination(journal.Destination{Delivered: now.Add(-time.Minute), Failures: 1}), []string{"note there: the last delivery has failed, the last success was 1m0s ago: why"}},
		"often":  {destination(journal.Destination{Failures: 3}), []string{"problem there: 3 deliveries in a row have failed: why"}},
		"clock":  {destination(journal.Destination{Delivered: now.Add(time.Hour), Failures: 3}), []string{"problem there: 3 deliveries in a row have failed, the last success is said to be at a time that is still to come: why"}},
		"broken": {destination(journal.Destination{Broken: true, Failures: 1}), []string{"problem there cannot be used: why"}},
		"unread": {drain.Status{Problems: []string{"x is garbled"}}, []string{"problem x is garbled"}},
		"others": {drain.Status{Sessions: []drain.SessionStatus{{Problem: "why"}, {Problem: "why"}, {}}}, []string{"problem sessions that wait: 2: why"}},
	} {
		r := new(Report)
		r.State(t.TempDir(), nil, c.status, now)
		var got []string
		for _, line := range r.Lines {
			if !strings.HasSuffix(line.Text, " is writable") && !strings.Contains(line.Text, " MB are free in ") {
				got = append(got, string(line.Level)+" "+line.Text)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}

func TestTheStoreIsReportedAsItIs(t *testing.T) {
	for _, wrong := range []error{nil, errors.New("damaged")} {
		r := new(Report)
		r.Store(wrong)
		if problem := r.Problems() == 1; len(r.Lines) != 1 || problem != (wrong != nil) {
			t.Errorf("%v: %v", wrong, r.Lines)
		}
	}
}
