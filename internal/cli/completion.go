package cli

import (
	"github.com/spf13/cobra"
)

// completionCommand prints what a shell needs to complete our command lines.
func completionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes commands, flags and agents in a shell",
		Long: `Print a script that completes commands, flags and agents in a shell:

  bash        source <(tracesmith completion bash)
  zsh         tracesmith completion zsh > "${fpath[1]}/_tracesmith"
  fish        tracesmith completion fish | source
  powershell  tracesmith completion powershell | Out-String | Invoke-Expression`,
		Args:                  argCount(1, 1),
		ValidArgs:             []string{"bash", "zsh", "fish", "powershell"},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return usagef("completion: unknown shell %q (usage: %s)", args[0], cmd.UseLine())
		},
	}
}
