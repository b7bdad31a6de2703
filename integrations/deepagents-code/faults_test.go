package deepagentscode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Each test is named after something that goes wrong, or easily would.

// of returns the runs of a kind.
func of(runs []runtypes.Wire, kind runtypes.Kind) []runtypes.Wire {
	var list []runtypes.Wire
	for _, r := range runs {
		if r.Kind() == kind {
			list = append(list, r)
		}
	}
	return list
}

func replayed(t *testing.T, name string) []runtypes.Wire {
	t.Helper()
	return play(t, filepath.Join("testdata", name), replay.Options{}).Runs
}

// turnOf returns the root of the turn that a prompt began, and the runs below it.
func turnOf(t *testing.T, runs []runtypes.Wire, prompt string) (root runtypes.Wire, below []runtypes.Wire) {
	t.Helper()
	for _, r := range runs {
		if r.ParentRunID == "" && strings.Contains(string(r.Inputs), `"`+prompt+`"`) {
			root = r
		}
	}
	if root.ID == "" {
		t.Fatalf("no turn of %s", prompt)
	}
	for _, r := range runs {
		if r.TraceID == root.ID && r.ID != root.ID {
			below = append(below, r)
		}
	}
	return root, below
}

func times(t *testing.T, w runtypes.Wire) (start, end time.Time) {
	t.Helper()
	start, end, err := w.Times()
	if err != nil {
		t.Fatal(err)
	}
	return start, end
}

// altered replays a recording after a change to a copy of it.
func altered(t *testing.T, name string, change func(dir string)) []runtypes.Wire {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	change(dir)
	runs := play(t, dir, replay.Options{}).Runs
	for _, v := range runtypes.ValidateWire(runs) {
		t.Error(v)
	}
	return runs
}

// lines rewrites the hooks of a recording.
func lines(t *testing.T, dir string, edit func(list []string) []string) {
	t.Helper()
	path := filepath.Join(dir, "hooks.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := edit(strings.Split(strings.TrimSpace(string(raw)), "\n"))
	if err := os.WriteFile(path, []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// is reports whether a line is of an event.
func is(line, event string) bool {
	var l struct{ Event string }
	return json.Unmarshal([]byte(line), &l) == nil && l.Event == event
}

func TestAnAbortIsAnInterruptAndNoFailure(t *testing.T) {
	runs := replayed(t, "interactive")
	root, below := turnOf(t, runs, "SCENARIO:da-slowtool")
	if root.Kind() != runtypes.KindInterrupted || root.Error != "Interrupted by user" {
		t.Errorf("%s with error %q", root.Kind(), root.Error)
	}
	tool := of(below, runtypes.KindTool)
	if len(tool) != 1 || tool[0].Metadata()["ls_is_error_interrupt"] != true {
		t.Fatalf("tools %+v", tool)
	}
	start, _ := times(t, tool[0])
	if _, answered := times(t, of(below, runtypes.KindLLM)[0]); start.Sub(answered) < time.Second {
		t.Errorf("the tool began %v after it was asked for: it waited for a person", start.Sub(answered))
	}
	root, below = turnOf(t, runs, "SCENARIO:slow")
	call := of(below, runtypes.KindLLM)
	if root.Kind() != runtypes.KindInterrupted || len(call) != 1 || !strings.Contains(string(call[0].Outputs), "begins and does not end") {
		t.Errorf("%s, calls %+v", root.Kind(), call)
	}
	if call[0].Metadata()["ls_is_error_interrupt"] != true {
		t.Error("the call that was cut off looks whole")
	}
}

func TestACommandThatFailsIsAFailure(t *testing.T) {
	tools := of(replayed(t, "failing"), runtypes.KindTool)
	if len(tools) != 2 {
		t.Fatalf("%d tools", len(tools))
	}
	for _, tool := range tools {
		want := "exit code 3"
		if tool.Name == "read_file" {
			want = "Error: File '/nowhere/missing.txt' not found"
		}
		if tool.Error != want {
			t.Errorf("%s: error %q, want %q", tool.Name, tool.Error, want)
		}
	}
}

// The next prompt tells of an abort, and may come after lunch.
func TestAnInterruptedTurnEndsWhenItWasInterrupted(t *testing.T) {
	runs := replayed(t, "interactive")
	aborted, _ := turnOf(t, runs, "SCENARIO:da-slowtool")
	next, _ := turnOf(t, runs, "SCENARIO:slow")
	_, end := times(t, aborted)
	if start, _ := times(t, next); start.Sub(end) < time.Second {
		t.Errorf("the turn ended %v before the next one began", start.Sub(end))
	}
}

func TestAModelErrorIsAFailureWithItsText(t *testing.T) {
	root, below := turnOf(t, replayed(t, "interactive"), "SCENARIO:error400")
	if root.Kind() != runtypes.KindRoot || !strings.Contains(root.Error, "Error code: 400") || strings.HasSuffix(root.Error, ")") {
		t.Errorf("%s with error %q", root.Kind(), root.Error)
	}
	call := of(below, runtypes.KindLLM)
	if len(call) != 1 || call[0].Error != root.Error || call[0].Metadata()["ls_model_name"] != "claude-sonnet-4-6" {
		t.Errorf("calls %+v", call)
	}
}

// No hook runs when a person rejects a tool: the agent waits for the next prompt.
func TestARejectedToolEndsItsTurn(t *testing.T) {
	root, below := turnOf(t, replayed(t, "interactive"), "SCENARIO:da-write")
	if root.Kind() != runtypes.KindInterrupted || len(of(below, runtypes.KindTool)) != 1 {
		t.Errorf("%s, %d tools", root.Kind(), len(of(below, runtypes.KindTool)))
	}
	if root.EndTime == "" {
		t.Error("it is left open")
	}
}

// A person's answer takes its time, and the tool does not begin before it.
func TestWaitingForAnApprovalIsNotTheToolsTime(t *testing.T) {
	_, below := turnOf(t, replayed(t, "interactive"), "SCENARIO:da-tools")
	calls, tools := of(below, runtypes.KindLLM), of(below, runtypes.KindTool)
	if len(calls) != 2 || len(tools) != 2 {
		t.Fatalf("%d calls, %d tools", len(calls), len(tools))
	}
	_, answered := times(t, calls[0])
	for _, tool := range tools {
		start, end := times(t, tool)
		if waited := start.Sub(answered); waited < 500*time.Millisecond {
			t.Errorf("%s began %v after it was asked for", tool.Name, waited)
		}
		if end.Sub(start) > 2*time.Second {
			t.Errorf("%s took %v", tool.Name, end.Sub(start))
		}
	}
}

// What an aborted turn left behind is written once more when the next one begins.
func TestTheConversationIsNotToldAgain(t *testing.T) {
	seen := map[string]bool{}
	for _, run := range replayed(t, "interactive") {
		if id, _ := run.Metadata()["tool_call_id"].(string); id != "" {
			if seen[id] {
				t.Errorf("%s is there twice", id)
			}
			seen[id] = true
		}
	}
}

func TestPythonsPrintOfAnAnswerIsNotShown(t *testing.T) {
	runs := replayed(t, "plain")
	root := of(runs, runtypes.KindRoot)[0]
	if strings.Contains(string(root.Outputs), "[{'") || !strings.Contains(string(root.Outputs), "Two widgets are in stock.") {
		t.Errorf("outputs %s", root.Outputs)
	}
}

func TestAResumedThreadCountsOn(t *testing.T) {
	for _, name := range []string{"resume", "hooks_two_turns_resume"} {
		var numbers []string
		for _, root := range of(replayed(t, name), runtypes.KindRoot) {
			n, _ := root.Metadata()["turn_number"].(json.Number)
			numbers = append(numbers, n.String())
		}
		if slices.Sort(numbers); !slices.Equal(numbers, []string{"1", "2"}) {
			t.Errorf("%s: turns %v", name, numbers)
		}
	}
}

func TestAStopThatAnotherHookBlocksIsOneTurn(t *testing.T) {
	runs := replayed(t, "blocked")
	roots := of(runs, runtypes.KindRoot)
	if len(roots) != 1 || len(of(runs, runtypes.KindLLM)) != 2 {
		t.Fatalf("%d turns with %d calls, want one with two", len(roots), len(of(runs, runtypes.KindLLM)))
	}
	_, end := times(t, roots[0])
	for _, call := range of(runs, runtypes.KindLLM) {
		if _, done := times(t, call); done.After(end) {
			t.Errorf("the turn ended before a call of it did")
		}
	}
}

func TestAKilledProcessInterruptsWhatItDid(t *testing.T) {
	runs := replayed(t, "killed")
	roots, tools := of(runs, runtypes.KindInterrupted), of(runs, runtypes.KindTool)
	if len(roots) != 1 || roots[0].Error != "Interrupted: the process ended" {
		t.Fatalf("roots %+v", roots)
	}
	if len(tools) != 1 || tools[0].Metadata()["ls_is_error_interrupt"] != true {
		t.Errorf("tools %+v", tools)
	}
}

func TestAHookThatIsToldTwiceCountsOnce(t *testing.T) {
	for _, name := range []string{"tools", "hooks_subagent", "hooks_interrupt", "hooks_compaction"} {
		want := len(replayed(t, name))
		runs := altered(t, name, func(dir string) {
			lines(t, dir, func(list []string) []string {
				var twice []string
				for _, line := range list {
					twice = append(twice, line, line)
				}
				return twice
			})
		})
		if len(runs) != want {
			t.Errorf("%s: %d runs, told twice %d", name, want, len(runs))
		}
	}
}

// Without its database the transcript says what the model answered, and when it was asked.
func TestTheTranscriptStandsInForTheDatabase(t *testing.T) {
	whole := replayed(t, "tools")
	runs := altered(t, "tools", func(dir string) {
		if err := os.RemoveAll(filepath.Join(dir, "home", ".deepagents", ".state")); err != nil {
			t.Fatal(err)
		}
	})
	root := of(runs, runtypes.KindRoot)[0]
	if root.Metadata()["partial"] != true || !strings.Contains(string(root.Outputs), "There is a README about widgets.") {
		t.Errorf("root %s, partial: %v", root.Outputs, root.Metadata()["partial"])
	}
	calls, want := of(runs, runtypes.KindLLM), of(whole, runtypes.KindLLM)
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d", len(calls), len(want))
	}
	for i := range calls {
		if calls[i].StartTime != want[i].StartTime || calls[i].ID != want[i].ID {
			t.Errorf("call %d: %s at %s, want %s at %s", i, calls[i].ID, calls[i].StartTime, want[i].ID, want[i].StartTime)
		}
	}
}

// A database that is damaged, or of another version, costs the turn nothing but what it held.
func TestADatabaseThatCannotBeReadIsBuiltAround(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tools")
	if err := os.CopyFS(dir, os.DirFS("testdata/tools")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "home", ".deepagents", ".state", "sessions.db"), []byte("not a database at all, but long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Run(agent(), replay.Options{}); err == nil || strings.Contains(err.Error(), "There is a README") {
		t.Errorf("what could not be read is not reported, or quotes what it read: %v", err)
	}
}

// The prompt's hook may be lost: what it began is told all the same, from where it began.
func TestATurnWhosePromptNoHookToldOfIsThere(t *testing.T) {
	whole := replayed(t, "tools")
	runs := altered(t, "tools", func(dir string) {
		lines(t, dir, func(list []string) []string {
			return slices.DeleteFunc(list, func(line string) bool { return is(line, "UserPromptSubmit") })
		})
	})
	if len(runs) != len(whole) {
		t.Fatalf("%d runs, want %d", len(runs), len(whole))
	}
	root := of(runs, runtypes.KindRoot)[0]
	start, end := times(t, root)
	for _, run := range runs {
		if s, e := times(t, run); s.Before(start) || e.After(end) {
			t.Errorf("%s %s lies outside its turn", run.Kind(), run.Name)
		}
	}
	if !strings.Contains(string(root.Inputs), "SCENARIO:da-tools") {
		t.Errorf("inputs %s", root.Inputs)
	}
}

func TestWireNamesOfToolsAreTheAgentsOwn(t *testing.T) {
	for _, tool := range of(replayed(t, "hooks_parallel_tools"), runtypes.KindTool) {
		if name := tool.Metadata()["ls_tool_name"]; name != "execute" && name != "read_file" {
			t.Errorf("tool %v", name)
		}
	}
}

// The hooks of a batch come together when all of it is done.
func TestAToolTakesTheTimeThatItsHookSays(t *testing.T) {
	for _, tool := range of(replayed(t, "hooks_parallel_tools"), runtypes.KindTool) {
		start, end := times(t, tool)
		want, _ := tool.Metadata()["duration_ms"].(json.Number)
		if ms, _ := want.Int64(); end.Sub(start) != time.Duration(ms)*time.Millisecond || ms == 0 {
			t.Errorf("%s took %v, its hook says %s ms", tool.Name, end.Sub(start), want)
		}
	}
}
