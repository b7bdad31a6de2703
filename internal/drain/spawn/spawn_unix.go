//go:build unix

package spawn

import "syscall"

// detached puts the drainer into a session of its own: a signal to the agent's
// terminal or process group does not reach it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
