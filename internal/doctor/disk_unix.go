//go:build unix

package doctor

import "golang.org/x/sys/unix"

// freeBytes is the room in a folder for an ordinary user.
func freeBytes(dir string) (free uint64, known bool) {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil || stat.Bsize <= 0 {
		return 0, false
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize), true //nolint:unconvert // its type differs between systems //nolint:unconvert // signed on some systems
}
