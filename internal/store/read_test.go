package store_test

import (
	"database/sql"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// history stores five turns of two threads, a minute apart: the third failed
// and the fifth was interrupted. It returns their trace ids.
func history(t *testing.T, s *store.Store) []string {
	t.Helper()
	var ids []string
	for i := range 5 {
		at := noon.Add(time.Duration(i) * time.Minute)
		root, llm, tool := turn([]string{"even", "odd"}[i%2], i/2+1, at)
		runtypes.Finish(llm, at.Add(2*time.Second))
		runtypes.Finish(tool, at.Add(3*time.Second)).Error = "exit status 1"
		runtypes.Finish(root, at.Add(4*time.Second))
		switch i {
		case 2:
			root.Error = "overloaded"
		case 4:
			runtypes.Interrupt(root, at.Add(4*time.Second), "Interrupted by user")
		}
		export(t, s, post(tool, llm, root))
		ids = append(ids, root.TraceID.String())
	}
	return ids
}

func TestTurnsAreListedNewestFirstAndFiltered(t *testing.T) {
	s := open(t, store.Config{})
	ids := history(t, s)
	for name, tc := range map[string]struct {
		filter store.Filter
		want   []int
	}{
		"all":    {store.Filter{}, []int{4, 3, 2, 1, 0}},
		"last":   {store.Filter{Limit: 1}, []int{4}},
		"thread": {store.Filter{Thread: "odd"}, []int{3, 1}},
		"failed": {store.Filter{Failed: true}, []int{4, 2}},
		"both":   {store.Filter{Failed: true, Thread: "odd"}, nil},
		"before": {store.Filter{Before: noon.Add(2 * time.Minute)}, []int{1, 0}},
		"none":   {store.Filter{Thread: "x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			turns, err := s.Turns(t.Context(), tc.filter)
			if err != nil || len(turns) != len(tc.want) {
				t.Fatalf("%d turns, %v", len(turns), err)
			}
			for i, n := range tc.want {
				if turns[i].TraceID != ids[n] {
					t.Errorf("turn %d is not %d", i, n)
				}
			}
		})
	}
	turns, err := s.Turns(t.Context(), store.Filter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if last := turns[0]; !last.Interrupted || last.Error != "Interrupted by user" || last.Kind != runtypes.KindInterrupted ||
		last.FailedRuns != 2 || last.Number != 3 {
		t.Errorf("%+v", last)
	}
}

func TestATraceIsFoundByAnUnmistakablePrefix(t *testing.T) {
	s := open(t, store.Config{})
	ids := history(t, s)
	if runs := trace(t, s, ids[0][:18]); len(runs) != 3 || runs[0].TraceID != ids[0] {
		t.Errorf("%d runs", len(runs))
	}
	sibling, _, _ := turn("sibling", 1, noon.Add(time.Second)) // which eight digits do not tell from the first
	export(t, s, post(sibling))
	for _, id := range []string{"", ids[0][:7], ids[0][:8], "%%%%%%%%%", "00000000", "ffffffff-ffff"} {
		if _, err := s.Trace(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestATraceWithoutItsRootIsShownByItsFirstRun(t *testing.T) {
	s := open(t, store.Config{})
	root, llm, tool := turn("th", 1, noon)
	export(t, s, post(tool), post(llm))
	for _, want := range []*runtypes.Run{llm, root} {
		turns, err := s.Turns(t.Context(), store.Filter{})
		if err != nil || len(turns) != 1 || turns[0].Kind != want.Kind || turns[0].ThreadID != "th" {
			t.Fatalf("want %s: %+v %v", want.Kind, turns, err)
		}
		export(t, s, post(root))
	}
}

func TestTokensBeyondAllMeasureDoNotHideTurns(t *testing.T) {
	s := open(t, store.Config{})
	root, llm, _ := turn("th", 1, noon)
	other := runtypes.LLM(root, runID(noon, "other"), noon.Add(time.Second), runtypes.Model{Name: "m"})
	llm.Usage = &runtypes.Usage{Input: math.MaxInt64, Output: 7}
	other.Usage = &runtypes.Usage{Input: math.MaxInt64, Output: 7}
	export(t, s, post(root, llm, other))
	check := func() {
		t.Helper()
		turns, err := s.Turns(t.Context(), store.Filter{})
		if err != nil || len(turns) != 1 || turns[0].TokensIn <= 0 || turns[0].TokensOut != 14 {
			t.Errorf("%+v %v", turns, err)
		}
	}
	check()
	// Rows of an earlier version hold them as they came.
	db, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE runs SET tokens_in = ? WHERE kind = 'llm'", int64(math.MaxInt64)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	check()
}
