package drain

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// BenchmarkDrain delivers a backlog of 1000 entries, each a run, to a destination
// that takes them at once.
func BenchmarkDrain(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		state, err := journal.Open(filepath.Join(b.TempDir(), "tracesmith", "v1"))
		if err != nil {
			b.Fatal(err)
		}
		s := state.Session("toy", "s")
		const entries = 1000
		for i := range entries {
			if err := s.Append(journal.Entry{Event: "tool", At: began, Data: fmt.Appendf(nil, `{"tool":"%d"}`, i)}); err != nil {
				b.Fatal(err)
			}
		}
		taken := 0
		d, err := New(Config{
			State: state, Agents: toyAgents(nil), Redact: func(*runtypes.Run) error { return nil },
			Destinations: []Destination{{ID: "one", Past: true, Export: Plain(func(_ context.Context, ops []runtypes.Op) ([]runtypes.Op, error) {
				taken += len(ops)
				return nil, nil
			})}},
		})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := d.Deliver(b.Context(), s.Key(), false); err != nil || taken != entries {
			b.Fatalf("%d of %d, %v", taken, entries, err)
		}
	}
}
