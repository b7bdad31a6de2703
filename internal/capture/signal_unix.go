//go:build unix

package capture

import (
	"os/signal"
	"syscall"
)

// ignoreSignals keeps a closed pipe, a limit on file sizes and, for a shielded
// agent, its SIGTERM from ending the hook halfway: Go answers the second one with
// exit code 2. The watchdog still bounds it.
func ignoreSignals(shielded bool) {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ)
	if shielded {
		signal.Ignore(syscall.SIGTERM)
	}
}
