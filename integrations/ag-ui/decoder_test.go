package agui

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll decodes a stream to its end.
func readAll(t *testing.T, r io.Reader, opts Options) []Frame {
	t.Helper()
	d := NewDecoder(r, opts)
	var all []Frame
	for {
		frame, err := d.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, frame)
	}
}

// plain is what a frame holds, in a form that compares.
func plain(t *testing.T, frames []Frame) []string {
	t.Helper()
	var out []string
	for _, f := range frames {
		line := ""
		if f.Event != nil {
			raw, err := f.Event.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			line = string(raw)
		}
		for _, p := range f.Problems {
			line += " !" + p.Code
		}
		out = append(out, line)
	}
	return out
}

func TestEveryFormatOfAStreamGivesTheSameEvents(t *testing.T) {
	streams, err := filepath.Glob("testdata/*/events.sse")
	if err != nil || len(streams) == 0 {
		t.Fatal("no recorded streams", err)
	}
	for _, path := range streams {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			lines := decodeFile(t, filepath.Join(filepath.Dir(path), "events.jsonl"), Lines)
			sse := decodeFile(t, path, SSE)
			if diff := cmp.Diff(lines, sse); diff != "" {
				t.Errorf("lines and server-sent events differ:\n%s", diff)
			}
		})
	}
}

// decodeFile reads a file whole and a byte at a time, and wants its format found.
func decodeFile(t *testing.T, path string, want Format) []string {
	t.Helper()
	open := func() io.Reader {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	whole := plain(t, readAll(t, open(), Options{}))
	if diff := cmp.Diff(whole, plain(t, readAll(t, iotest.OneByteReader(open()), Options{Format: want}))); diff != "" {
		t.Errorf("%s: a byte at a time reads otherwise:\n%s", path, diff)
	}
	return whole
}
