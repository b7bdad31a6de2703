package openaicodex

import (
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Name is the integration's name: ls_integration and the word on the command line.
const Name = "openai-codex"

// runtimeName is what people call the agent.
const runtimeName = "Codex"

// notified is the event of the older notify program. It is registered by hand: the
// agent knows one such program only, and it may be somebody else's.
const notified = "agent-turn-complete"

// Agent describes OpenAI Codex.
func Agent() *integrations.Agent {
	return &integrations.Agent{
		Name:       Name,
		Runtime:    runtimeName,
		Hooks:      hooks(),
		Peek:       peek,
		Project:    project,
		NewReducer: func(o integrations.Options) integrations.Reducer { return newReducer(o) },
		Past:       past,
		Setup:      setup(),
	}
}

// hooks lists the events that are registered. None of them is per tool: Codex waits
// for those, shows each to the user, and the rollout has the tools.
func hooks() []integrations.Hook {
	// Codex cuts these two down to 3 s, and warns at every start of a longer one.
	const short = 3 * time.Second
	return []integrations.Hook{
		{Event: "SessionStart", Wakes: true},
		{Event: "UserPromptSubmit", Wakes: true},
		{Event: "SubagentStart", Wakes: true},
		{Event: "SubagentStop", Wakes: true},
		{Event: "PreCompact"},
		{Event: "PostCompact", Wakes: true},
		{Event: "Interrupt", Wakes: true, Settles: true, Timeout: short},
		{Event: "Stop", Wakes: true, Settles: true},
		{Event: "SessionEnd", Wakes: true, Settles: true, Timeout: short},
		{Event: notified, Wakes: true, Settles: true},
	}
}
