package cursor

import (
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Name is the integration's name: ls_integration and the word on the command line.
const Name = "cursor"

// runtimeName is what people call the agent.
const runtimeName = "Cursor"

// compacting is understood, but registered by hand only: see the package documentation.
const compacting = "preCompact"

// Agent describes Cursor.
func Agent() *integrations.Agent {
	return &integrations.Agent{
		Name:       Name,
		Runtime:    runtimeName,
		Hooks:      hooks(),
		Reply:      []byte("{}\n"), // go on, and nothing to add
		Claims:     claims,
		Peek:       peek,
		Project:    project,
		NewReducer: func(o integrations.Options) integrations.Reducer { return newReducer(o) },
		Setup:      setup(),
	}
}

// hooks lists the events that are registered. Those of a single kind of tool repeat
// what the general ones say, beforeReadFile with the whole file.
func hooks() []integrations.Hook {
	const limit = 10 * time.Second
	return []integrations.Hook{
		{Event: "sessionStart", Timeout: limit},
		{Event: "beforeSubmitPrompt", Wakes: true, Timeout: limit},
		{Event: "preToolUse", Timeout: limit},
		{Event: "postToolUse", Wakes: true, Timeout: limit},
		{Event: "postToolUseFailure", Wakes: true, Timeout: limit},
		{Event: "afterAgentThought", Timeout: limit},
		{Event: "afterAgentResponse", Timeout: limit},
		{Event: "subagentStart", Wakes: true, Timeout: limit},
		{Event: "subagentStop", Wakes: true, Timeout: limit},
		{Event: compacting},
		{Event: "stop", Wakes: true, Settles: true, Timeout: limit},
		{Event: "sessionEnd", Wakes: true, Settles: true, Timeout: limit},
	}
}
