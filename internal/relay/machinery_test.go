package relay

import (
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// What wraps a model call or a tool is not the agent, and what runs in it is: recorded
// with Deep Agents Code 0.1.88.
func TestWhatWrapsTheAgentsOwnWorkIsLeftOutAndNotTakenForIt(t *testing.T) {
	for name, want := range map[string]runtypes.AgentType{
		"_GlmTerminalStallRecovery.awrap_model_call": "",
		"FilesystemMiddleware.wrap_model_call":       "",
		"HumanMiddleware.awrap_tool_call":            "",
		"GoalToolsMiddleware.before_model":           runtypes.AgentMiddleware,
		"SummarizationMiddleware.before_model":       runtypes.AgentCompaction,
	} {
		if !machinery(runtypes.Wire{Name: name}) {
			t.Errorf("%s is shown", name)
		}
		if got := middleware(name); got != want {
			t.Errorf("%s: what runs in it is of %q, want %q", name, got, want)
		}
	}
}
