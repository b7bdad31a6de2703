package openaicodex_test

import (
	"bytes"
	"encoding/json"
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
	"github.com/tracesmith/tracesmith/internal/replay/replaytest"
)

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
			runs, traces := replaytest.Imported(t, openaicodex.Agent(), home, integrations.Options{})
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
		if got := len(replaytest.Sessions(t, openaicodex.Agent(), home, path)); got != want {
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
	list := replaytest.Sessions(t, openaicodex.Agent(), subs, "")
	if len(list) != 1 || len(list[0].Files) != 3 {
		t.Errorf("subagents: %d sessions, want one of 3 files: %+v", len(list), list)
	}
}

// Codex moves the files of a thread that is archived, and of its subagents, to one folder.
func TestImportFindsThreadsThatWereArchived(t *testing.T) {
	for _, name := range []string{"sub_v2", "review"} {
		home := t.TempDir()
		archive := filepath.Join(home, ".codex/archived_sessions")
		if err := os.MkdirAll(archive, 0o755); err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join("testdata", name, "home/.codex/sessions/*/*/*/rollout-*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(archive, filepath.Base(path)), raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		runs, _ := replaytest.Imported(t, openaicodex.Agent(), home, integrations.Options{})
		want := play(t, filepath.Join("testdata", name), replay.Options{}).Runs
		if diff := cmp.Diff(string(indent(t, want)), string(indent(t, runs))); diff != "" {
			t.Errorf("%s: imported runs differ (-hooks +import):\n%s", name, diff)
		}
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
	runs, _ := replaytest.Imported(t, openaicodex.Agent(), home, integrations.Options{})
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
