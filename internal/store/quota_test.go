package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

func removed(t *testing.T, s *store.Store) map[string]store.Removed {
	t.Helper()
	list, err := s.Removed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byReason := map[string]store.Removed{}
	for _, r := range list {
		byReason[r.Reason] = r
	}
	return byReason
}

func TestTheOldestTracesMakeRoom(t *testing.T) {
	const most = 512 << 10
	clock := noon
	s := open(t, store.Config{MaxBytes: most, Now: func() time.Time { return clock }})
	var ids []string
	for i := range 40 {
		clock = clock.Add(time.Minute)
		root, llm, tool := turn("th", i+1, clock)
		root.Inputs = []byte(fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", 30<<10)))
		export(t, s, post(root, llm, tool))
		ids = append(ids, root.TraceID.String())
		if size, err := s.Size(t.Context()); err != nil || size > most {
			t.Fatalf("after turn %d: %d bytes, %v", i, size, err)
		}
	}
	turns, err := s.Turns(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(turns) < 10 || len(turns) > 17 {
		t.Errorf("%d turns are left", len(turns))
	}
	for i, turn := range turns { // the newest, whole
		if turn.TraceID != ids[len(ids)-1-i] || turn.Runs != 3 {
			t.Errorf("turn %d: %+v", i, turn)
		}
	}
	gone := removed(t, s)["size"]
	if gone.Traces != 40-len(turns) || gone.Runs != 3*gone.Traces || gone.Bytes < int64(gone.Traces)*30<<10 {
		t.Errorf("%d turns are left, removed %+v", len(turns), gone)
	}
}

func TestTracesAreRemovedByAge(t *testing.T) {
	clock := noon
	cfg := store.Config{Path: filepath.Join(t.TempDir(), "d", "runs.db"), Now: func() time.Time { return clock }}
	s := open(t, cfg)
	old, _, _ := turn("old", 1, noon)
	// What an import brings is old by its own time, not by when it was written.
	kept, llm, _ := turn("kept", 1, noon.AddDate(-1, 0, 0))
	export(t, s, post(old))
	clock = noon.AddDate(0, 0, 20)
	export(t, s, post(kept))

	clock = noon.AddDate(0, 0, 31)
	export(t, s, post(llm)) // any write looks at the ages now and then
	turns, err := s.Turns(t.Context(), store.Filter{})
	if err != nil || len(turns) != 1 || turns[0].ThreadID != "kept" {
		t.Fatalf("%+v %v", turns, err)
	}
	if gone := removed(t, s)["age"]; gone.Traces != 1 || gone.Runs != 1 {
		t.Errorf("%+v", gone)
	}

	clock = noon.AddDate(1, 0, 0)
	s = open(t, cfg) // and so does opening
	if turns, err = s.Turns(t.Context(), store.Filter{}); err != nil || len(turns) != 0 {
		t.Errorf("%+v %v", turns, err)
	}
	if gone := removed(t, s)["age"]; gone.Traces != 2 {
		t.Errorf("%+v", gone)
	}
}

func TestARunLargerThanTheStoreDoesNotStopIt(t *testing.T) {
	s := open(t, store.Config{MaxBytes: 256 << 10})
	big, _, _ := turn("big", 1, noon)
	big.Inputs = []byte(fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", 1<<20)))
	small, _, _ := turn("small", 1, noon)
	export(t, s, post(big))
	export(t, s, post(small), patch(runtypes.Finish(small, noon.Add(time.Second))))
	turns, err := s.Turns(t.Context(), store.Filter{})
	if err != nil || len(turns) != 1 || turns[0].ThreadID != "small" {
		t.Errorf("%+v %v", turns, err)
	}
}

// A page that shows an old store is not to wait for what is too much in it.
func TestWhatIsPastTheBoundsIsLeftToRefresh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	old := open(t, store.Config{Path: path, Now: func() time.Time { return noon }})
	busy(t, old)
	s := open(t, store.Config{Path: path, Late: true, Now: func() time.Time { return noon.AddDate(1, 0, 0) }})
	if list := summaries(t, s, store.Query{}); len(list) != 1 {
		t.Errorf("%+v", list)
	}
	if _, err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := summaries(t, s, store.Query{}); len(list) != 0 || removed(t, s)["age"].Traces != 1 {
		t.Errorf("%+v", list)
	}
}
