package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tracesmith/tracesmith/internal/history"
)

// How often an import says how far it is: on a terminal in one line that changes,
// else in lines of their own.
const (
	meterPace = 200 * time.Millisecond
	plainPace = 10 * time.Second
)

// meter shows how far an import is.
type meter struct {
	w        io.Writer
	now      func() time.Time
	terminal bool
	doing    string
	begin    time.Time
	last     time.Time // it was shown
	shown    bool
}

func (a *app) newMeter(dryRun bool) *meter {
	m := &meter{w: a.stderr, now: a.now, doing: "importing", begin: a.now()}
	if dryRun {
		m.doing = "looking"
	}
	m.last = m.begin
	if file, ok := a.stderr.(*os.File); ok && a.env("TERM") != "dumb" {
		_, m.terminal = terminalWidth(file)
	}
	return m
}

func (m *meter) elapsed() time.Duration { return m.now().Sub(m.begin) }

// show prints the progress if it is time to.
func (m *meter) show(p history.Progress) {
	pace := plainPace
	if m.terminal {
		pace = meterPace
	}
	if m.now().Sub(m.last) < pace {
		return
	}
	m.last = m.now()
	text := m.text(p)
	if m.terminal {
		fmt.Fprintf(m.w, "\r\x1b[K%s", text)
		m.shown = true
		return
	}
	fmt.Fprintln(m.w, text)
}

// clear takes the changing line away.
func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}

// text is the progress in one line: the rate and the remaining time are those of
// bytes read, for sessions differ in size.
func (m *meter) text(p history.Progress) string {
	text := fmt.Sprintf("%s: %d of %d sessions, %d new turns, %s of %s",
		m.doing, p.Sessions, p.OfSessions, p.Turns, size(p.Bytes), size(p.OfBytes))
	spent := m.elapsed()
	if p.Bytes <= 0 || spent <= 0 {
		return text
	}
	rate := float64(p.Bytes) / spent.Seconds()
	left := time.Duration(float64(p.OfBytes-p.Bytes) / rate * float64(time.Second))
	return text + fmt.Sprintf(", %s/s, %s left", size(int64(rate)), left.Round(time.Second))
}

// size is a number of bytes as people read it.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= 999.95 && prefix < 3 {
		value /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGT"[prefix])
}
