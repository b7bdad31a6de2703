//go:build linux

package road

import (
	"slices"
	"testing"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

// An endpoint that is down while the agent works costs the agent nothing and loses
// nothing: when it is back every run arrives, once.
func TestWhatAnOutageHeldBackArrivesOnceWhenItIsOver(t *testing.T) {
	outages := map[string]func(*ingest.Server) error{
		"refusing": func(s *ingest.Server) error { return s.Refuse() },
		"hanging": func(s *ingest.Server) error {
			s.Script(ingest.Fault{Kind: ingest.FaultHang, Times: -1})
			return nil
		},
		"answering 500": func(s *ingest.Server) error {
			s.Script(ingest.Fault{Status: 500, Times: -1})
			return nil
		},
	}
	for name, down := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outage(t, down)
		})
	}
}

func outage(t *testing.T, down func(*ingest.Server) error) {
	j := begin(t, "edit", nil)
	if err := down(j.server); err != nil {
		t.Fatal(err)
	}
	j.run()
	slices.Sort(j.drive.Times)
	t.Logf("hooks: p50 %v of %d", j.drive.Times[len(j.drive.Times)/2], len(j.drive.Times))
	if n := len(j.server.Memory().Runs()); n != 0 {
		t.Fatalf("%d runs arrived during the outage", n)
	}
	killer := &killer{state: j.state, dice: &dice{}}
	killer.drainers(0) // what remains is what a drainer tomorrow finds
	killer.wait()
	want := j.expected()

	if err := j.server.Resume(); err != nil {
		t.Fatal(err)
	}
	j.server.Script()
	j.deliver()
	j.compare(want)
}
