package opencode

import "github.com/tracesmith/tracesmith/integrations"

// Name is the integration's name: ls_integration and the word on the command line.
const Name = "opencode"

// runtimeName is what people call the agent.
const runtimeName = "OpenCode"

// Agent describes OpenCode.
func Agent() *integrations.Agent {
	return &integrations.Agent{
		Name:       Name,
		Runtime:    runtimeName,
		Hooks:      hooks(),
		Peek:       func(p integrations.Payload) (integrations.Route, error) { return stream()(p) },
		Stream:     stream,
		Project:    project,
		NewReducer: func(o integrations.Options) integrations.Reducer { return newReducer(o) },
		Past:       past,
		Setup:      setup(),
	}
}

// Events, as the shim names them: hooks of plugins, and events of OpenCode's bus.
const (
	onPrompt     = "chat.message"
	onRequest    = "chat.params"
	onCreated    = "session.created"
	onUpdated    = "session.updated"
	onDeleted    = "session.deleted"
	onError      = "session.error"
	onStatus     = "session.status"
	onIdle       = "session.idle"
	onMessage    = "message.updated"
	onPart       = "message.part.updated"
	onDelta      = "message.part.delta"
	onPermission = "permission.asked"
	onReply      = "permission.replied"
)

// hooks lists the events that are journaled.
func hooks() []integrations.Hook {
	return []integrations.Hook{
		{Event: onPrompt, Wakes: true},
		{Event: onRequest},
		{Event: onCreated},
		{Event: onUpdated},
		{Event: onDeleted, Wakes: true, Settles: true},
		{Event: onError},
		{Event: onStatus},
		{Event: onIdle, Wakes: true, Settles: true},
		{Event: onMessage, Wakes: true},
		{Event: onPart},
		{Event: onDelta},
		{Event: onPermission},
		{Event: onReply},
	}
}
