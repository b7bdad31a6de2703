package copilot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/drain"
)

// longLog writes a log of so many bytes and returns its path, the time of its last
// prompt, and where that stands.
func longLog(b *testing.B, size int) (path string, last int64, at int64) {
	b.Helper()
	path = filepath.Join(b.TempDir(), stateDir, sessionID, logName)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	output := strings.Repeat("lorem ipsum ", 800)
	now := time.UnixMilli(beginning)
	written := int64(0)
	line := func(kind, payload string) {
		now = now.Add(time.Millisecond)
		n, err := fmt.Fprintf(file, `{"type":%q,"data":%s,"id":"x","timestamp":%q}`+"\n", kind, payload, now.UTC().Format("2006-01-02T15:04:05.000Z"))
		if err != nil {
			b.Fatal(err)
		}
		written += int64(n)
	}
	each := func(l string) {
		kind, payload, _ := strings.Cut(l, " ")
		line(kind, strings.ReplaceAll(payload, "STAMP", fmt.Sprint(now.UnixMilli()+1)))
	}
	each(startLine())
	for n := 0; written < int64(size); n++ {
		last, at = now.UnixMilli(), written
		each(promptLine(fmt.Sprintf("i%d", n), "go"))
		for _, l := range []string{roundLine(), usageLine("c1"), askLine("c1", "bash", "t1"), toolLine("bash", "t1")} {
			each(l)
		}
		each(fmt.Sprintf(`tool.execution_complete {"toolCallId":"t1","success":true,"result":{"content":%q}}`, output))
		each(roundEnd())
		for _, l := range answerLines("c2", "done") {
			each(l)
		}
		each(stopHook())
		each(stopEnd())
	}
	return path, last, at
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

// BenchmarkStop is a drainer's work at the end of a turn in a long session: one that it
// has never heard of, and one that it has followed so far.
func BenchmarkStop(b *testing.B) {
	for _, mb := range []int{22, 110} {
		path, last, at := longLog(b, mb<<20)
		stop := func(r *reducer) int {
			raw, err := json.Marshal(data{Session: sessionID, Log: path, Stamp: last})
			if err != nil {
				b.Fatal(err)
			}
			writes := 0
			for _, e := range []integrations.Event{{Kind: userPrompt, Data: raw}, {Kind: integrations.Grew}} {
				ops, err := r.Apply(drain.NewSnapshot(), e)
				if err != nil {
					b.Fatal(err)
				}
				writes += len(ops)
			}
			return writes
		}
		b.Run(fmt.Sprintf("unknown/%dMB", mb), func(b *testing.B) {
			for b.Loop() {
				if n := stop(newReducer(integrations.Options{})); n != 5 {
					b.Fatalf("%d writes", n)
				}
			}
			b.ReportMetric(peak(), "MB-peak")
		})
		b.Run(fmt.Sprintf("followed/%dMB", mb), func(b *testing.B) {
			for b.Loop() {
				r := newReducer(integrations.Options{})
				r.From = at
				if n := stop(r); n != 5 {
					b.Fatalf("%d writes", n)
				}
			}
			b.ReportMetric(peak(), "MB-peak")
		})
	}
}
