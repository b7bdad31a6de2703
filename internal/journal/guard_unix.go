//go:build unix

package journal

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noFollow makes an open refuse a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// locksBlockRename says whether a directory with an open lock keeps its name.
const locksBlockRename = false

// guard refuses a directory of another user and closes one that others can
// enter.
func guard(dir string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}
