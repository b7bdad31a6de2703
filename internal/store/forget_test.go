package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A run is written again each time more of it is known: no version of it may
// stay behind in the free space of a page, in the list of words or in the log.
func TestForgetLeavesNoVersionOfARunInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	s := open(t, store.Config{Path: path})
	var forget string
	for n := range 8 { // neighbours keep the pages in use
		root, llm, tool := turn("thread", n+1, noon.Add(time.Duration(n)*time.Minute))
		if n == 4 {
			forget = root.ID.String()
		}
		said := func(times int) []runtypes.Message {
			return []runtypes.Message{{Role: "user", Content: strings.Repeat(fmt.Sprintf("zebra%dquagga ", n), times)}}
		}
		root.Inputs, llm.Inputs = runtypes.Messages(said(10)...), runtypes.Messages(said(300)...)
		export(t, s, post(root, llm, tool))
		root.Outputs, llm.Outputs = runtypes.Messages(said(20)...), runtypes.Messages(said(1)...)
		export(t, s, patch(root, llm, tool))
	}
	if n, err := s.Forget(t.Context(), forget); n == 0 || err != nil {
		t.Fatal(n, err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	kept := false
	for _, file := range files {
		held, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(held, []byte("zebra4quagga")) {
			t.Errorf("%s still holds what was forgotten", filepath.Base(file))
		}
		kept = kept || bytes.Contains(held, []byte("zebra3quagga"))
	}
	if !kept {
		t.Error("a turn that was not forgotten is gone")
	}
}

func TestForgetSaysWhenAReaderKeepsTheBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	s := open(t, store.Config{Path: path, Busy: 20 * time.Millisecond})
	root, llm, _ := turn("thread", 1, noon)
	export(t, s, post(root, llm))
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	reading, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Rollback() // it wrote nothing
	var n int
	if err := reading.QueryRowContext(t.Context(), "SELECT count(*) FROM runs").Scan(&n); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if runs, err := s.Forget(t.Context(), root.ID.String()); runs != 2 || !errors.Is(err, store.ErrHeld) {
		t.Errorf("%d runs, %v", runs, err)
	}
}
