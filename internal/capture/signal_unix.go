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

// outlive keeps the reader of a stream alive when the agent is killed with all that it
// started, by a closed terminal for one: it has yet to tell of the end.
func outlive() {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGPIPE, syscall.SIGXFSZ)
}

// reap takes leave of drainers that ended, which would stay in the system's table as
// long as their parent lives.
func reap() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}
