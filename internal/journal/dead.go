package journal

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// maxDead bounds the letters kept for one destination; further ones are counted
// and not kept.
const maxDead = 1000

// KeepDead keeps a run that a destination refused for good, for somebody to look
// at. It returns false if it was not kept because there are too many.
func (s *State) KeepDead(destination, name string, letter []byte) (bool, error) {
	if !plainName(destination) || !plainName(name) {
		return false, fmt.Errorf("journal: %q is no name for a dead run", name)
	}
	dir := s.path("dead", destination)
	for _, each := range []string{s.path("dead"), dir} {
		if err := makePrivate(each); err != nil {
			return false, fmt.Errorf("journal: dead: %w", err)
		}
	}
	path := filepath.Join(dir, name+".json")
	if _, err := os.Lstat(path); missing(err) {
		n, err := s.CountDead(destination)
		if err != nil || n >= maxDead {
			return false, err
		}
	}
	return true, atomicfile.Write(path, letter)
}

// CountDead returns how many dead runs of a destination are kept.
func (s *State) CountDead(destination string) (int, error) {
	names, err := filepath.Glob(s.path("dead", destination, "*.json"))
	if err != nil {
		return 0, fmt.Errorf("journal: dead: %w", err)
	}
	return len(names), nil
}
