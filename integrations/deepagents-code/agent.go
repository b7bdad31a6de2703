package deepagentscode

import (
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Name is the integration's name: ls_integration and the word on the command line.
const Name = "deepagents-code"

// runtimeName is what people call the agent.
const runtimeName = "Deep Agents Code"

// The events that are read.
const (
	sessionStart  = "SessionStart"
	userPrompt    = "UserPromptSubmit"
	notification  = "Notification"
	stop          = "Stop"
	sessionEnd    = "SessionEnd"
	preTool       = "PreToolUse"
	postTool      = "PostToolUse"
	failedTool    = "PostToolUseFailure"
	subagentStart = "SubagentStart"
	subagentStop  = "SubagentStop"
	preCompact    = "PreCompact"
)

// Agent describes Deep Agents Code.
func Agent() *integrations.Agent {
	return &integrations.Agent{
		Name:       Name,
		Runtime:    runtimeName,
		Hooks:      hooks(),
		Peek:       peek,
		Project:    project,
		NewReducer: func(o integrations.Options) integrations.Reducer { return newReducer(o) },
		Setup:      setup(),
	}
}

// hooks lists the events. Those without a limit are understood where somebody registered
// them by hand: each interrupts the agent's graph, for what its database holds anyway.
func hooks() []integrations.Hook {
	const limit = 10 * time.Second
	return []integrations.Hook{
		{Event: sessionStart, Timeout: limit},
		{Event: userPrompt, Wakes: true, Timeout: limit},
		{Event: notification, Wakes: true, Timeout: limit},
		{Event: stop, Wakes: true, Settles: true, Timeout: limit},
		{Event: sessionEnd, Wakes: true, Settles: true, Timeout: limit},
		{Event: preTool}, {Event: postTool}, {Event: failedTool},
		{Event: subagentStart}, {Event: subagentStop}, {Event: preCompact},
	}
}
