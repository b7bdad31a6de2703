package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/demo"
	"github.com/tracesmith/tracesmith/internal/tree"
	"github.com/tracesmith/tracesmith/runtypes"
)

// demoCommand shows the main job on recorded sessions.
func demoCommand(a *app) *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo [--keep FOLDER]",
		Short: "Play recorded sessions through real hooks, a drainer and HTTP to a server on loopback",
		Long: `Play recorded sessions of Claude Code, one hook process per event, through the real
hook, drainer and exporter to a LangSmith-protocol server on a free loopback port,
check every run that arrives against the contract, and print the trees. It takes
some seconds and needs no account and no network.`,
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := a.executable()
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			dir, done, err := demoFolder(keep)
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			defer done()
			begin := a.now()
			fmt.Fprintln(a.stderr, "Playing three recorded sessions of Claude Code…")
			result, err := demo.Run(cmd.Context(), demo.Config{Program: program, Dir: dir})
			if cmd.Context().Err() != nil {
				return errors.New("demo: interrupted")
			}
			if err != nil {
				return oneLine(err)
			}
			return a.reportDemo(result, keep, a.now().Sub(begin))
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "work in this new folder and leave it, to look around in afterwards")
	return cmd
}

// demoFolder makes the folder to work in: a temporary one that done removes, or the
// one that is asked for.
func demoFolder(keep string) (dir string, done func(), err error) {
	if keep == "" {
		dir, err = os.MkdirTemp("", "tracesmith-demo-")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	if dir, err = filepath.Abs(keep); err != nil {
		return "", nil, err
	}
	return dir, func() {}, os.Mkdir(dir, 0o700)
}

// reportDemo prints what arrived and where to look next.
func (a *app) reportDemo(result demo.Result, kept string, took time.Duration) error {
	if err := tree.Render(a.stdout, result.Runs, a.treeOptionsFor(a.stdout)); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\n%d events, one hook process each (half of them within %s) -> %d runs in %d requests, %d bytes on the wire; %.1f s in all.\n",
		len(result.Hooks), result.Hooks[len(result.Hooks)/2].Round(100*time.Microsecond), len(result.Runs), result.Requests, result.Bytes, took.Seconds())
	violations := runtypes.ValidateWire(result.Runs)
	for _, v := range violations {
		fmt.Fprintln(a.stdout, v)
	}
	if len(violations) > 0 || len(result.Runs) == 0 {
		return errReported
	}
	fmt.Fprint(a.stdout, `Every run keeps the coding agent contract.

Next:
  tracesmith install claude-code    trace your own sessions (--dry-run shows the change)
  tracesmith show                   the last turn, once there is one
`)
	if kept != "" {
		fmt.Fprintf(a.stdout, "This demo's own state: TRACESMITH_STATE=%s tracesmith status\n", filepath.Join(kept, "state"))
	}
	return nil
}
