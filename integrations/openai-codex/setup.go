package openaicodex

import (
	"path/filepath"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/hookstable"
)

// tested is the newest Codex that this package was tried with.
const tested = "0.171.0"

// setup says how hooks are registered: in hooks.json of Codex's folder, which a
// person reads less often than config.toml and Codex never writes to. Codex trusts a
// hash of each entry, so an entry stays as it is from version to version.
func setup() integrations.Setup {
	return integrations.Setup{
		Program: "codex",
		Tested:  tested,
		Rivals:  rivals(),
		Trusted: trusted,
		Shell:   shell,
		Path:    hooksPath,
		Add:     addHooks,
		Remove: func(settings []byte, ours func(command string) bool) ([]byte, error) {
			return hookstable.RemoveWhere(settings, func(_, command string) bool { return ours(command) })
		},
		Note: `start codex once and choose to trust the hooks when it asks ("Hooks need review").
Codex runs no hook that it was not told to trust, and says nothing of it; what is trusted there
holds for codex exec too.
Its background process keeps the environment of the shell that first started it: put settings
in Tracesmith's file, not in variables.`,
	}
}

// shell is what Codex runs hooks with: the system's own.
func shell(system string) integrations.Shell {
	if system == "windows" {
		return integrations.Cmd
	}
	return integrations.Sh
}

// hooksPath is the user's or the project's table of hooks.
func hooksPath(dir string, project bool, env func(string) string) string {
	if !project {
		if home := env("CODEX_HOME"); home != "" {
			return filepath.Join(home, "hooks.json")
		}
	}
	return filepath.Join(dir, ".codex", "hooks.json")
}

// addHooks registers the command for every event that lacks it, and takes it out of
// events that are no longer wanted. The notify program is no hook.
func addHooks(settings []byte, hooks []integrations.Hook, command string) ([]byte, error) {
	wanted := map[string]bool{}
	for _, h := range hooks {
		wanted[h.Event] = h.Event != notified
	}
	settings, err := hookstable.RemoveWhere(settings, func(event, found string) bool {
		return found == command && !wanted[event]
	})
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if !wanted[h.Event] {
			continue
		}
		settings, err = hookstable.Add(settings, hookstable.Entry{Event: h.Event, Command: command, Timeout: h.Timeout})
		if err != nil {
			return nil, err
		}
	}
	return settings, nil
}
