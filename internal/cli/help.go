package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand explains a command. cobra's own takes a word that is none for a success.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, each := range cmd.Root().Commands() {
				if each.IsAvailableCommand() {
					names = append(names, each.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			found, rest, err := cmd.Root().Find(words)
			if err != nil || len(rest) > 0 {
				return usagef("help: unknown command %q (see: tracesmith --help)", strings.Join(words, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}
