package shimfile

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// The line that tells a shim from any other file, and the one that holds the command.
const (
	mark    = "// Written by `tracesmith install"
	command = "const command = "
)

// ErrForeign says that the file is somebody else's.
var ErrForeign = errors.New("is not Tracesmith's: move it away or rename it first")

// Add returns a Setup.Add that writes the shim with the command, a JSON array, in place
// of the one it has, which is for its tests. A shim of another version is replaced. The
// shim begins with the mark.
func Add(shim string) func(settings []byte, hooks []integrations.Hook, command string) ([]byte, error) {
	return func(settings []byte, _ []integrations.Hook, argv string) ([]byte, error) {
		if len(bytes.TrimSpace(settings)) > 0 && !ours(settings) {
			return nil, ErrForeign
		}
		before, rest, found := strings.Cut(shim, "\n"+command)
		_, after, ended := strings.Cut(rest, ";\n")
		if !found || !ended || !ours([]byte(shim)) {
			return nil, errors.New("shimfile: the shim has no mark or no command")
		}
		return []byte(before + "\n" + command + argv + ";\n" + after), nil
	}
}

// Remove is a Setup.Remove: nothing is left of a shim whose command is ours.
func Remove(settings []byte, isOurs func(command string) bool) ([]byte, error) {
	if !ours(settings) {
		return settings, nil
	}
	for line := range strings.Lines(string(settings)) {
		if argv, found := strings.CutPrefix(line, command); found {
			if isOurs(strings.TrimSuffix(strings.TrimRight(argv, "\r\n"), ";")) {
				return nil, nil
			}
			break
		}
	}
	return settings, nil
}

func ours(text []byte) bool { return bytes.HasPrefix(text, []byte(mark)) }
