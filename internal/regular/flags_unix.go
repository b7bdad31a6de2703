//go:build unix

package regular

import "syscall"

const (
	nonBlock = syscall.O_NONBLOCK // a pipe is opened at once
	noFollow = syscall.O_NOFOLLOW
)
