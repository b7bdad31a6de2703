package store_test

import (
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
