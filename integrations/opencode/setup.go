package opencode

import (
	_ "embed" // the shim
	"path/filepath"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/shimfile"
)

// tested is the newest OpenCode that this package was tried with.
const tested = "1.18.33"

//go:embed shim.js
var shim string

// setup says how the shim is registered: as a file among the user's or the project's
// plugins, which OpenCode loads at its next start.
func setup() integrations.Setup {
	return integrations.Setup{
		Program: "opencode",
		Tested:  tested,
		Path:    shimPath,
		Whole:   true,
		Add:     shimfile.Add(shim),
		Remove:  shimfile.Remove,
		Shell:   func(string) integrations.Shell { return integrations.Argv },
		Rivals:  rivals(),
		Note:    `Sessions that are open now are traced from their next start on.`,
	}
}

// shimPath is where OpenCode looks for plugins. It reads them from the XDG folder on
// every system.
func shimPath(dir string, project bool, env func(string) string) string {
	const file = "tracesmith.js"
	if project {
		return filepath.Join(dir, ".opencode", "plugins", file)
	}
	if custom := env("OPENCODE_CONFIG_DIR"); custom != "" {
		return filepath.Join(custom, "plugins", file)
	}
	if config := env("XDG_CONFIG_HOME"); config != "" {
		return filepath.Join(config, "opencode", "plugins", file)
	}
	return filepath.Join(dir, ".config", "opencode", "plugins", file)
}
