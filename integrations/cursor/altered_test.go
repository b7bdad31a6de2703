package cursor_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations/cursor"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A hook that is killed before it writes costs its event: what is left still makes whole
// runs.
func TestAnEventThatIsLostLeavesNothingOpen(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			whole, err := replay.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			for i := range whole.Steps {
				rec := *whole
				if rec.Steps = slices.Delete(slices.Clone(whole.Steps), i, i+1); len(rec.Steps) == 0 {
					continue
				}
				res, err := rec.Run(cursor.Agent(), replay.Options{Cut: true})
				if err != nil {
					t.Fatalf("without event %d (%s): %v", i+1, whole.Steps[i].Event, err)
				}
				for _, run := range res.Runs {
					if run.EndTime == "" {
						t.Errorf("without event %d (%s): %s is left open", i+1, whole.Steps[i].Event, run.Name)
					}
				}
				for _, v := range runtypes.ValidateWire(res.Runs) {
					t.Errorf("without event %d (%s): %s", i+1, whole.Steps[i].Event, v)
				}
			}
		})
	}
}

// Cursor writes its files when it likes: what they say is the same however late it comes.
func TestFilesThatAppearLateChangeNothing(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := string(indent(t, play(t, dir, replay.Options{}).Runs))
			for lines := range 3 { // that are there while the session lasts
				for _, o := range []replay.Options{{Polls: true}, {Cut: true}} {
					rec, err := replay.Load(dir)
					if err != nil {
						t.Fatal(err)
					}
					for i := range rec.Steps {
						rec.Steps[i].Lines = visible(t, dir, lines)
					}
					res, err := rec.Run(cursor.Agent(), o)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, string(indent(t, res.Runs))); diff != "" {
						t.Errorf("with %s lines at first: runs differ (-want +got):\n%s", strconv.Itoa(lines), diff)
					}
				}
			}
		})
	}
}

// visible says of every file of a recording that it shows some lines.
func visible(t *testing.T, dir string, lines int) map[string]int {
	t.Helper()
	shown := map[string]int{}
	home := filepath.Join(dir, "home")
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // a session without files
		}
		rest, err := filepath.Rel(home, path)
		shown["/home/dev/"+filepath.ToSlash(rest)] = lines
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// The end of a subagent names it and its call, so that its start may be missing.
func TestASubagentWhoseStartIsLostIsTheSameOne(t *testing.T) {
	outline := func(res replay.Result) map[string]string {
		runs := map[string]string{}
		for _, run := range res.Runs {
			runs[run.ID] = strings.Join([]string{string(run.Kind()), run.ParentRunID, run.Name, run.Error, string(run.Inputs), string(run.Outputs)}, "\n")
		}
		return runs
	}
	for _, name := range []string{"subagent", "parallel_subagents", "parallel_subagents_empty_ids", "print_subagent"} {
		dir := filepath.Join("testdata", name)
		want := outline(play(t, dir, replay.Options{}))
		rec, err := replay.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range rec.Steps {
			if step.Event != "subagentStart" {
				continue
			}
			for _, o := range []replay.Options{{}, {Cut: true, Polls: true}} {
				lost := *rec
				lost.Steps = slices.Delete(slices.Clone(rec.Steps), i, i+1)
				res, err := lost.Run(cursor.Agent(), o)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, outline(res)); diff != "" {
					t.Errorf("%s: without event %d: runs differ (-want +got):\n%s", name, i+1, diff)
				}
			}
		}
	}
}

// Each hook is a process of its own: that of a call may be overtaken by the next one.
func TestACallThatIsOvertakenIsOneCall(t *testing.T) {
	for name, overtaken := range map[string]string{"subagent": "Task", "subagent_stop_without_ids": "Task", "edit": "Write"} {
		want := of(play(t, filepath.Join("testdata", name), replay.Options{}).Runs, runtypes.KindTool)
		rec, err := replay.Load(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range rec.Steps {
			if step.Event == "preToolUse" && strings.Contains(string(step.Body), `"`+overtaken+`"`) {
				next := &rec.Steps[i+1]
				step.At, next.At = next.At, step.At
				rec.Steps[i], *next = *next, step
				break
			}
		}
		res, err := rec.Run(cursor.Agent(), replay.Options{Cut: true})
		if err != nil {
			t.Fatal(err)
		}
		got := of(res.Runs, runtypes.KindTool)
		if len(got) != len(want) {
			t.Errorf("%s: %d tools, want %d", name, len(got), len(want))
		}
		for _, tool := range got {
			if tool.Name == overtaken && (tool.Error != "" || tool.EndTime == "") {
				t.Errorf("%s: %s ended at %q with the error %q", name, tool.Name, tool.EndTime, tool.Error)
			}
		}
	}
}

// A user who stops Cursor may do so as a tool is called: of the two hooks either may be
// through first.
func TestACallThatTheStopOvertookIsInterrupted(t *testing.T) {
	rec, err := replay.Load("testdata/interrupt_tool_open")
	if err != nil {
		t.Fatal(err)
	}
	stop := slices.IndexFunc(rec.Steps, func(s replay.Step) bool { return s.Event == "stop" })
	call := stop - 1
	rec.Steps[call], rec.Steps[stop] = rec.Steps[stop], rec.Steps[call]
	rec.Steps[call].At, rec.Steps[stop].At = rec.Steps[stop].At, rec.Steps[call].At
	for _, o := range []replay.Options{{}, {Cut: true}, {Polls: true}} {
		res, err := rec.Run(cursor.Agent(), o)
		if err != nil {
			t.Fatal(err)
		}
		tool := one(t, res.Runs, runtypes.KindTool)
		if tool.Error != "Interrupted by user" || tool.ParentRunID != one(t, res.Runs, runtypes.KindInterrupted).ID {
			t.Errorf("error %q", tool.Error)
		}
		for _, run := range res.Runs {
			if start, end := times(t, run); end.Before(start) {
				t.Errorf("%s ends %s before it starts", run.Name, start.Sub(end))
			}
		}
	}
}

// Print mode tells of a prompt by its tools alone, the first of which may be lost.
func TestPrintModeWhoseSubagentsCallIsLostIsOneTurn(t *testing.T) {
	rec, err := replay.Load("testdata/print_subagent")
	if err != nil {
		t.Fatal(err)
	}
	rec.Steps = slices.DeleteFunc(rec.Steps, func(s replay.Step) bool {
		return s.Event == "preToolUse" && strings.Contains(string(s.Body), `"Task"`)
	})
	for _, o := range []replay.Options{{}, {Cut: true}, {Polls: true}} {
		res, err := rec.Run(cursor.Agent(), o)
		if err != nil {
			t.Fatal(err)
		}
		root, agent := one(t, res.Runs, runtypes.KindRoot), one(t, res.Runs, runtypes.KindSubagent)
		if !strings.Contains(string(root.Inputs), "Look around") || !strings.Contains(string(root.Outputs), "One file.") {
			t.Errorf("inputs %s, outputs %s", root.Inputs, root.Outputs)
		}
		if tool := one(t, res.Runs, runtypes.KindTool); tool.Name != "Read" || tool.ParentRunID != agent.ID || agent.ParentRunID != root.ID {
			t.Errorf("%s hangs under %s", tool.Name, tool.ParentRunID)
		}
	}
}
