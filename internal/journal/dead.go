package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/private"
)

// MaxDead bounds the runs kept for one destination; further ones are counted
// and not kept.
const MaxDead = 1000

// KeepDead keeps a write of a run that a destination refused for good, for somebody
// to look at. fresh is false for a run of which another write, or this one before, is
// there: it is no new loss.
func (s *State) KeepDead(destination, run, verb string, letter []byte) (fresh bool, err error) {
	name := run + "." + verb
	if !plainName(destination) || !plainName(run) || !plainName(verb) {
		return false, fmt.Errorf("journal: %q is no name for a dead run", name)
	}
	dir := s.path("dead", destination)
	for _, each := range []string{s.path("dead"), dir} {
		if err := private.Dir(each); err != nil {
			return false, fmt.Errorf("journal: dead: %w", err)
		}
	}
	path := filepath.Join(dir, name+".json")
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	runs, err := s.dead(destination)
	if err != nil {
		return true, err
	}
	if fresh = !runs[run]; fresh && len(runs) >= MaxDead {
		return true, nil
	}
	return fresh, atomicfile.Write(path, letter)
}

// CountDead returns of how many runs that a destination refused writes are kept.
func (s *State) CountDead(destination string) (int, error) {
	runs, err := s.dead(destination)
	return len(runs), err
}

// dead lists the runs of which writes are kept.
func (s *State) dead(destination string) (map[string]bool, error) {
	names, err := list(s.path("dead", destination))
	if err != nil {
		return nil, fmt.Errorf("journal: dead: %w", err)
	}
	runs := map[string]bool{}
	for _, name := range names {
		if run, _, ok := strings.Cut(name, "."); ok && plainName(run) {
			runs[run] = true
		}
	}
	return runs, nil
}
