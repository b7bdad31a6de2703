package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/relay"
	"github.com/tracesmith/tracesmith/internal/setup"
)

// setupFlags are the flags of install and uninstall.
type setupFlags struct {
	names                        []string
	scope                        string
	yes, dryRun, asJSON          bool
	takeOver, standDown, restore bool
	relay                        string // how the relay is to be started; empty: no relay
	relayListen                  string // its address
}

// installCommand registers the hooks in agents' settings.
func installCommand(a *app) *cobra.Command {
	var flags setupFlags
	cmd := &cobra.Command{
		Use:   "install [AGENT...]",
		Short: "Register the hooks in agents' settings",
		Long: `Register the hooks in agents' settings. Without a name the agents on this machine are
looked for, and what would change is shown before anything is.

Everything else in the settings stays as it is, byte for byte, and uninstall brings
the files back. A second install changes nothing.
Agents: ` + strings.Join(agents.Names(), ", ") + ".",
		Args:              argCount(0, maxAgents),
		ValidArgsFunction: completeAgents,
		RunE: func(_ *cobra.Command, names []string) error {
			flags.names = names
			if err := flags.check("install"); err != nil {
				return err
			}
			if err := flags.checkRelay(); err != nil {
				return err
			}
			return a.install(flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&flags.takeOver, "take-over", false, "switch LangSmith's own plugin off where it traces an agent")
	cmd.Flags().BoolVar(&flags.standDown, "stand-down", false, "leave agents to LangSmith's own plugin where it traces them")
	cmd.Flags().StringVar(&flags.relay, "relay", "", "have the relay trace deepagents-code, started as a service or by a hook")
	cmd.Flags().Lookup("relay").NoOptDefVal = "auto"
	cmd.Flags().StringVar(&flags.relayListen, "relay-listen", relay.DefaultListen, "the relay's address on loopback")
	return cmd
}

// uninstallCommand takes out what install registered, by whichever version.
func uninstallCommand(a *app) *cobra.Command {
	var flags setupFlags
	cmd := &cobra.Command{
		Use:   "uninstall [AGENT...]",
		Short: "Remove the hooks from agents' settings",
		Long: `Remove the hooks from agents' settings, whichever version put them there. A file that
nobody touched since install is what it was before, byte for byte; of another one only
the hooks go. Without a name it is every agent.
Agents: ` + strings.Join(agents.Names(), ", ") + ".",
		Args:              argCount(0, maxAgents),
		ValidArgsFunction: completeAgents,
		RunE: func(_ *cobra.Command, names []string) error {
			flags.names = names
			if err := flags.check("uninstall"); err != nil {
				return err
			}
			return a.uninstall(flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&flags.restore, "everywhere", false, "in the user's settings and in every project that install changed")
	return cmd
}

// maxAgents bounds the names on a command line.
const maxAgents = 16

func (f *setupFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.scope, "scope", "user", "whose settings: user or project (of the working directory)")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print what was done for each agent as JSON (asks nothing)")
}

func (f *setupFlags) check(verb string) error {
	switch {
	case f.scope != string(setup.User) && f.scope != string(setup.Project):
		return usagef("%s: --scope is user or project, not %q", verb, f.scope)
	case f.takeOver && f.standDown:
		return usagef("%s: --take-over and --stand-down exclude each other", verb)
	case f.restore && (f.scope != string(setup.User) || len(f.names) > 0):
		return usagef("%s: --everywhere takes no agent and no scope", verb)
	}
	for _, name := range f.names {
		if _, ok := agents.Find(name); !ok {
			return usagef("%s: unknown agent %q: want one of %s", verb, name, strings.Join(agents.Names(), ", "))
		}
	}
	return nil
}

// chosen are the agents that the names stand for: all without any.
func (f *setupFlags) chosen() []*integrations.Agent {
	if len(f.names) == 0 {
		return agents.All()
	}
	var list []*integrations.Agent
	for _, name := range f.names {
		agent, _ := agents.Find(name)
		list = append(list, agent)
	}
	return list
}

func completeAgents(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return agents.Names(), cobra.ShellCompDirectiveNoFileComp
}

// installer works on this machine's settings.
func (a *app) installer() (*setup.Installer, error) {
	state, err := a.openState()
	if err != nil {
		if a.home() == "" {
			err = setup.ErrNoHome
		}
		return nil, err
	}
	return a.installerIn(state), nil
}

// installerIn keeps its receipts in a state directory; without one it can only look.
func (a *app) installerIn(state *journal.State) *setup.Installer {
	dir, err := a.getwd()
	if err != nil {
		dir = "" // it was removed; the user's settings are still there
	}
	i := &setup.Installer{Home: a.home(), Dir: dir, Env: a.env, System: runtime.GOOS, LookPath: exec.LookPath, Now: a.now}
	if state != nil {
		i.Receipts = filepath.Join(state.Dir(), "receipts")
	}
	return i
}

// program is the path to register for this program. Where the search path leads
// here too its entry is taken: it stays when a package manager changes the version.
func (a *app) program() (string, error) {
	self, err := a.executable()
	if err != nil {
		return "", fmt.Errorf("where is this program: %w", err)
	}
	if strings.Contains(self, string(filepath.Separator)+"go-build") {
		return "", errors.New("this is a temporary build that will be gone: build it first (go install ./cmd/tracesmith)")
	}
	if found, err := exec.LookPath("tracesmith"); err == nil && filepath.IsAbs(found) && sameFile(found, self) {
		return found, nil
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
