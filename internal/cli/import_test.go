package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/history"
)

func TestSinceIsADurationOrADate(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	a := &app{now: func() time.Time { return now }}
	for text, want := range map[string]time.Time{
		"":                     {},
		"12h":                  now.Add(-12 * time.Hour),
		"30d":                  now.AddDate(0, 0, -30),
		"1.5d":                 now.Add(-36 * time.Hour),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
		"2026-11-01T10:00:00Z": time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
	} {
		got, err := a.parseSince(text)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-3d", "0h", "d", "3", "2026-13-01"} {
		if _, err := a.parseSince(text); err == nil {
			t.Errorf("%q was understood", text)
		}
	}
}

func TestMeterIsPlainAndRareInAPipe(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	a := &app{stderr: &out, now: func() time.Time { return now }, env: func(string) string { return "" }}
	m := a.newMeter(false)
	p := history.Progress{Sessions: 2, OfSessions: 10, Bytes: 20e6, OfBytes: 120e6, Turns: 7}
	m.show(p)
	now = now.Add(9 * time.Second)
	m.show(p)
	if out.Len() > 0 {
		t.Errorf("too early: %q", out.String())
	}
	now = now.Add(time.Second)
	m.show(p)
	m.clear()
	want := "importing: 2 of 10 sessions, 7 new turns, 20.0 MB of 120.0 MB, 2.0 MB/s, 50s left\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSizesAreReadable(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 61_980_000: "62.0 MB", 999_999_999: "1.0 GB", 5e12: "5.0 TB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
