package copilot_test

import (
	"bytes"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/copilot"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// disk is a Source of the files as they are.
type disk struct{}

func (disk) Glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }
func (disk) File(path string) ([]byte, error)      { return os.ReadFile(path) }

func (disk) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}

func (disk) Recall(string) (integrations.Event, error) {
	return integrations.Event{}, fs.ErrNotExist
}

func (disk) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		raw, err := os.ReadFile(path)
		if err != nil {
			yield(integrations.Line{}, err)
			return
		}
		for at := from; at < int64(len(raw)); {
			end := bytes.IndexByte(raw[at:], '\n')
			if end < 0 {
				return
			}
			next := at + int64(end) + 1
			if !yield(integrations.Line{Offset: at, Next: next, Data: raw[at : next-1]}, nil) {
				return
			}
			at = next
		}
	}
}

func sessions(t *testing.T, home, path string) []integrations.Session {
	t.Helper()
	var list []integrations.Session
	for s, err := range copilot.Agent().Past(disk{}, integrations.Place{Home: home, Path: path, Env: func(string) string { return "" }}) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// imported builds the runs of a home's past sessions as they stand in the end.
func imported(t *testing.T, home string) (runs []runtypes.Wire, traces []uuid.UUID) {
	t.Helper()
	final := map[uuid.UUID]runtypes.Wire{}
	for _, s := range sessions(t, home, "") {
		told, err := s.Tell(disk{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, told.Traces...)
		r := copilot.Agent().NewReducer(integrations.Options{})
		for _, e := range append(told.Events, integrations.Event{Kind: integrations.Grew}, integrations.Event{Kind: integrations.Dead}) {
			ops, err := r.Apply(disk{}, e)
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				wire, err := runtypes.Encode(op)
				if err != nil {
					t.Fatal(err)
				}
				if before, ok := final[op.Run.ID]; ok {
					wire = runtypes.MergeWire(before, wire)
				}
				final[op.Run.ID] = wire
			}
		}
	}
	for _, wire := range final {
		runs = append(runs, wire)
	}
	slices.SortFunc(runs, func(a, b runtypes.Wire) int { return strings.Compare(a.DottedOrder, b.DottedOrder) })
	return runs, traces
}

func TestImportGivesTheRunsThatHooksGave(t *testing.T) {
	for _, dir := range recordings(t) {
		if _, err := os.Stat(filepath.Join(dir, "home")); err != nil {
			continue // the session kept no log
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			home, err := filepath.Abs(filepath.Join(dir, "home"))
			if err != nil {
				t.Fatal(err)
			}
			runs, traces := imported(t, home)
			want := play(t, dir, replay.Options{}).Runs
			if diff := cmp.Diff(string(indent(t, want)), string(indent(t, runs))); diff != "" {
				t.Errorf("imported runs differ (-hooks +import):\n%s", diff)
			}
			var roots []string
			for _, run := range runs {
				if run.ParentRunID == "" {
					roots = append(roots, run.ID)
				}
			}
			for _, id := range traces {
				if !slices.Contains(roots, id.String()) {
					t.Errorf("trace %s was announced and never came", id)
				}
			}
			if len(traces) != len(roots) {
				t.Errorf("%d traces announced, %d came", len(traces), len(roots))
			}
		})
	}
}

func TestPastIsFoundByFileByFolderAndByProject(t *testing.T) {
	home, err := filepath.Abs("testdata/compact_clear/home")
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(home, ".copilot/session-state")
	one := filepath.Join(state, "ee875319-ab43-4bad-84f4-b4bd5f8e580f")
	for path, want := range map[string]int{
		"": 2, state: 2, filepath.Join(home, ".copilot"): 2, home: 2, one: 1, filepath.Join(one, "events.jsonl"): 1,
		"/home/dev/widgets": 2, "/home/dev": 2, "/home/dev/wid": 0, "/nowhere": 0,
	} {
		found := sessions(t, home, path)
		if len(found) != want {
			t.Errorf("%q: %d sessions, want %d", path, len(found), want)
		}
		for _, s := range found {
			if !strings.Contains(s.Main(), s.ID) {
				t.Errorf("%q: session %s in %s", path, s.ID, s.Main())
			}
		}
	}
	if list := sessions(t, home, ""); len(list) == 2 && list[0].ID != filepath.Base(one) {
		t.Error("the younger session goes first")
	}
}

func TestASessionThatIsOpenNamesItsProcess(t *testing.T) {
	const id = "091e8b1b-7a4f-456e-b749-c97b92e2afa3"
	home := t.TempDir()
	dir := filepath.Join(home, ".copilot/session-state", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/plain/home/.copilot/session-state/" + id + "/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"events.jsonl": raw, "inuse.4711.lock": nil, "inuse.x.lock": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := sessions(t, home, "")
	if len(list) != 1 || len(list[0].Procs) != 1 || list[0].Procs[0].PID != 4711 || !list[0].Noted {
		t.Errorf("%+v", list)
	}
}
