package journal

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/private"
)

// maxTombstones bounds all tombstones together.
const maxTombstones = 32 << 20

// tombstone is what outlives a removed session: a resume next week goes on from
// there, with its turns counted on and its transcript read on.
type tombstone struct {
	Version     int                   `json:"version"`
	Session     string                `json:"session"`
	Removed     time.Time             `json:"removed"`
	Checkpoints map[string]Checkpoint `json:"checkpoints"`
}

func (s *Session) tombstone() (tombstone, error) {
	var t tombstone
	if err := readVersioned(s.tombstonePath(), &t); err != nil {
		return tombstone{}, err
	}
	return t, nil
}

func (s *Session) tombstonePath() string {
	return s.state.path("tombstones", s.agent, s.hash+".json")
}

// bury writes the session's tombstone: the checkpoints without their positions
// in a journal that will be gone.
func (s *Session) bury(checkpoints map[string]Checkpoint, now time.Time) error {
	old, err := s.tombstone()
	if err != nil && !missing(err) {
		return err
	}
	if len(checkpoints) == 0 {
		return nil // nothing was ever taken from it
	}
	t := tombstone{Version: FormatVersion, Removed: now.UTC(), Checkpoints: map[string]Checkpoint{}}
	for name, c := range old.Checkpoints {
		t.Checkpoints[name] = c
	}
	for name, c := range checkpoints {
		c.Positions = nil
		t.Session = c.Session
		t.Checkpoints[name] = c
	}
	for _, dir := range []string{s.state.path("tombstones"), filepath.Dir(s.tombstonePath())} {
		if err := private.Dir(dir); err != nil {
			return fmt.Errorf("journal: tombstone: %w", err)
		}
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("journal: tombstone: %w", err)
	}
	return atomicfile.Write(s.tombstonePath(), append(raw, '\n'))
}

// TrimTombstones removes the oldest tombstones beyond what they may take.
func (s *State) TrimTombstones() error {
	type file struct {
		path string
		size int64
		at   time.Time
	}
	var files []file
	var total int64
	err := s.each("tombstones", func(_, _, path string, info fs.FileInfo) {
		files = append(files, file{path, info.Size(), info.ModTime()})
		total += info.Size()
	})
	if err != nil {
		return fmt.Errorf("journal: tombstones: %w", err)
	}
	slices.SortFunc(files, func(a, b file) int { return a.at.Compare(b.at) })
	for _, f := range files {
		if total <= maxTombstones {
			break
		}
		if err := os.Remove(f.path); err != nil && !missing(err) {
			return fmt.Errorf("journal: tombstones: %w", err)
		}
		total -= f.size
	}
	return nil
}
