package openaicodex_test

import (
	"bytes"
	"encoding/json"
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
	openaicodex "github.com/tracesmith/tracesmith/integrations/openai-codex"
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
	for s, err := range openaicodex.Agent().Past(disk{}, integrations.Place{Home: home, Path: path, Env: func(string) string { return "" }}) {
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
		r := openaicodex.Agent().NewReducer(integrations.Options{})
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
			continue // the session kept no rollout
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
			var roots []uuid.UUID
			for _, run := range runs {
				if run.ParentRunID == "" {
					roots = append(roots, uuid.MustParse(run.ID))
				}
			}
			slices.SortFunc(traces, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
			slices.SortFunc(roots, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
			if diff := cmp.Diff(roots, traces); diff != "" {
				t.Errorf("traces foretold differ (-begun +foretold):\n%s", diff)
			}
		})
	}
}

// Over a folder the user may mean a day, all sessions, Codex's own, a home, or where
// they worked; over a file the thread that it belongs to.
func TestPastFindsWhatAPlaceHolds(t *testing.T) {
	home, err := filepath.Abs("testdata/fork/home")
	if err != nil {
		t.Fatal(err)
	}
	day := filepath.Join(home, ".codex/sessions/2026/11/30")
	f := func(path string, want int) {
		t.Helper()
		if got := len(sessions(t, home, path)); got != want {
			t.Errorf("%q: %d sessions, want %d", path, got, want)
		}
	}
	f("", 2)
	f(day, 2)
	f(filepath.Join(home, ".codex/sessions"), 2)
	f(filepath.Join(home, ".codex"), 2)
	f(home, 2)
	f("/home/dev/widgets", 2)
	f("/home/dev", 2)
	f("/home/dev/other", 0)
	f(filepath.Join(day, "rollout-2026-11-30T04-31-10-01a22ab8-98df-7822-a3ee-0199e5ab71fc.jsonl"), 1)

	subs, err := filepath.Abs("testdata/sub_v2/home")
	if err != nil {
		t.Fatal(err)
	}
	list := sessions(t, subs, "")
	if len(list) != 1 || len(list[0].Files) != 3 {
		t.Errorf("subagents: %d sessions, want one of 3 files: %+v", len(list), list)
	}
}

// After a rollback a thread goes on in a second file; its turns are numbered on.
func TestAThreadInTwoFilesIsOneSession(t *testing.T) {
	from := "testdata/tui_two_turns/home/.codex/sessions/2026/11/30"
	paths, err := filepath.Glob(filepath.Join(from, "*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(raw, []byte("\n"))
	var second []byte
	cut := 0
	for i, l := range lines {
		if bytes.Contains(l, []byte(`"type":"task_started"`)) {
			if cut++; cut == 2 {
				var meta map[string]any
				if err := json.Unmarshal(lines[0], &meta); err != nil {
					t.Fatal(err)
				}
				payload, _ := meta["payload"].(map[string]any)
				payload["history_base"] = map[string]any{"thread_id": payload["id"], "end_ordinal_exclusive": 30}
				first, err := json.Marshal(meta)
				if err != nil {
					t.Fatal(err)
				}
				second = append(append(first, '\n'), bytes.Join(lines[i:], nil)...)
				raw = bytes.Join(lines[:i], nil)
				break
			}
		}
	}
	home := t.TempDir()
	dir := filepath.Join(home, ".codex/sessions/2026/11/30")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl")
	for file, text := range map[string][]byte{name + ".jsonl": raw, strings.Replace(name, "T04-32-59", "T04-33-05", 1) + "_01a22aba-ffff-7453-9ef7-d63ef66b2690.jsonl": second} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, _ := imported(t, home)
	var numbers []string
	for _, run := range runs {
		if run.ParentRunID == "" {
			n, _ := run.Metadata()["turn_number"].(json.Number)
			numbers = append(numbers, n.String())
		}
	}
	if diff := cmp.Diff([]string{"1", "2"}, numbers); diff != "" {
		t.Errorf("turn numbers (-want +got):\n%s", diff)
	}
	if want := len(play(t, "testdata/tui_two_turns", replay.Options{}).Runs); len(runs) != want {
		t.Errorf("%d runs, want %d", len(runs), want)
	}
}
