package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// Whatever a stream holds, its runs keep the contract, each is posted once and patched at
// most once, and none is left open.
func FuzzReduce(f *testing.F) {
	recorded, err := filepath.Glob("testdata/*/events.*")
	if err != nil || len(recorded) == 0 {
		f.Fatal("no recorded streams", err)
	}
	for _, path := range recorded {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw), false)
	}
	f.Fuzz(func(t *testing.T, stream string, settled bool) {
		var sink runtypes.Recorder
		feed(t, NewReducer(&sink, RunOptions{Settled: settled, State: true}), stream, EndOfStream)
		kept(t, &sink)
	})
}

// server holds runs as LangSmith does: a patch replaces what it says, and leaves inputs.
type server map[string]runtypes.Wire

func (s server) Submit(op runtypes.Op) error {
	w, err := runtypes.Encode(op)
	if err != nil {
		return err
	}
	if op.Verb == runtypes.Patch {
		w = runtypes.MergeWire(s[w.ID], w)
	}
	w.Inputs = nil // a call that is opened again after its result has the arguments of before
	s[w.ID] = w
	return nil
}

func served(t *testing.T, stream string, opts RunOptions) server {
	t.Helper()
	s := server{}
	r := NewReducer(s, opts)
	feed(t, r, stream, EndOfStream)
	if n := r.Counts().Refused; n > 0 {
		t.Errorf("%d writes were refused", n)
	}
	return s
}

// Events in any order, of any runs, are told the same live as when all is over.
func TestAnyOrderOfEventsGivesTheSameRunsLiveAndSettled(t *testing.T) {
	recorded, err := filepath.Glob("testdata/*/events.jsonl")
	if err != nil || len(recorded) == 0 {
		t.Fatal("no recorded streams", err)
	}
	var events []string
	for _, path := range recorded {
		events = append(events, strings.Split(strings.TrimSpace(string(readFile(t, path))), "\n")...)
	}
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 0))
		from := random.IntN(len(events) - 30) // neighbours have ids in common
		lines := slices.Clone(events[from : from+30])
		random.Shuffle(len(lines), func(i, j int) {
			if random.IntN(3) > 0 {
				lines[i], lines[j] = lines[j], lines[i]
			}
		})
		stream := strings.Join(lines, "\n")
		reduced(t, stream, RunOptions{}) // which are valid
		if diff := cmp.Diff(served(t, stream, RunOptions{Settled: true}), served(t, stream, RunOptions{})); diff != "" {
			t.Fatalf("seed %d: live differs from settled:\n%s\n%s", seed, diff, stream)
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, stream)
		}
	}
}
