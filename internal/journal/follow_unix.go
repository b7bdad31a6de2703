//go:build unix

package journal

import "syscall"

// noFollow makes an open refuse a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// locksBlockRename says whether a directory with an open lock keeps its name.
const locksBlockRename = false
