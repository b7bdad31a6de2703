package claudecode_test

import (
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/replay/replaytest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// recordings lists the recorded sessions.
func recordings(t *testing.T) []string {
	t.Helper()
	return replaytest.Recordings(t, "hooks.jsonl")
}

func play(t *testing.T, dir string, o replay.Options) replay.Result {
	t.Helper()
	return replaytest.Play(t, claudecode.Agent(), dir, o)
}

func TestRecordingsGiveTheGoldenRuns(t *testing.T) {
	replaytest.Golden(t, claudecode.Agent, recordings(t))
}

func TestRunsKeepTheContract(t *testing.T) { replaytest.Contract(t, claudecode.Agent, recordings(t)) }

func TestRunsDoNotDependOnWhenTheDrainerLooks(t *testing.T) {
	replaytest.Same(t, claudecode.Agent, recordings(t), replaytest.Always())
}

func TestInputsAreWhatTheUserChose(t *testing.T) {
	calls := func(o integrations.Inputs) []string {
		var inputs []string
		for _, run := range of(play(t, "testdata/resume-and-fork", replay.Options{Inputs: o, Cut: true}).Runs, runtypes.KindLLM) {
			if run.Metadata()["thread_id"] == "11111111-2222-4333-8444-555555555555" {
				inputs = append(inputs, string(run.Inputs))
			}
		}
		if len(inputs) != 4 {
			t.Fatalf("%d model calls, want 4", len(inputs))
		}
		return inputs
	}
	check := func(o integrations.Inputs, call int, want map[string]bool) {
		t.Helper()
		in := calls(o)[call]
		for text, there := range want {
			if strings.Contains(in, text) != there {
				t.Errorf("%s: call %d holds %q: %v, want %v", o, call+1, text, !there, there)
			}
		}
	}
	const first, reply, result, second = "SCENARIO:parallel first", "Reading and listing", "notes.txt", "SCENARIO:plain second"
	check(integrations.InputsTurn, 1, map[string]bool{first: true, reply: true, result: true, second: false})
	check(integrations.InputsTurn, 2, map[string]bool{first: false, reply: false, second: true})
	check(integrations.InputsDelta, 1, map[string]bool{first: false, reply: false, result: true})
	check(integrations.InputsDelta, 2, map[string]bool{first: false, second: true})
	check(integrations.InputsThread, 2, map[string]bool{first: true, reply: true, result: true, second: true})
	check(integrations.InputsThread, 1, map[string]bool{first: true, result: true, second: false})
}

func TestAfterACompactionTheModelIsToldItsSummaryAndWhatItKept(t *testing.T) {
	for _, tt := range []struct{ dir, kept, gone string }{
		{"auto-compact", "echo step 4", "echo step 3"}, // in the middle of the turn
		{"resume-compact", "main.go prints a widget count", "Reading and listing"},
		{"tui-compact", "main.go prints a widget count", "Reading and listing"},
	} {
		runs := of(play(t, "testdata/"+tt.dir, replay.Options{Inputs: integrations.InputsThread}).Runs, runtypes.KindLLM)
		in := string(runs[len(runs)-1].Inputs)
		for text, want := range map[string]int{"continued from a previous conversation": 1, tt.kept: 1, tt.gone: 0, "SCENARIO:parallel": 0} {
			if n := strings.Count(in, text); n != want {
				t.Errorf("%s: %q stands %d times in the last call's inputs, want %d", tt.dir, text, n, want)
			}
		}
	}
}

func TestAfterARewindTheModelIsNotToldWhatTheUserTookBack(t *testing.T) {
	runs := of(play(t, "testdata/tui-rewind", replay.Options{Inputs: integrations.InputsThread}).Runs, runtypes.KindLLM)
	in := string(runs[len(runs)-1].Inputs)
	for text, want := range map[string]int{"SCENARIO:plain one": 1, "Two widgets": 1, "REWOUND": 0, "Second answer": 0, "after rewind": 1} {
		if n := strings.Count(in, text); n != want {
			t.Errorf("%q stands %d times in the last call's inputs, want %d", text, n, want)
		}
	}
}
