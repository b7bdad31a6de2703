//go:build unix

package capture

import (
	"os/signal"
	"syscall"
)

// ignoreSignals keeps a closed pipe, and for a shielded agent its SIGTERM, from
// ending the hook halfway. The watchdog still bounds it.
func ignoreSignals(shielded bool) {
	signal.Ignore(syscall.SIGPIPE)
	if shielded {
		signal.Ignore(syscall.SIGTERM)
	}
}
