package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/setup"
	"github.com/tracesmith/tracesmith/internal/store"
)

// triedTurns bounds the turns that try prints.
const triedTurns = 20

// tryCommand runs an agent once and shows what it did.
func tryCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "try PROGRAM [ARG...]",
		Short: "Run an agent once with the hooks, and print its turns",
		Long: `Run an agent, such as claude -p 'what is in this repository?', with the hooks for this
once where they are not installed, and print its turns when it has ended. No settings
are changed. Without a key nothing leaves this machine.`,
		DisableFlagParsing: true,
		Args:               argCount(1, maxTryWords),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if asksForHelp(argv) {
				return cmd.Help()
			}
			if argv[0] == "--" {
				argv = argv[1:]
			}
			if len(argv) == 0 {
				return usagef("try: missing argument (usage: %s)", cmd.UseLine())
			}
			return oneLine(a.try(cmd.Context(), argv))
		},
	}
}

// maxTryWords bounds the agent's command line.
const maxTryWords = 1000

// try runs the agent and prints the turns that it added.
func (a *app) try(ctx context.Context, argv []string) error {
	agent, err := agentOf(argv[0])
	if err != nil {
		return err
	}
	dir, _ := a.getwd() // without one there is no project's file
	settings, err := a.settings(agent.Name, dir)
	switch {
	case err != nil:
		return err
	case !settings.Enabled:
		return fmt.Errorf("try: tracing is switched off by %s", settings.Source("enabled"))
	case !settings.Store:
		return fmt.Errorf("try: the local store, which turns are shown from, is switched off by %s", settings.Source("store"))
	}
	extra, err := a.hooksForOnce(agent)
	if err != nil {
		return err
	}
	begin := a.now()
	ended := a.runAgent(ctx, argv[0], slices.Concat(extra, argv[1:]))
	var exit *exec.ExitError
	switch {
	case errors.Is(ended, exec.ErrNotFound):
		return fmt.Errorf("try: %s is not in PATH: install it, or see what recorded sessions look like: tracesmith demo", argv[0])
	case ended != nil && !errors.As(ended, &exit):
		return fmt.Errorf("try: %w", ended)
	}
	if err := a.drain(ctx, drainFlags{all: true, wait: true}); err != nil {
		fmt.Fprintf(a.stderr, "tracesmith: %v\n", oneLine(err)) // the local store may have them nevertheless
	}
	if err := a.showSince(ctx, agent, begin); err != nil {
		return err
	}
	if exit != nil {
		return fmt.Errorf("try: %s ended with %w", argv[0], exit)
	}
	return nil
}

// agentOf finds the agent whose program somebody wants to run.
func agentOf(program string) (*integrations.Agent, error) {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	var known []string
	for _, agent := range agents.All() {
		switch agent.Setup.Program {
		case "":
		case name:
			return agent, nil
		default:
			known = append(known, agent.Setup.Program)
		}
	}
	return nil, usagef("try: %q is no agent that is known: want one of %s", program, strings.Join(known, ", "))
}

// hooksForOnce returns the arguments that bring the hooks along; none where they are
// installed.
func (a *app) hooksForOnce(agent *integrations.Agent) ([]string, error) {
	i, err := a.installer()
	if err != nil {
		return nil, err
	}
	if i.Program, err = a.executable(); err != nil { // a temporary build lasts as long as this does
		return nil, fmt.Errorf("try: where is this program: %w", err)
	}
	list, rivals := i.Survey(agent)
	installed := slices.IndexFunc(list, func(s setup.Standing) bool { return s.Hooks > 0 })
	switch {
	case installed >= 0 && !list[installed].Trusted:
		return nil, fmt.Errorf("try: %s", agent.Setup.Note)
	case installed >= 0:
		return nil, nil
	case len(rivals) > 0:
		return nil, fmt.Errorf("try: %s traces it already (%s): %s", rivals[0].Name, rivals[0].Path, rivals[0].Undo)
	case agent.Setup.Once == nil:
		return nil, fmt.Errorf("try: %s takes no hooks for once: run: tracesmith install %s", agent.Runtime, agent.Name)
	}
	command, err := i.Command(agent)
	if err != nil {
		return nil, fmt.Errorf("try: %w", err)
	}
	settings, err := agent.Setup.Add([]byte("{}"), agent.Hooks, command)
	if err != nil {
		return nil, fmt.Errorf("try: %w", err)
	}
	return agent.Setup.Once(settings), nil
}

// runAgent runs a program on this one's streams. An interrupt from the keyboard is the
// program's: it means a turn there, not the end.
func (a *app) runAgent(ctx context.Context, program string, args []string) error {
	signal.Reset(os.Interrupt)
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endWithin
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	if o, ok := a.stdout.(*output); ok {
		cmd.Stdout = o.to // a terminal stays one
	}
	return cmd.Run()
}

// showSince prints the agent's turns that began since then.
func (a *app) showSince(ctx context.Context, agent *integrations.Agent, begin time.Time) error {
	state, err := a.openState()
	if err != nil {
		return err
	}
	runs, err := a.openStore(ctx, state)
	if err != nil {
		return err
	}
	turns, err := runs.Turns(ctx, store.Filter{Limit: triedTurns})
	var traces []string
	for _, turn := range slices.Backward(turns) {
		if turn.Integration == agent.Name && !turn.Start.Before(begin.Truncate(time.Second)) {
			traces = append(traces, turn.TraceID)
		}
	}
	for _, id := range traces {
		err = errors.Join(err, a.show(ctx, runs, []string{id}, store.Filter{}, false))
	}
	if err == nil && len(traces) == 0 {
		err = errors.New("try: no turn was recorded: find out why with: tracesmith doctor")
	}
	return errors.Join(err, runs.Close())
}
