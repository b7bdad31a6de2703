package pi

import (
	_ "embed" // the extension
	"path/filepath"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/shimfile"
)

// tested is the newest Pi that this package was tried with.
const tested = "1.6.0"

// shim is the extension that runs inside Pi.
//
//go:embed shim.js
var shim string

// setup says how the extension is installed: as a file of its own, which Pi loads from
// its folder of extensions.
func setup() integrations.Setup {
	return integrations.Setup{
		Program: "pi",
		Tested:  tested,
		Whole:   true,
		Shell:   func(string) integrations.Shell { return integrations.Argv },
		Path:    extensionPath,
		Add:     shimfile.Add(shim),
		Remove:  shimfile.Remove,
		Note:    "A Pi that is running loads the extension with /reload. A project's extension is loaded once Pi trusts the project.",
	}
}

// extensionPath is the extension's file.
func extensionPath(dir string, project bool, env func(string) string) string {
	if project {
		return filepath.Join(dir, ".pi", "extensions", "tracesmith.js")
	}
	return filepath.Join(agentDir(dir, env), "extensions", "tracesmith.js")
}
