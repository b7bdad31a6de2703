package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
)

// installCommand registers the hooks in an agent's settings.
func installCommand(a *app) *cobra.Command {
	return setupCommand(a, "install", "Register the hooks in an agent's settings", installed)
}

// uninstallCommand takes out what install registered, by whichever version.
func uninstallCommand(a *app) *cobra.Command {
	return setupCommand(a, "uninstall", "Remove the hooks from an agent's settings", uninstalled)
}

// change computes the settings as a command wants them.
type change func(agent *integrations.Agent, program string, settings []byte) ([]byte, error)

func setupCommand(a *app, verb, short string, to change) *cobra.Command {
	var scope string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   verb + " AGENT...",
		Short: short,
		Long: short + ".\n\nEverything else in the settings stays as it is, byte for byte.\nAgents: " +
			strings.Join(agents.Names(), ", ") + ".",
		Args: argCount(1, 16),
		RunE: func(_ *cobra.Command, names []string) error {
			if scope != "user" && scope != "project" {
				return usagef("%s: --scope is user or project, not %q", verb, scope)
			}
			for _, name := range names {
				if _, ok := agents.Find(name); !ok {
					return usagef("%s: unknown agent %q: want one of %s", verb, name, strings.Join(agents.Names(), ", "))
				}
			}
			for _, name := range names {
				if err := a.setUp(name, scope == "project", dryRun, to); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "user", "whose settings: user or project (of the working directory)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	return cmd
}

// setUp brings one agent's settings to where the change wants them.
func (a *app) setUp(name string, project, dryRun bool, to change) error {
	agent, _ := agents.Find(name)
	path, err := a.settingsPath(agent, project)
	if err != nil {
		return err
	}
	program, err := a.program()
	if err != nil {
		return err
	}
	file, err := readSettings(path)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", name, err)
	}
	wanted, err := to(agent, program, file.text)
	if err != nil {
		return fmt.Errorf("%s: %s: %w; nothing was changed", name, path, err)
	}
	switch {
	case bytes.Equal(wanted, file.text):
		fmt.Fprintf(a.stdout, "%s: nothing to change in %s\n", name, path)
		return nil
	case dryRun:
		fmt.Fprintf(a.stdout, "%s%s: dry run, nothing was changed\n", diff.Diff(path, file.text, path, wanted), name)
		return nil
	}
	if err := file.replace(wanted, project); err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", name, err)
	}
	fmt.Fprintf(a.stdout, "%s: changed %s\n", name, path)
	return nil
}

func installed(agent *integrations.Agent, program string, settings []byte) ([]byte, error) {
	command := hookLine(program, agent.Name)
	ours := ourHook(agent.Name)
	settings, err := agent.Setup.Remove(settings, func(found string) bool { return found != command && ours(found) })
	if err != nil {
		return nil, err
	}
	return agent.Setup.Add(settings, agent.Hooks, command)
}

func uninstalled(agent *integrations.Agent, _ string, settings []byte) ([]byte, error) {
	return agent.Setup.Remove(settings, ourHook(agent.Name))
}

func (a *app) settingsPath(agent *integrations.Agent, project bool) (string, error) {
	if project {
		dir, err := a.getwd()
		if err != nil {
			return "", fmt.Errorf("project's settings: %w", err)
		}
		return agent.Setup.Path(dir, true, a.env), nil
	}
	home := a.env("HOME")
	if runtime.GOOS == "windows" {
		home = a.env("USERPROFILE")
	}
	path := agent.Setup.Path(home, false, a.env)
	if !filepath.IsAbs(path) {
		return "", errors.New("no home directory: set HOME")
	}
	return path, nil
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
