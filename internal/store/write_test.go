package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestAReplayChangesNothing(t *testing.T) {
	s := open(t, store.Config{})
	root, llm, _ := turn("th", 1, noon)
	first := post(root, llm)
	runtypes.Finish(root, noon.Add(time.Minute))
	last := patch(root)
	export(t, s, first, last)
	before := trace(t, s, root.ID.String())

	runtypes.Interrupt(root, noon.Add(time.Hour), "a second patch is not the first")
	export(t, s, first, last, patch(root), first)
	if diff := cmp.Diff(before, trace(t, s, root.ID.String())); diff != "" {
		t.Error(diff)
	}
}

func TestAPatchMayComeBeforeItsPost(t *testing.T) {
	for _, reopen := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "d", "runs.db")
		s := open(t, store.Config{Path: path})
		root, _, _ := turn("th", 1, noon)
		pending := post(root)
		root.Outputs = []byte(`{"done":true}`)
		runtypes.Finish(root, noon.Add(time.Minute))
		export(t, s, patch(root))
		if reopen {
			s = open(t, store.Config{Path: path})
		}
		export(t, s, pending)
		run := trace(t, s, root.ID.String())[0]
		if run.EndTime == "" || len(run.Inputs) == 0 || string(run.Outputs) != `{"done":true}` {
			t.Errorf("reopen %t: %+v", reopen, run)
		}
	}
}

func TestAPostThatEndsAPendingRunEndsIt(t *testing.T) {
	s := open(t, store.Config{})
	root, _, _ := turn("th", 1, noon)
	export(t, s, post(root))
	runtypes.Finish(root, noon.Add(time.Minute))
	export(t, s, post(root)) // post and patch, merged after a crash
	if run := trace(t, s, root.ID.String())[0]; run.EndTime == "" {
		t.Errorf("still pending: %+v", run)
	}
}

func TestAnOpWithoutAWireFormIsDroppedAlone(t *testing.T) {
	var lost []runtypes.Op
	var why error
	s := open(t, store.Config{OnDrop: func(ops []runtypes.Op, err error) { lost, why = append(lost, ops...), err }})
	root, llm, _ := turn("th", 1, noon)
	llm.Outputs = []byte(`{"cut`)
	export(t, s, post(llm, root))
	var field *runtypes.FieldError
	if len(lost) != 1 || lost[0].Run.ID != llm.ID || !errors.As(why, &field) || field.Field != "outputs" {
		t.Errorf("lost %d: %v", len(lost), why)
	}
	if n := len(trace(t, s, root.ID.String())); n != 1 {
		t.Errorf("%d runs", n)
	}
}

func TestWhatCannotBeStoredIsHandedBack(t *testing.T) {
	dropped := 0
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "d", "runs.db"), OnDrop: func([]runtypes.Op, error) { dropped++ }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	root, llm, tool := turn("th", 1, noon)
	tool.Outputs = []byte(`{"cut`) // it will be dropped, but counts when the others are stored
	if rest, err := s.Export(t.Context(), post(root, tool, llm)); err == nil || len(rest) != 3 || dropped != 0 {
		t.Errorf("%d left, %d dropped, %v", len(rest), dropped, err)
	}
}

func TestFreshKnowsPostsFromPatches(t *testing.T) {
	s := open(t, store.Config{})
	root, llm, tool := turn("th", 1, noon)
	export(t, s, post(root, llm), patch(root, tool))
	var wires []runtypes.Wire
	for _, op := range post(root, llm, tool) {
		w, err := runtypes.Encode(op)
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, w)
	}
	posts, patches, err := s.Fresh(t.Context(), wires, wires)
	if err != nil {
		t.Fatal(err)
	}
	if len(posts) != 1 || posts[0].ID != tool.ID.String() || len(patches) != 1 || patches[0].ID != llm.ID.String() {
		t.Errorf("posts %v patches %v", posts, patches)
	}
}

func TestAStoreIsMadeWhileOthersHoldItsFile(t *testing.T) {
	for range 10 {
		path := filepath.Join(t.TempDir(), "runs.db")
		others, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		var holding sync.WaitGroup
		holding.Go(func() { // again and again, for a moment
			for {
				if tx, err := others.BeginTx(context.WithoutCancel(t.Context()), nil); err == nil {
					time.Sleep(2 * time.Millisecond)
					_ = tx.Rollback()
				}
				select {
				case <-done:
					return
				case <-time.After(2 * time.Millisecond):
				}
			}
		})
		s, err := store.Open(t.Context(), store.Config{Path: path})
		close(done)
		holding.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Close(), others.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestSeveralHandlesWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	const handles, turns = 3, 5
	var wg sync.WaitGroup
	for h := range handles {
		wg.Go(func() {
			s, err := store.Open(t.Context(), store.Config{Path: path}) // the first of them makes the schema
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for n := range turns {
				// One turn of this handle's own, and one that all of them write.
				for _, thread := range []string{fmt.Sprint("own-", h), "shared"} {
					root, llm, tool := turn(thread, n+1, noon.Add(time.Duration(n)*time.Minute))
					if rest, err := s.Export(t.Context(), post(root, llm, tool)); err != nil || len(rest) > 0 {
						t.Error(err)
						return
					}
					if _, err := s.Turns(t.Context(), store.Filter{}); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	s := open(t, store.Config{Path: path})
	threads, _, err := s.Threads(t.Context(), store.Query{}, store.Place{}, 0)
	if err != nil || len(threads) != handles+1 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	for _, th := range threads {
		if th.Turns != turns {
			t.Errorf("%s: %d turns", th.ID, th.Turns)
		}
	}
}

func TestRunsOutliveAWriterThatWasKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	killed := open(t, store.Config{Path: path}) // never closed before the next one reads
	root, llm, tool := turn("th", 1, noon)
	export(t, killed, post(root, llm, tool))
	s := open(t, store.Config{Path: path})
	if n := len(trace(t, s, root.ID.String())); n != 3 {
		t.Errorf("%d runs", n)
	}
	export(t, s, patch(root))
}
