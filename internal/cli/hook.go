package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/capture"
	"github.com/tracesmith/tracesmith/internal/drain/spawn"
)

// hookCommand puts the hook into the help. Main takes a shorter way to runHook.
func hookCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                "hook AGENT [ARG...]",
		Short:              "Take one event of an agent (agents call this; it prints nothing and exits 0)",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asksForHelp(args) {
				return cmd.Help()
			}
			runHook(args, a.env, a.stdin, a.stdout)
			return nil
		},
	}
}

// runHook captures one event. Whatever happens, the agent goes on: 0.
func runHook(args []string, env func(string) string, stdin io.Reader, stdout io.Writer) int {
	capture.Run(capture.Config{
		Args:    args,
		Env:     env,
		Stdin:   stdin,
		Stdout:  stdout,
		Find:    agents.Find,
		All:     agents.All,
		Spawn:   spawnDrainer,
		Deliver: awaitDrainer,
	})
	startRelay(args, env)
	return exitOK
}

// spawnDrainer starts a drainer that outlives this process.
func spawnDrainer(dir, session string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return spawn.Start(spawn.Command{Program: program, Dir: dir, Session: session, Environ: os.Environ()})
}

// awaitDrainer runs a drainer as a child: it needs what the hook must not link.
// Its failures are its own to report; running out of time is none, because what
// is left stays in the journal for the next one.
func awaitDrainer(session string, limit time.Duration) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "drain", "--session", session, "--wait")
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}
