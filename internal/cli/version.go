package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/version"
)

// versionCommand prints which build this is.
func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  argCount(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.stdout, "tracesmith %s (%s, %s/%s)\n",
				version.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
