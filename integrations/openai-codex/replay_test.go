package openaicodex_test

import (
	"testing"

	openaicodex "github.com/tracesmith/tracesmith/integrations/openai-codex"
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
	return replaytest.Play(t, openaicodex.Agent(), dir, o)
}

func TestRecordingsGiveTheGoldenRuns(t *testing.T) {
	replaytest.Golden(t, openaicodex.Agent, recordings(t))
}

func TestRunsKeepTheContract(t *testing.T) { replaytest.Contract(t, openaicodex.Agent, recordings(t)) }

func TestRunsDoNotDependOnWhenTheDrainerLooks(t *testing.T) {
	replaytest.Same(t, openaicodex.Agent, recordings(t), replaytest.Always())
}

func indent(t *testing.T, runs []runtypes.Wire) []byte {
	t.Helper()
	return replaytest.Indent(t, runs)
}
