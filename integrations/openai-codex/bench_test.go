package openaicodex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/drain"
)

// longRollout writes a rollout of so many bytes and returns its path and last turn.
func longRollout(b *testing.B, size int) (path, last string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), filepath.Base(rolloutOf(rootID)))
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	output := strings.Repeat("lorem ipsum ", 800)
	for n, written := 0, 0; written < size; n++ {
		last = fmt.Sprintf("01a22ab2-4c86-7002-a71b-%012x", n)
		lines := opening(last)
		if n == 0 {
			lines = append([]string{metaLine(rootID, "")}, lines...)
		}
		lines = append(lines,
			callLine(last, "c1", "exec_command", `{"cmd":"make"}`), usageLine(last, "r1", 10, 2), outputLine(last, "c1", output),
			sayLine(last, "done"), usageLine(last, "r2", 20, 2), doneLine(last, "done"))
		k, err := file.WriteString(write(lines...))
		if err != nil {
			b.Fatal(err)
		}
		written += k
	}
	return path, last
}

// peak is the most memory that the process has held, in MB; 0 where it does not say.
func peak() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kb float64
	if _, err := fmt.Sscan(string(rest), &kb); err != nil {
		return 0
	}
	return kb / 1024
}

// BenchmarkStop is a drainer's work at the end of a turn in a long thread: one that it
// has never heard of, and one that it has followed so far.
func BenchmarkStop(b *testing.B) {
	for _, mb := range []int{22, 110} {
		path, last := longRollout(b, mb<<20)
		hook := func(r integrations.Reducer, kind string, d data) int {
			d.Session, d.Transcript = rootID, path
			raw, err := json.Marshal(d)
			if err != nil {
				b.Fatal(err)
			}
			ops, err := r.Apply(drain.NewSnapshot(), integrations.Event{Kind: kind, Data: raw})
			if err != nil {
				b.Fatal(err)
			}
			return len(ops)
		}
		stop := func(r integrations.Reducer) int {
			n := hook(r, "UserPromptSubmit", data{Turn: last})
			return n + hook(r, "Stop", data{Turn: last})
		}
		b.Run(fmt.Sprintf("unknown/%dMB", mb), func(b *testing.B) {
			for b.Loop() {
				r := newReducer(integrations.Options{})
				hook(r, "SessionStart", data{Source: "resume"})
				if n := stop(r); n != 5 {
					b.Fatalf("%d writes", n)
				}
			}
			b.ReportMetric(peak(), "MB-peak")
		})
		b.Run(fmt.Sprintf("followed/%dMB", mb), func(b *testing.B) {
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r := newReducer(integrations.Options{})
				r.Begun, r.From = true, info.Size()-16<<10
				if n := stop(r); n < 5 {
					b.Fatalf("%d writes", n)
				}
			}
			b.ReportMetric(peak(), "MB-peak")
		})
	}
}
