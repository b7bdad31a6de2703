package claudecode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// outline lists the subagents with their parents and the calls they made.
func outline(runs []runtypes.Wire) []string {
	names := map[string]string{}
	for _, run := range runs {
		names[run.ID] = run.Name
	}
	var list []string
	for _, agent := range of(runs, runtypes.KindSubagent) {
		var calls []string
		for _, run := range runs {
			if run.ParentRunID == agent.ID {
				calls = append(calls, run.Name)
			}
		}
		slices.Sort(calls)
		list = append(list, "under "+names[agent.ParentRunID]+": "+strings.Join(calls, " "))
	}
	return list
}

func TestASubagentThatIsSentAMessageAfterItsEndGoesOnBelowTheMessage(t *testing.T) {
	runs := replayed(t, "subagent-messaged")
	want := []string{
		"under Agent: Bash Claude Claude Read",
		"under SendMessage: Bash Claude Claude",
		"under SendMessage: Bash Claude Claude Read",
	}
	if diff := cmp.Diff(want, outline(runs)); diff != "" {
		t.Fatalf("subagents (-want +got):\n%s", diff)
	}
	var turns []any
	for _, agent := range of(runs, runtypes.KindSubagent) {
		if id := agent.Metadata()["ls_subagent_id"]; id != "a517cda65e985152d" {
			t.Errorf("subagent %v, want the same one", id)
		}
		turns = append(turns, agent.Metadata()["turn_id"])
	}
	if turns[0] != turns[1] || turns[1] == turns[2] {
		t.Errorf("turns %v: the second message was sent in another turn", turns)
	}
}

// A subagent's stop is no end where a hook objects.
func TestASubagentThatAHookLetsGoOnIsOneRun(t *testing.T) {
	want := []string{"under Agent: Bash Claude Claude Claude"}
	if diff := cmp.Diff(want, outline(replayed(t, "subagent-stop-blocks"))); diff != "" {
		t.Errorf("subagents (-want +got):\n%s", diff)
	}
}

// Interactively each subagent runs in the background, and goes on when one of its own
// reports back.
func TestASubagentThatItsOwnSubagentReportsBackToIsOneRun(t *testing.T) {
	want := []string{"under Agent: Agent Claude Claude Claude", "under Agent: Bash Claude Claude Read"}
	if diff := cmp.Diff(want, outline(replayed(t, "tui-nested-subagents"))); diff != "" {
		t.Errorf("subagents (-want +got):\n%s", diff)
	}
}

// without copies a recording whose n-th hook of an event was not heard.
func without(t *testing.T, name, event string, n int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "hooks.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"hook_event_name":"`+event+`"`) {
			if n--; n == 0 {
				continue
			}
		}
		kept.WriteString(line)
	}
	if err := os.WriteFile(path, []byte(kept.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A lost hook makes a subagent's first runs wait for longer, and no call show twice.
func TestASubagentThatIsSentAMessageMakesEachCallOnceWhateverIsHeard(t *testing.T) {
	want := outline(replayed(t, "subagent-messaged"))
	for event, times := range map[string]int{"SubagentStart": 3, "SubagentStop": 3, "PostToolUse": 8, "Stop": 3} {
		for n := range times {
			dir := without(t, "subagent-messaged", event, n+1)
			for _, o := range []replay.Options{{}, {Polls: true}} {
				if diff := cmp.Diff(want, outline(play(t, dir, o).Runs)); diff != "" {
					t.Errorf("without %s %d: subagents (-want +got):\n%s", event, n+1, diff)
				}
			}
		}
	}
}

// A background subagent that was stopped sends no hook; its notification tells.
func TestANotificationEndsASubagentWhoseHookWasNotHeard(t *testing.T) {
	dir := without(t, "background-agent", "SubagentStop", 1)
	var order []string
	play(t, dir, replay.Options{Polls: true, Told: func(ops []runtypes.Op) {
		for _, op := range ops {
			if op.Run.Kind == runtypes.KindSubagent || op.Run.Kind == runtypes.KindRoot && op.Verb == runtypes.Patch {
				order = append(order, string(op.Run.Kind))
			}
		}
	}})
	if diff := cmp.Diff([]string{"root", "subagent", "root"}, order); diff != "" {
		t.Errorf("told in this order (-want +got):\n%s", diff)
	}
}
