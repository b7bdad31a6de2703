// Package agents is the one list of the agents Tracesmith knows. Everything that
// takes an agent's name (hook, install, replay, import) follows from it.
package agents

import (
	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/integrations/copilot"
	"github.com/tracesmith/tracesmith/integrations/cursor"
	deepagentscode "github.com/tracesmith/tracesmith/integrations/deepagents-code"
	openaicodex "github.com/tracesmith/tracesmith/integrations/openai-codex"
	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/integrations/pi"
)

// All returns every agent, in the order people see them.
func All() []*integrations.Agent {
	return []*integrations.Agent{
		claudecode.Agent(),
		openaicodex.Agent(),
		opencode.Agent(),
		cursor.Agent(),
		deepagentscode.Agent(),
		pi.Agent(),
		copilot.Agent(),
	}
}

// Find returns the agent of that name.
func Find(name string) (*integrations.Agent, bool) {
	for _, a := range All() {
		if a.Name == name {
			return a, true
		}
	}
	return nil, false
}

// Names lists the agents' names, for messages.
func Names() []string {
	var names []string
	for _, a := range All() {
		names = append(names, a.Name)
	}
	return names
}
