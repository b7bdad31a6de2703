package claudecode

import (
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/hookstable"
)

// shield goes in front of the command of a hook that gets SIGTERM while it still
// starts: a shell that ignores the signal lives to become the hook.
const shield = "trap '' TERM; "

// setup says how hooks are registered in Claude Code's settings.
func setup() integrations.Setup {
	return integrations.Setup{
		Path: settingsPath, Add: addHooks, Remove: removeHooks,
		Program: "claude", Tested: tested, Rivals: rivals(),
		Once: func(settings []byte) []string { return []string{"--settings", string(settings)} },
	}
}

// settingsPath is the user's or the project's settings file.
func settingsPath(dir string, project bool, env func(string) string) string {
	if !project {
		if config := env("CLAUDE_CONFIG_DIR"); config != "" {
			return filepath.Join(config, "settings.json")
		}
	}
	return filepath.Join(dir, ".claude", "settings.json")
}

// addHooks registers the command for every event that lacks it, and takes it out
// of events that are no longer wanted.
func addHooks(settings []byte, hooks []integrations.Hook, command string) ([]byte, error) {
	wanted := map[string]string{}
	for _, h := range hooks {
		wanted[h.Event] = commandOf(h, command)
	}
	settings, err := hookstable.RemoveWhere(settings, func(event, found string) bool {
		return wanted[event] != found && (found == command || found == shield+command)
	})
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		settings, err = hookstable.Add(settings, hookstable.Entry{Event: h.Event, Command: wanted[h.Event], Timeout: h.Timeout})
		if err != nil {
			return nil, err
		}
	}
	return settings, nil
}

func commandOf(h integrations.Hook, command string) string {
	if h.Shield {
		return shield + command
	}
	return command
}

// removeHooks takes out every command that ours recognises, whatever it is
// prefixed with, and what that leaves empty.
func removeHooks(settings []byte, ours func(command string) bool) ([]byte, error) {
	return hookstable.RemoveWhere(settings, func(_, command string) bool {
		return ours(strings.TrimPrefix(command, shield))
	})
}
