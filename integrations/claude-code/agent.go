package claudecode

import (
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Name is the integration's name: ls_integration and the word on the command line.
const Name = "claude-code"

// Agent describes Claude Code.
func Agent() *integrations.Agent {
	return &integrations.Agent{
		Name:       Name,
		Runtime:    "Claude Code",
		Hooks:      hooks(),
		Notice:     notice,
		Peek:       peek,
		Project:    project,
		NewReducer: func(o integrations.Options) integrations.Reducer { return newReducer(o) },
		Past:       past,
		Setup:      setup(),
	}
}

// hooks lists the events that are registered: the fewest that tell when a turn
// begins and ends, what a person was asked, and how long a tool really ran.
// MessageDisplay would start a process every 300 ms and is left out; so are
// events whose facts the transcript holds.
func hooks() []integrations.Hook {
	return []integrations.Hook{
		{Event: "SessionStart", Wakes: true, Greets: true},
		{Event: "UserPromptSubmit", Wakes: true},
		{Event: "PreToolUse"},
		{Event: "PermissionRequest"},
		{Event: "PostToolUse", Wakes: true},
		{Event: "PostToolUseFailure", Wakes: true},
		{Event: "SubagentStart", Wakes: true},
		{Event: "SubagentStop", Wakes: true},
		{Event: "PreCompact"},
		{Event: "PostCompact", Wakes: true},
		{Event: "Notification", Wakes: true},
		{Event: "Stop", Wakes: true, Settles: true},
		// In -p mode the group of this hook gets SIGTERM some 33 ms after it began.
		{Event: "StopFailure", Wakes: true, Settles: true, Shield: true},
		// Claude Code gives all SessionEnd hooks 1.5 s together unless settings
		// ask for more.
		{Event: "SessionEnd", Wakes: true, Settles: true, Timeout: 10 * time.Second},
	}
}

// notice is the answer of a hook that Claude Code shows to its user and keeps from the
// model.
func notice(text string) []byte {
	raw, err := json.Marshal(struct {
		Message string `json:"systemMessage"`
	}{text})
	if err != nil {
		return nil
	}
	return append(raw, '\n')
}
