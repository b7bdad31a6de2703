package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// app is the world a command runs in.
type app struct {
	stdin      io.Reader
	stdout     io.Writer
	stderr     io.Writer
	env        func(string) string
	now        func() time.Time
	getwd      func() (string, error)
	executable func() (string, error) // this program's file

	interactive func() bool // whether somebody answers questions; nil: if stdin is a terminal
	answers     *bufio.Reader
}

// commands lists every command. A new command is a file and a line here.
func commands() []func(*app) *cobra.Command {
	return []func(*app) *cobra.Command{
		aguiCommand,
		completionCommand,
		configCommand,
		demoCommand,
		doctorCommand,
		drainCommand,
		forgetCommand,
		hookCommand,
		importCommand,
		installCommand,
		muteCommand,
		openCommand,
		purgeCommand,
		redactCommand,
		relayCommand,
		replayCommand,
		sentCommand,
		serveCommand,
		showCommand,
		statusCommand,
		tailCommand,
		tryCommand,
		uninstallCommand,
		unmuteCommand,
		validateCommand,
		versionCommand,
		viewCommand,
	}
}

// errReported ends a command with exit code 1 when all there is to say has been
// printed already, such as the violations that validate found.
var errReported = errors.New("reported")

// usageError is a command line that cannot be understood: exit code 64.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// argCount says that a command takes from least to most arguments. cobra's own
// validators return errors that could not be told from a command's failure.
func argCount(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s: missing argument (usage: %s)", cmd.Name(), cmd.UseLine())
		case len(args) > most:
			return usagef("%s: unexpected argument %q (usage: %s)", cmd.Name(), args[most], cmd.UseLine())
		}
		return nil
	}
}
