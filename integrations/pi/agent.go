package pi

import (
	"github.com/tracesmith/tracesmith/integrations"
)

// Name is the integration's name: ls_integration and the word on the command line.
const Name = "pi"

// runtimeName is what people call the agent.
const runtimeName = "Pi"

// Agent describes Pi.
func Agent() *integrations.Agent {
	known := newStreams()
	return &integrations.Agent{
		Name:       Name,
		Runtime:    runtimeName,
		Hooks:      hooks(),
		Peek:       func(p integrations.Payload) (integrations.Route, error) { return newStreams().peek(p) },
		Stream:     func() func(integrations.Payload) (integrations.Route, error) { return known.peek },
		Project:    project,
		NewReducer: func(o integrations.Options) integrations.Reducer { return newReducer(o) },
		Past:       past,
		Setup:      setup(),
	}
}

// hooks lists the events that are read. The extension forwards these and no other.
func hooks() []integrations.Hook {
	return []integrations.Hook{
		{Event: "session_start"},
		{Event: "before_agent_start"},
		{Event: "before_provider_request"},
		{Event: "message_start"},
		{Event: "message_update"},
		{Event: "message_end", Wakes: true},
		{Event: "tool_execution_start"},
		{Event: "tool_execution_end", Wakes: true},
		{Event: "agent_settled", Wakes: true, Settles: true},
		{Event: "session_before_compact"},
		{Event: "session_compact", Wakes: true},
		{Event: "session_compact_failed", Wakes: true},
		{Event: "session_before_tree"},
		{Event: "session_tree", Wakes: true},
		{Event: "user_bash"},
		{Event: "session_shutdown", Wakes: true, Settles: true},
	}
}
