package cli

import (
	"testing"
	"time"
)

func TestATimeIsToldAsItLooksFromNow(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for then, want := range map[time.Time]string{
		{}:                           "never",
		now.Add(time.Second):         "just now", // two clocks never agree
		now.Add(time.Hour):           "at a time that is still to come (was the clock wrong?)",
		now.Add(-90 * time.Minute):   "1 h ago",
		now.Add(-50 * time.Hour):     "2 days ago",
		now.Add(-30 * time.Second):   "just now",
		now.Add(-5*time.Minute - 10): "5 min ago",
	} {
		if got := ago(now, then); got != want {
			t.Errorf("%v: %q, want %q", then, got, want)
		}
	}
}
