package journal

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/uuid"
)

func traceID(n int) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8000-%012d", n))
}

func mustEnter(t *testing.T, s *State, traces ...uuid.UUID) {
	t.Helper()
	if err := s.Enter("one", traces); err != nil {
		t.Fatal(err)
	}
}

func ledger(t *testing.T, s *State, destination string) *Traces {
	t.Helper()
	traces, err := s.Ledger(destination)
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

func TestLedgerHoldsWhatWasEntered(t *testing.T) {
	s := open(t)
	if ledger(t, s, "one").Has(traceID(1)) {
		t.Error("an empty ledger has a trace")
	}
	mustEnter(t, s, traceID(3), traceID(1))
	mustEnter(t, s, traceID(2), traceID(1))
	got := ledger(t, s, "one")
	for n := 1; n <= 4; n++ {
		if got.Has(traceID(n)) != (n < 4) {
			t.Errorf("trace %d: %v", n, got.Has(traceID(n)))
		}
	}
	if ledger(t, s, "two").Has(traceID(1)) {
		t.Error("another destination has the trace")
	}
	got.Add(traceID(4))
	if !got.Has(traceID(4)) {
		t.Error("an added trace is not there")
	}
	if all, err := s.Destinations(); err != nil || len(all) != 0 {
		t.Errorf("a ledger is no destination's record: %v, %v", all, err)
	}
}

func TestLedgerOutlivesAKilledWriter(t *testing.T) {
	s := open(t)
	mustEnter(t, s, traceID(1))
	f, err := os.OpenFile(s.ledgerPath("one"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "0000000000007000") // and then it was killed
	f.Close()
	mustEnter(t, s, traceID(2))
	got := ledger(t, s, "one")
	if !got.Has(traceID(1)) || !got.Has(traceID(2)) || len(got.sorted) != 2 {
		t.Errorf("the ledger has %v", got.sorted)
	}
}

func TestLedgerForgetsTheOlderHalf(t *testing.T) {
	s := open(t)
	for n := range 10 {
		mustEnter(t, s, traceID(n))
	}
	if err := trimLedger(s.ledgerPath("one"), 10); err != nil {
		t.Fatal(err)
	}
	if n := len(ledger(t, s, "one").sorted); n != 10 {
		t.Fatalf("%d traces before the limit, want 10", n)
	}
	if err := trimLedger(s.ledgerPath("one"), 9); err != nil {
		t.Fatal(err)
	}
	got := ledger(t, s, "one")
	if got.Has(traceID(4)) || !got.Has(traceID(6)) || !got.Has(traceID(9)) {
		t.Errorf("the ledger has %v", got.sorted)
	}
}

func TestLedgerTakesManyWriters(t *testing.T) {
	s := open(t)
	var group sync.WaitGroup
	for n := range 16 {
		group.Go(func() {
			if err := s.Enter("one", []uuid.UUID{traceID(2 * n), traceID(2*n + 1)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := len(ledger(t, s, "one").sorted); n != 32 {
		t.Errorf("%d traces, want 32", n)
	}
}

func TestLedgerRefusesANameThatIsNone(t *testing.T) {
	if err := open(t).Enter("../one", []uuid.UUID{traceID(1)}); err == nil {
		t.Error("a path was taken for a destination")
	}
}
