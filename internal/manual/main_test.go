package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/cli"
)

func TestEveryCommandThatHelpShowsHasAPage(t *testing.T) {
	files := manual(t)
	for _, cmd := range cli.Tree().Commands() {
		page, shown := files["man/tracesmith-"+cmd.Name()+".1.gz"]
		if shown != cmd.IsAvailableCommand() {
			t.Errorf("%s: has a page: %v, is shown by help: %v", cmd.Name(), shown, cmd.IsAvailableCommand())
		}
		if shown && !strings.Contains(text(t, page), cmd.Short) {
			t.Errorf("the page of %s does not say %q", cmd.Name(), cmd.Short)
		}
	}
	if front := text(t, files["man/tracesmith.1.gz"]); !strings.Contains(front, `"Nov 2026"`) {
		t.Errorf("the date is not the one asked for: %.200s", front)
	}
}

func TestTheManualCanBeRepeatedByteForByte(t *testing.T) {
	first, second := manual(t), manual(t)
	if len(first) < 20 {
		t.Errorf("only %d files", len(first))
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

func TestAManualWithoutADayIsRefused(t *testing.T) {
	if err := run(t.TempDir(), "today"); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("err = %v", err)
	}
}

// manual writes the manual and returns its files by their paths.
func manual(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if err := run(dir, "2026-11-30T12:00:00Z"); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func text(t *testing.T, packed []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
