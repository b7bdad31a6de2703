package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
)

const recorded = "../../integrations/claude-code/testdata/parallel"

func load(t *testing.T, dir string) *Recording {
	t.Helper()
	rec, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// write makes a recording with the given hooks.
func write(t *testing.T, hooks string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hooks.jsonl"), []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestARecordingThatCannotBeReadSaysWhere(t *testing.T) {
	check := func(dir, want string) {
		t.Helper()
		rec, err := Load(dir)
		if err == nil {
			_, err = rec.Run(claudecode.Agent(), Options{})
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with %q", err, want)
		}
	}
	check(filepath.Join(t.TempDir(), "missing"), "hooks.jsonl")
	check(write(t, "{\n"), "line 1")
	check(write(t, ""), "no events")
	check(write(t, `{"at":"2026-11-30T04:00:00Z","event":"Stop","stdin":"garbage"}`+"\n"), "event 1 (Stop)")
}

func TestFilesShowWhatWasOnDiskAtAStep(t *testing.T) {
	rec := load(t, recorded)
	f := rec.files()
	seen := -1
	for _, step := range rec.Steps {
		f.moveTo(step)
		for path, n := range step.Lines {
			lines, err := f.visible(path)
			if err != nil || len(lines) != n {
				t.Fatalf("%s: %d lines, want %d (%v)", step.Event, len(lines), n, err)
			}
			if n < seen {
				t.Fatalf("%s: the file shrank from %d to %d lines", step.Event, seen, n)
			}
			seen = n
		}
	}
	if f.Exists("/home/dev/../../etc/passwd") || f.Exists("/etc/passwd") {
		t.Error("a path outside the recorded home is there")
	}
}

func TestAStageGrowsItsFilesAndMovesTimesAndPaths(t *testing.T) {
	begin := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	stage, err := load(t, recorded).Stage(t.TempDir(), begin)
	if err != nil {
		t.Fatal(err)
	}
	if !stage.Steps[0].At.Equal(begin) {
		t.Errorf("the session begins at %v", stage.Steps[0].At)
	}
	for i, step := range stage.Steps {
		if err := stage.Show(i); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(step.Body), recordedHome+"/") || strings.Contains(string(step.Body), "2026-11-30T") {
			t.Errorf("%s: the payload was not rewritten", step.Event)
		}
		for path, n := range step.Lines {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(raw), "\n"); got < n {
				t.Errorf("%s: %d lines on disk, want %d", step.Event, got, n)
			}
		}
	}
	if err := stage.ShowAll(); err != nil {
		t.Fatal(err)
	}
	res, err := stage.Run(claudecode.Agent(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want, err := load(t, recorded).Run(claudecode.Agent(), Options{}); err != nil || len(res.Runs) != len(want.Runs) {
		t.Errorf("%d runs, the recording gives %d (%v)", len(res.Runs), len(want.Runs), err)
	}
	if start := res.Runs[0].StartTime; !strings.HasPrefix(start, "2027-01-02T03:04:05.") {
		t.Errorf("the turn starts at %s", start)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"at":"2026-11-30T04:00:00Z","event":"Stop","stdin":{"session_id":"s","hook_event_name":"Stop","prompt_id":"p"},"lines":{"/x":3}}` + "\n"))
	f.Add([]byte(`{"at":"2026-11-30T04:00:00Z","event":"PostToolUse","stdin":"x","argv":["a"]}` + "\n{"))
	f.Fuzz(func(_ *testing.T, hooks []byte) {
		step, err := parseStep(hooks)
		if err != nil {
			return
		}
		rec := &Recording{Steps: []Step{step}, prefix: recordedHome, home: "testdata/none"}
		_, _ = rec.Run(claudecode.Agent(), Options{Cut: true})
	})
}
