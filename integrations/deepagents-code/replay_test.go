package deepagentscode_test

import (
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	deepagentscode "github.com/tracesmith/tracesmith/integrations/deepagents-code"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/replay/replaytest"
)

// agent is the one that is tested.
func agent() *integrations.Agent { return deepagentscode.Agent() }

// recordings lists the recorded sessions.
func recordings(t *testing.T) []string {
	t.Helper()
	return replaytest.Recordings(t, "hooks.jsonl")
}

func play(t *testing.T, dir string, o replay.Options) replay.Result {
	t.Helper()
	return replaytest.Play(t, agent(), dir, o)
}

func TestRecordingsGiveTheGoldenRuns(t *testing.T) { replaytest.Golden(t, agent, recordings(t)) }

func TestRunsKeepTheContract(t *testing.T) { replaytest.Contract(t, agent, recordings(t)) }

func TestRunsDoNotDependOnWhenTheDrainerLooks(t *testing.T) {
	replaytest.Same(t, agent, recordings(t), replaytest.Always())
}
