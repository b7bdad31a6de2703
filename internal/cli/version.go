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
		RunE:  func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	_, err := fmt.Fprintln(a.stdout, versionText())
	return err
}

// versionText says which build this is.
func versionText() string {
	return fmt.Sprintf("tracesmith %s (%s, %s/%s)", version.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
