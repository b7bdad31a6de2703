package cli

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Tree is the command tree for who describes it: nothing is read, and nothing
// printed, by a command of it that runs.
func Tree() *cobra.Command {
	a := &app{
		stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		env: func(string) string { return "" }, now: time.Now, getwd: os.Getwd, executable: os.Executable,
	}
	return a.root()
}
