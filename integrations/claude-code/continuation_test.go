package claudecode_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// outline lists the subagents with their parents and how many calls they made.
func outline(runs []runtypes.Wire) []string {
	names := map[string]string{}
	for _, run := range runs {
		names[run.ID] = run.Name
	}
	var list []string
	for _, agent := range of(runs, runtypes.KindSubagent) {
		text := "under " + names[agent.ParentRunID] + ":"
		for _, run := range runs {
			if run.ParentRunID == agent.ID {
				text += " " + run.Name
			}
		}
		list = append(list, text)
	}
	return list
}

func TestASubagentThatIsSentAMessageAfterItsEndGoesOnBelowTheMessage(t *testing.T) {
	runs := replayed(t, "subagent-messaged")
	want := []string{
		"under Agent: Claude Read Bash Claude",
		"under SendMessage: Claude Bash Claude",
		"under SendMessage: Claude Read Bash Claude",
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
	want := []string{"under Agent: Claude Bash Claude Claude"}
	if diff := cmp.Diff(want, outline(replayed(t, "subagent-stop-blocks"))); diff != "" {
		t.Errorf("subagents (-want +got):\n%s", diff)
	}
}

// Interactively each subagent runs in the background, and goes on when one of its own
// reports back.
func TestASubagentThatItsOwnSubagentReportsBackToIsOneRun(t *testing.T) {
	want := []string{"under Agent: Claude Agent Claude Claude", "under Agent: Claude Read Bash Claude"}
	if diff := cmp.Diff(want, outline(replayed(t, "tui-nested-subagents"))); diff != "" {
		t.Errorf("subagents (-want +got):\n%s", diff)
	}
}

// A background subagent that was stopped sends no hook; its notification tells.
func TestANotificationEndsASubagentWhoseHookWasNotHeard(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/background-agent")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "hooks.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), `"SubagentStop"`, `"MessageDisplay"`))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
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
