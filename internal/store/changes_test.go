package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// watched looks at the changes of a store, from now on.
func watched(t *testing.T, s *store.Store) (look func(want store.Changes)) {
	t.Helper()
	var watch store.Watch
	look = func(want store.Changes) {
		t.Helper()
		got, err := s.Changed(t.Context(), &watch)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	look(store.Changes{})
	return look
}

func TestALookAtChangesTellsWhatWasWritten(t *testing.T) {
	s := open(t, store.Config{})
	history(t, s)
	look := watched(t, s)
	root, llm, _ := turn("new", 1, noon)
	for _, op := range [][]runtypes.Op{post(root), post(llm), patch(root)} {
		export(t, s, op)
		look(store.Changes{Written: []string{root.ID.String()}})
	}
	look(store.Changes{})
}

func TestALookAtChangesTellsWhatIsGone(t *testing.T) {
	s := open(t, store.Config{})
	ids := history(t, s)
	look := watched(t, s)
	forget := func(id string) {
		t.Helper()
		if runs, err := s.Forget(t.Context(), id); err != nil || runs == 0 {
			t.Fatal(runs, err)
		}
	}
	forget(ids[1])
	look(store.Changes{Removed: []string{ids[1]}})
	look(store.Changes{})

	// One comes and one goes: as many as before.
	root, _, _ := turn("new", 1, noon.Add(time.Hour))
	export(t, s, post(root))
	forget(ids[2])
	look(store.Changes{Written: []string{root.ID.String()}, Removed: []string{ids[2]}})

	// What comes and goes between two looks was never there.
	late, _, _ := turn("late", 1, noon.Add(2*time.Hour))
	export(t, s, post(late))
	forget(late.ID.String())
	look(store.Changes{})
}

func TestALookAtChangesSeesWhatComesAfterAClockWasPutBack(t *testing.T) {
	clock := noon.Add(24 * time.Hour)
	s := open(t, store.Config{Now: func() time.Time { return clock }})
	root, llm, tool := turn("ahead", 1, noon)
	export(t, s, post(root, llm))
	late, _, _ := turn("late", 1, noon)

	clock = noon
	look := watched(t, s)
	export(t, s, post(late))
	look(store.Changes{Written: []string{late.ID.String()}})
	export(t, s, post(tool))
	look(store.Changes{Written: []string{root.ID.String()}})
	look(store.Changes{})
}

// ending is a context that is done after so many questions whether it is.
type ending struct {
	context.Context
	left atomic.Int64
}

func endingAfter(ctx context.Context, questions int) *ending {
	e := &ending{Context: ctx}
	e.left.Store(int64(questions))
	return e
}

var over = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

func (e *ending) Done() <-chan struct{} {
	if e.left.Add(-1) < 0 {
		return over
	}
	return e.Context.Done()
}

func (e *ending) Err() error {
	if e.left.Load() < 0 {
		return context.Canceled
	}
	return e.Context.Err()
}

// A look asks the store several things, and any of them may fail.
func TestALookThatFailsLosesNoChange(t *testing.T) {
	s := open(t, store.Config{})
	root, _, _ := turn("thread", 1, noon)
	export(t, s, post(root))
	var watch store.Watch
	if _, err := s.Changed(t.Context(), &watch); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for n := 0; ; n++ {
		step := runtypes.Tool(root, runID(noon, fmt.Sprint(n)), noon, "Bash")
		export(t, s, post(step))
		got, err := s.Changed(endingAfter(t.Context(), n), &watch)
		if err == nil && n > 0 {
			break
		}
		failed++
		if got, err = s.Changed(t.Context(), &watch); err != nil || !slices.Contains(got.Written, root.ID.String()) {
			t.Errorf("after a look that ended at question %d: %v, %v", n, got, err)
		}
	}
	if failed < 2 {
		t.Errorf("%d looks failed", failed)
	}
}
