package store_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/store"
)

// downgrade turns a store into one of schema 1: a run is in its row as a whole, and
// nothing is summed.
func downgrade(t *testing.T, path string) {
	t.Helper()
	lite(t, path,
		`UPDATE runs SET wire = json_patch(wire, (SELECT json_object('inputs', json(b.inputs), 'outputs', json(b.outputs)) FROM bodies b WHERE b.id = runs.id))
			WHERE id IN (SELECT id FROM bodies)`,
		"DROP TABLE bodies", "DROP TABLE turns", "DROP TABLE words", "PRAGMA user_version = 1")
}

func TestAStoreOfTheFirstSchemaGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	old, err := store.Open(t.Context(), store.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	root := busy(t, old)
	before := trace(t, old, root.ID.String())
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	downgrade(t, path)

	s := open(t, store.Config{Path: path})
	if diff := cmp.Diff(before, trace(t, s, root.ID.String())); diff != "" {
		t.Errorf("a run changed:\n%s", diff)
	}
	if list := summaries(t, s, store.Query{}); len(list) != 0 {
		t.Errorf("opening took the time to sum up: %+v", list)
	}
	if n, err := s.Refresh(t.Context()); n != 1 || err != nil {
		t.Errorf("%d turns were summed, %v", n, err)
	}
	if diff := cmp.Diff([]store.Summary{sumOf(root)}, summaries(t, s, store.Query{Words: "files"})); diff != "" {
		t.Error(diff)
	}
	if n, err := s.Refresh(t.Context()); n != 0 || err != nil {
		t.Errorf("%d turns were summed again, %v", n, err)
	}
}

func TestAnOlderProgramsWriteIsSummedWithTheNext(t *testing.T) {
	s := open(t, store.Config{})
	root, llm, tool := turn("th", 1, noon)
	export(t, s, post(root, llm))
	// It adds a run, and knows of no sums.
	lite(t, s.Path(), "UPDATE turns SET runs = 1, tokens_in = 0, bytes = bytes - 10")
	export(t, s, post(tool))
	got := summaries(t, s, store.Query{})[0]
	if got.Runs != 3 || *got.Tokens.Input != 100 {
		t.Errorf("%+v", got)
	}
}

func TestATurnThatCannotBeReadIsTriedOnce(t *testing.T) {
	s := open(t, store.Config{})
	busy(t, s)
	bad, _, _ := turn("bad", 1, noon.Add(time.Minute))
	export(t, s, post(bad))
	lite(t, s.Path(), "UPDATE runs SET wire = '{' WHERE trace_id = '"+bad.ID.String()+"'", "DELETE FROM turns", "DELETE FROM words")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if n, err := s.Refresh(ctx); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if list := summaries(t, s, store.Query{}); len(list) != 1 || list[0].Thread != "busy" {
		t.Errorf("%+v", list)
	}
}

func TestWhatWasForgottenIsNotInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	s := open(t, store.Config{Path: path})
	kept := busy(t, s)
	root, _, _ := turn("th", 1, noon)
	root.Inputs = []byte(`{"messages":[{"role":"user","content":"a xylophonesecret word"}]}`)
	export(t, s, post(root))
	holds := func() bool {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(read(t, path), "xylophonesecret") || strings.Contains(read(t, path+"-wal"), "xylophonesecret")
	}
	if !holds() {
		t.Fatal("the test looks in the wrong place")
	}
	if n, err := s.Forget(t.Context(), root.ID.String()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if holds() {
		t.Error("it is")
	}
	if list := summaries(t, s, store.Query{}); len(list) != 1 || list[0].TraceID != kept.ID.String() {
		t.Errorf("%+v", list)
	}
	if list := summaries(t, s, store.Query{Words: "xylophonesecret"}); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}
