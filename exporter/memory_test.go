package exporter

import (
	"bytes"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// Each encoder keeps a history of twice its window.
func TestBodiesThatFollowEachOtherShareAnEncoder(t *testing.T) {
	const senders = 8
	c := newCoder(senders, 1)
	body := []byte(strings.Repeat(`{"messages":[{"role":"user","content":"what does this do?"}]}`, 8<<10))
	want, ok := c.encode(codingZstd, body)
	if !ok {
		t.Fatal("not compressed")
	}
	var got []byte
	used := allocated(func() {
		for range senders {
			got, _ = c.encode(codingZstd, body)
		}
	})
	if used > 8<<20 || !bytes.Equal(got, want) {
		t.Errorf("%d bytes for %d bodies of %d", used, senders, len(body))
	}
}

func TestARunThatIsNotRedactedIsNotCopied(t *testing.T) {
	run := pending(1)
	run.Inputs = json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	run.Metadata = map[string]any{"list": []any{"a"}}
	for name, check := range map[string]struct {
		redact func(*runtypes.Run) error
		same   bool
	}{"off": {NoRedaction, true}, "the caller's": {func(*runtypes.Run) error { return nil }, false}} {
		clean, err := newRedactor(check.redact)(run)
		if err != nil || (&clean.Inputs[0] == &run.Inputs[0]) != check.same {
			t.Errorf("%s: the same bytes: %v, %v", name, !check.same, err)
		}
	}
}
