package opencode_test

import (
	"testing"

	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/replay/replaytest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// recordings lists the recorded sessions.
func recordings(t *testing.T) []string {
	t.Helper()
	return replaytest.Recordings(t, "events.jsonl")
}

func play(t *testing.T, dir string, o replay.Options) replay.Result {
	t.Helper()
	return replaytest.Play(t, opencode.Agent(), dir, o)
}

func TestRecordingsGiveTheGoldenRuns(t *testing.T) {
	replaytest.Golden(t, opencode.Agent, recordings(t))
}

func TestRunsKeepTheContract(t *testing.T) { replaytest.Contract(t, opencode.Agent, recordings(t)) }

func TestRunsDoNotDependOnWhenTheDrainerLooks(t *testing.T) {
	replaytest.Same(t, opencode.Agent, recordings(t), replaytest.Live())
}

func indent(t *testing.T, runs []runtypes.Wire) []byte {
	t.Helper()
	return replaytest.Indent(t, runs)
}
