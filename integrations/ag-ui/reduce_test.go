package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// arrival is when the first event of a test's stream came.
var arrival = time.Date(2026, 11, 30, 4, 5, 6, 0, time.UTC)

// feed gives a stream to a reducer, an event each millisecond.
func feed(t *testing.T, r *Reducer, stream string, end End) {
	t.Helper()
	d := NewDecoder(strings.NewReader(stream), Options{})
	at := arrival
	for {
		f, err := d.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Add(f, at)
		at = at.Add(time.Millisecond)
	}
	r.Close(end, at)
}

// reduced returns the runs of a stream, which keep the contract.
func reduced(t *testing.T, stream string, opts RunOptions) []runtypes.Run {
	t.Helper()
	var sink runtypes.Recorder
	feed(t, NewReducer(&sink, opts), stream, EndOfStream)
	return kept(t, &sink)
}

func kept(t *testing.T, sink *runtypes.Recorder) []runtypes.Run {
	t.Helper()
	runs, err := sink.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range runtypes.Validate(runs) {
		t.Error(v)
	}
	for _, run := range runs {
		if run.Pending() {
			t.Errorf("%s is left open", run.Name)
		}
	}
	return runs
}

// tree draws runs as an indented list of kinds, names and errors.
func tree(runs []runtypes.Run) string {
	var b strings.Builder
	for _, run := range runs {
		line := fmt.Sprintf("%s%s %s", strings.Repeat("  ", strings.Count(run.DottedOrder, ".")), run.Kind, run.Name)
		if run.Error != "" {
			line += ": " + run.Error
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func wantTree(t *testing.T, runs []runtypes.Run, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), tree(runs)); diff != "" {
		t.Errorf("runs:\n%s", diff)
	}
}

// metadata is a run's extra.metadata as it goes on the wire.
func metadata(t *testing.T, run runtypes.Run) map[string]any {
	t.Helper()
	w, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: &run})
	if err != nil {
		t.Fatal(err)
	}
	return w.Metadata()
}

func TestEveryRecordedStreamGivesItsRuns(t *testing.T) {
	recorded, err := filepath.Glob("testdata/*/events.*")
	if err != nil || len(recorded) == 0 {
		t.Fatal("no recorded streams", err)
	}
	for _, path := range recorded {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			stream := string(readFile(t, path))
			runs := reduced(t, stream, RunOptions{})
			got, err := json.MarshalIndent(wires(t, runs), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Ext(path) == ".bin" { // numbers are doubles there
				return
			}
			// Tracesmith's own version is not what is tested.
			got = bytes.ReplaceAll(got, marshal(t, runtypes.Version()), []byte(`"VERSION"`))
			golden := filepath.Join(filepath.Dir(path), "runs.json")
			if *update && filepath.Ext(path) == ".jsonl" {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(bytes.TrimSpace(readFile(t, golden))), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func wires(t *testing.T, runs []runtypes.Run) []runtypes.Wire {
	t.Helper()
	all := make([]runtypes.Wire, 0, len(runs))
	for i := range runs {
		w, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: &runs[i]})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	return all
}
