package copilot

import (
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Name is the integration's name: ls_integration and the word on the command line.
const Name = "copilot"

// runtimeName is what people call the agent.
const runtimeName = "GitHub Copilot CLI"

// The events that are registered. A misspelt one is dropped by the agent in silence.
const (
	sessionStart  = "sessionStart"
	userPrompt    = "userPromptSubmitted"
	subagentStop  = "subagentStop"
	errorOccurred = "errorOccurred"
	agentStop     = "agentStop"
	sessionEnd    = "sessionEnd"
)

// Agent describes GitHub Copilot CLI.
func Agent() *integrations.Agent {
	return &integrations.Agent{
		Name:       Name,
		Runtime:    runtimeName,
		Hooks:      hooks(),
		Claims:     claims,
		Peek:       peek,
		Project:    project,
		NewReducer: func(o integrations.Options) integrations.Reducer { return newReducer(o) },
		Past:       past,
		Setup:      setup(),
	}
}

// hooks lists the events that are registered. None of them decides anything: a hook of
// preToolUse or permissionRequest that fails denies the tool.
func hooks() []integrations.Hook {
	const limit = 10 * time.Second
	return []integrations.Hook{
		{Event: sessionStart, Wakes: true, Timeout: limit},
		{Event: userPrompt, Wakes: true, Timeout: limit},
		{Event: subagentStop, Wakes: true, Timeout: limit},
		{Event: errorOccurred, Wakes: true, Timeout: limit},
		{Event: agentStop, Wakes: true, Settles: true, Timeout: limit},
		{Event: sessionEnd, Wakes: true, Settles: true, Shield: true, Timeout: limit},
	}
}
