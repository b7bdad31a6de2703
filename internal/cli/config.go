package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/config"
)

// configCommand shows the settings.
func configCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings and where each comes from, and keep the key",
		Args:  argCount(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(explainCommand(a), configPathCommand(a), configKeyCommand(a))
	return cmd
}

// explainCommand prints every setting with its source.
func explainCommand(a *app) *cobra.Command {
	var agent string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [--agent AGENT]",
		Short: "Print each setting, its value here and where it comes from",
		Long: `Print each setting, its value in this folder and where it comes from. A flag beats the
environment, which beats the project's file, which beats the user's file, which beats
what LangSmith's own tools have stored, which beats the default. With --agent the
variables and files of LangSmith's plugin for that agent count too. Of a key only the
last four characters are shown.`,
		Args: argCount(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if _, ok := agents.Find(agent); !ok && agent != "" {
				return usagef("config: unknown agent %q: want one of %s", agent, strings.Join(agents.Names(), ", "))
			}
			return a.explain(agent, asJSON)
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "as they are for this agent")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("agent", completeAgents)
	return cmd
}

func (a *app) explain(agent string, asJSON bool) error {
	dir, err := a.getwd()
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	settings, unreadable := a.settings(agent, dir)
	var faults []string
	if unreadable != nil {
		faults = strings.Split(unreadable.Error(), "\n")
	}
	if asJSON {
		err = printJSON(a.stdout, struct {
			Settings []config.Setting `json:"settings"`
			Ignored  []string         `json:"ignored,omitempty"`
			Errors   []string         `json:"errors,omitempty"`
		}{settings.Explain(), settings.Ignored, faults})
	} else {
		table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, s := range settings.Explain() {
			value := s.Value
			if value == "" {
				value = "-"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", s.Key, value, s.Source)
		}
		err = table.Flush()
		for _, each := range settings.Ignored {
			fmt.Fprintf(a.stdout, "no effect: %s\n", each)
		}
		for _, each := range faults {
			fmt.Fprintf(a.stdout, "error: %s\n", each)
		}
	}
	if err == nil && len(faults) > 0 {
		return errReported
	}
	return err
}

// configPathCommand prints where the settings are.
func configPathCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "Print where the user's settings file is, or would be",
		Args:  argCount(0, 0),
		RunE: func(*cobra.Command, []string) error {
			path := config.UserFile(a.env)
			if path == "" {
				return errors.New("config: no home directory: set HOME")
			}
			_, err := fmt.Fprintln(a.stdout, path)
			return err
		},
	}
}
