package spawn

import "syscall"

// detachedProcess is a creation flag of Windows that package syscall does not name.
const detachedProcess = 0x00000008

// detached gives the drainer no console and a group of its own: closing the
// agent's window does not reach it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess,
	}
}
