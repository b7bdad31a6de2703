package copilot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/copilot"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/replay/replaytest"
)

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
			runs, traces := replaytest.Imported(t, copilot.Agent(), home, integrations.Options{})
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
		found := replaytest.Sessions(t, copilot.Agent(), home, path)
		if len(found) != want {
			t.Errorf("%q: %d sessions, want %d", path, len(found), want)
		}
		for _, s := range found {
			if !strings.Contains(s.Main(), s.ID) {
				t.Errorf("%q: session %s in %s", path, s.ID, s.Main())
			}
		}
	}
	if list := replaytest.Sessions(t, copilot.Agent(), home, ""); len(list) == 2 && list[0].ID != filepath.Base(one) {
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
	list := replaytest.Sessions(t, copilot.Agent(), home, "")
	if len(list) != 1 || len(list[0].Procs) != 1 || list[0].Procs[0].PID != 4711 || !list[0].Noted {
		t.Errorf("%+v", list)
	}
}
