//go:build unix

package atomicfile

import "os"

// Replace gives a file the name of another, which is gone then. On Windows it waits a
// moment for those who have the other open.
func Replace(from, to string) error { return os.Rename(from, to) }
