// Package plugins makes the packages by which agents install hooks of their own accord:
// a plugin of Claude Code, Codex, Cursor and GitHub Copilot CLI with the marketplaces
// that list them, and packages of Pi and OpenCode. They register what `tracesmith
// install` registers, and are made from the same tables.
//
// A plugin brings no program. Its hooks call the tracesmith that is found on the search
// path, or where installers put it, and do nothing where there is none.
//
// The files are in the repository because that is where agents fetch them from:
//
//	go test ./internal/plugins -update
package plugins
