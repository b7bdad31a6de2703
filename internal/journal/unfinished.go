package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// unfinishedAge is longer than it takes to write any file, also on a slow disk.
const unfinishedAge = time.Hour

// sweepUnfinished removes files whose writers were killed before they gave them their
// names: see package atomicfile. They may be as large as a request, and hold as much.
func (s *State) sweepUnfinished() error {
	state := os.DirFS(s.dir)
	var failures []error
	for _, pattern := range []string{"*/.*.tmp", "*/*/.*.tmp", "*/*/*/.*.tmp"} {
		names, err := fs.Glob(state, pattern)
		failures = append(failures, err)
		for _, name := range names {
			info, err := os.Lstat(s.path(name))
			if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()).Abs() < unfinishedAge {
				continue
			}
			if err := os.Remove(s.path(name)); !missing(err) {
				failures = append(failures, err)
			}
		}
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("unfinished: %w", err)
	}
	return nil
}
