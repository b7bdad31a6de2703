//go:build e2e

package e2e

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestSubagent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin("SCENARIO:subagent")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.completed("The subagent counted 2 widgets.")
	turn.below(turn.root).has(2, 1)
	agent := turn.subagents(turn.root, "Agent", 1)[0]
	counted(agent)
}

// counted checks a subagent that read a file, ran a command and reported.
func counted(agent turn) {
	agent.w.t.Helper()
	agent.has(2, 2)
	agent.w.wants(agent.root, "ls_subagent_type", "general-purpose")
	agent.completedSubagent("There are 2 widgets.")
	agent.succeeded(agent.llms)
	agent.succeeded(agent.tools)
	if diff := cmp.Diff([]string{"Bash", "Read"}, agent.toolNames()); diff != "" {
		agent.w.t.Errorf("the subagent's tools (-want +got):\n%s", diff)
	}
}

func TestParallelSubagents(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	s := w.begin("SCENARIO:twosubs")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.completed("Both subagents reported.")
	turn.below(turn.root).has(2, 2)
	agents := turn.subagents(turn.root, "Agent", 2)
	if len(agents[0].tools) == 1 { // they began at the same time
		agents[0], agents[1] = agents[1], agents[0]
	}
	counted(agents[0])
	agents[1].has(2, 1)
	agents[1].completedSubagent("The command failed with 3.")
	agents[1].failed(agents[1].tools)
}

func TestNestedSubagents(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	s := w.begin("SCENARIO:nested")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.completed("Outer reported.")
	turn.below(turn.root).has(2, 1)
	outer := turn.subagents(turn.root, "Agent", 1)[0]
	outer.completedSubagent("Inner says 2.")
	outer.has(2, 1)
	counted(turn.subagents(outer.root, "Agent", 1)[0])
}

// A subagent in the background outlives the turn that started it, and its report
// starts a turn of its own.
func TestBackgroundSubagent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin("SCENARIO:bgagent")
	w.passGateAfterTurn(s.thread)
	s.wait()
	turns := w.turns(s.thread, 2)
	turns[0].completed("Started; I will report when it finishes.")
	turns[0].below(turns[0].root).has(2, 1)
	agent := turns[0].subagents(turns[0].root, "Agent", 1)[0]
	agent.has(2, 1)
	agent.completedSubagent("Slow count: 2 widgets.")
	if agent.root.EndTime <= turns[0].root.EndTime {
		t.Errorf("the subagent ended at %s, want it after its turn, %s", agent.root.EndTime, turns[0].root.EndTime)
	}
	turns[1].reported()
}

func TestWorkflow(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	s := w.begin("SCENARIO:workflow")
	w.passGateAfterTurn(s.thread)
	s.wait()
	turns := w.turns(s.thread, 2)
	turns[0].completed("Workflow started.")
	turns[0].below(turns[0].root).has(2, 1)
	stages := turns[0].subagents(turns[0].root, "Workflow", 2)
	stages[0].has(2, 2)
	stages[0].completedSubagent("There are 2 widgets.")
	stages[1].has(2, 1)
	stages[1].completedSubagent("Slow count: 2 widgets.")
	for _, stage := range stages {
		w.wants(stage.root, "ls_subagent_type", "workflow-subagent")
	}
	turns[1].reported()
}

// passGateAfterTurn lets the command at the gate go on once the turn that started
// it is over.
func (w *world) passGateAfterTurn(thread string) {
	w.t.Helper()
	w.until("the turn ends over its background task", func() bool {
		turns := w.threads()[thread]
		return len(turns) > 0 && turns[0].root.EndTime != ""
	})
	w.passGate()
}

func (w *world) passGate() {
	w.t.Helper()
	w.write(filepath.Join(w.repo, "go"), "")
}

// reported checks a turn that a background task's report started.
func (t turn) reported() {
	t.w.t.Helper()
	t.has(1, 0)
	t.completed("The background agent finished; its report is noted.")
	t.numbered(2)
	t.w.wants(t.root, "turn_origin", "task_notification")
}

// subagents returns the subagents that a run's own calls of a tool started, oldest
// first, each with the runs directly below it.
func (t turn) subagents(run runtypes.Wire, tool string, count int) []turn {
	t.w.t.Helper()
	var found []turn
	for _, call := range t.below(run).tools {
		if call.Metadata()["ls_tool_name"] != tool {
			continue
		}
		for _, started := range t.below(call).others {
			found = append(found, t.below(started))
		}
	}
	if len(found) != count {
		t.w.t.Fatalf("%d subagents below %s, want %d", len(found), tool, count)
	}
	slices.SortFunc(found, func(a, b turn) int { return strings.Compare(a.root.DottedOrder, b.root.DottedOrder) })
	return found
}

// completedSubagent checks that a subagent ran to its end and holds its report.
func (t turn) completedSubagent(report string) {
	t.w.t.Helper()
	if kind := t.root.Kind(); kind != runtypes.KindSubagent || t.root.Error != "" {
		t.w.t.Errorf("the subagent is %s with error %q, want a completed subagent", kind, t.root.Error)
	}
	if !bytes.Contains(t.root.Outputs, quoted(report)) {
		t.w.t.Errorf("the subagent's output is %s, want it to hold %q", t.root.Outputs, report)
	}
	for _, run := range slices.Concat(t.llms, t.tools) {
		t.w.wants(run, "ls_agent_type", "subagent")
	}
}
