package journal

import (
	"errors"
	"path/filepath"
	"runtime"
)

// FormatVersion is the version of the layout on disk.
const FormatVersion = 1

// versionDir holds everything of FormatVersion.
const versionDir = "v1"

// DefaultDir is where the state belongs: tracesmith/v1 in $TRACESMITH_STATE,
// else in the system's place for the state of programs. env looks up one
// environment variable.
func DefaultDir(env func(string) string) (string, error) {
	base, err := stateHome(env, runtime.GOOS)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "tracesmith", versionDir), nil
}

func stateHome(env func(string) string, system string) (string, error) {
	if dir := env("TRACESMITH_STATE"); dir != "" {
		return filepath.Abs(dir)
	}
	if system == "windows" {
		if dir := env("LocalAppData"); filepath.IsAbs(dir) {
			return dir, nil
		}
		return "", errors.New("journal: no state directory: set TRACESMITH_STATE or LocalAppData")
	}
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) && system != "darwin" {
		return dir, nil
	}
	home := env("HOME")
	switch {
	case !filepath.IsAbs(home):
		return "", errors.New("journal: no state directory: set TRACESMITH_STATE or HOME")
	case system == "darwin":
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "state"), nil
}
