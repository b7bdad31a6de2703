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
// at. fresh is false for one that has been there before: it is no new loss.
func (s *State) KeepDead(destination, name string, letter []byte) (fresh bool, err error) {
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
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	if n, err := s.CountDead(destination); err != nil || n >= maxDead {
		return true, err
	}
	return true, atomicfile.Write(path, letter)
}

// CountDead returns how many dead runs of a destination are kept.
func (s *State) CountDead(destination string) (int, error) {
	names, err := list(s.path("dead", destination))
	if err != nil {
		return 0, fmt.Errorf("journal: dead: %w", err)
	}
	return len(names), nil
}
