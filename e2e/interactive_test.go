//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What is typed while the agent works joins the running turn.
func TestQueuedPrompt(t *testing.T) {
	t.Parallel()
	needTerminal(t)
	w := newWorld(t)
	term := w.open("--allowed-tools=Bash")
	term.prompt("SCENARIO:gated please")
	w.inTool(term.thread)
	term.prompt("SCENARIO:plain2 while you are at it")
	w.recorded("the prompt is queued", term.thread, `"operation":"enqueue"`)
	w.passGate()
	term.shows("Second answer")
	term.leave()

	turn := w.turns(term.thread, 1)[0]
	turn.has(2, 1)
	turn.completed("Second answer: three widgets.")
	turn.succeeded(turn.llms)
	turn.succeeded(turn.tools)
	w.wants(turn.root, "surface", "cli")
}

func TestEscInAReply(t *testing.T) {
	t.Parallel()
	needTerminal(t)
	w := newWorld(t)
	term := w.open()
	term.prompt("SCENARIO:slow please")
	term.shows("An answer that begins")
	w.answering()
	term.press("Escape")
	term.shows("Interrupted")
	term.prompt("SCENARIO:plain2 instead")
	term.shows("Second answer")
	term.leave()

	turns := w.turns(term.thread, 2)
	turns[0].interrupted()
	turns[0].has(1, 0)
	if !bytes.Contains(turns[0].llms[0].Outputs, []byte("An answer that begins")) {
		t.Errorf("the cut reply's output is %s, want what had arrived", turns[0].llms[0].Outputs)
	}
	if counts := usage(turns[0].llms[0]); len(counts) > 0 {
		t.Errorf("the cut reply has usage %v, and nobody knows it", counts)
	}
	turns[1].has(1, 0)
	turns[1].numbered(2)
	turns[1].completed("Second answer: three widgets.")
}

func TestEscInATool(t *testing.T) {
	t.Parallel()
	long(t)
	needTerminal(t)
	w := newWorld(t)
	term := w.open("--allowed-tools=Bash")
	term.prompt("SCENARIO:slowtool please")
	w.inTool(term.thread)
	term.press("Escape")
	term.shows("Interrupted")
	term.leave()
	w.turns(term.thread, 1)[0].interruptedInTool()
}

// The time that a person takes to answer is no work of the tool.
func TestPermissionPrompt(t *testing.T) {
	t.Parallel()
	long(t)
	needTerminal(t)
	w := newWorld(t)
	term := w.open()
	term.prompt("SCENARIO:edit please")
	term.shows("Do you want to create notes.txt?")
	term.press("Enter")
	term.shows("Do you want to make this edit to notes.txt?")
	term.press("Enter")
	term.shows("Wrote and edited notes.txt.")
	term.leave()

	if text, err := os.ReadFile(filepath.Join(w.repo, "notes.txt")); err != nil || string(text) != "alpha\ngamma\n" {
		t.Errorf("notes.txt holds %q (%v)", text, err)
	}
	turn := w.turns(term.thread, 1)[0]
	turn.has(4, 3)
	turn.completed("Wrote and edited notes.txt.")
	turn.succeeded(turn.tools)
	w.wants(turn.root, "approval_policy", "default")
	for _, tool := range turn.tools {
		metadata := tool.Metadata()
		wait, decision := metadata["permission_wait_ms"], metadata["permission_decision"]
		if asked := tool.Name != "Read"; (wait != nil) != asked || (decision == "accept") != asked {
			t.Errorf("%s: permission_wait_ms is %v, permission_decision %v", tool.Name, wait, decision)
		}
	}
}
