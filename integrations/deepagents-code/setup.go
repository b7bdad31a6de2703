package deepagentscode

import (
	"path/filepath"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/hookstable"
)

// tested is the newest Deep Agents Code that this package was tried with.
const tested = "0.1.88"

// setup says how hooks are registered: in hooks.json of the agent's folder.
func setup() integrations.Setup {
	return integrations.Setup{
		Program: "dcode",
		Tested:  tested,
		Path:    hooksPath,
		Add:     addHooks,
		Remove: func(settings []byte, ours func(command string) bool) ([]byte, error) {
			return hookstable.RemoveWhere(settings, func(_, command string) bool { return ours(command) })
		},
		Shell: func(system string) integrations.Shell {
			if system == "windows" {
				return integrations.Cmd
			}
			return integrations.Sh
		},
		Note: `Deep Agents Code takes keys out of its hooks' environment: put settings in Tracesmith's file, not in variables.
While it traces itself (LANGSMITH_TRACING=true, or a LangSmith key given to /auth) the hooks tell nothing,
so that no turn is there twice. Hooks in a repository run where its hooks are trusted only.`,
	}
}

// hooksPath is the user's or the project's table of hooks.
func hooksPath(dir string, project bool, env func(string) string) string {
	if home := env("DEEPAGENTS_HOME"); home != "" && !project && filepath.IsAbs(home) {
		return filepath.Join(home, "hooks.json")
	}
	return filepath.Join(dir, ".deepagents", "hooks.json")
}

// addHooks registers the command for every event that lacks it, and takes it out of
// events that are not worth what they cost.
func addHooks(settings []byte, hooks []integrations.Hook, command string) ([]byte, error) {
	wanted := map[string]bool{}
	for _, h := range hooks {
		wanted[h.Event] = h.Timeout > 0
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
