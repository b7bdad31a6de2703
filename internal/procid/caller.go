package procid

import (
	"os"
	"path/filepath"
	"strings"
)

// maxShells bounds the shells between a program and whoever called it.
const maxShells = 4

// Caller is the pid of the process that had this one run: its parent or, where that
// is a shell which runs a command line or a script, the shell's own. It is 0 where
// that process is gone or cannot be known.
func Caller() int {
	pid := os.Getppid()
	for range maxShells {
		program, parent, known := parentOf(pid)
		if !known || !isShell(program) {
			break
		}
		pid = parent
	}
	if pid <= 1 { // orphans belong to the system's first process
		return 0
	}
	return pid
}

// isShell reports whether a program's name is that of a shell, or of a script where
// the system calls a process by that.
func isShell(program string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
	switch name {
	case "sh", "ash", "bash", "busybox", "cmd", "dash", "fish", "ksh", "mksh", "powershell", "pwsh", "yash", "zsh":
		return true
	}
	return strings.HasSuffix(name, ".sh")
}
