package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// removedPrefix marks a session's directory on its way out. It is no plain name,
// so it is never taken for a session.
const removedPrefix = ".removed-"

// Usage is what a session takes on disk.
type Usage struct {
	Bytes    int64     // all its files
	Modified time.Time // when a hook last wrote to its journal; zero: never
}

// Sessions lists all sessions, those of one agent after another.
func (s *State) Sessions() ([]*Session, error) {
	dirs, err := filepath.Glob(s.path("sessions", "*", "*"))
	if err != nil {
		return nil, fmt.Errorf("journal: sessions: %w", err)
	}
	var found []*Session
	for _, dir := range dirs {
		agent, hash := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !plainName(agent) || !plainName(hash) {
			continue
		}
		found = append(found, s.session(agent, hash))
	}
	return found, nil
}

// OtherVersions lists the directories of other format versions beside this one.
// They are left alone.
func (s *State) OtherVersions() []string {
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(s.dir), "v*"))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == s.dir })
}

// Usage says how much the session takes and when its journal last grew.
func (s *Session) Usage() (Usage, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return Usage{}, fmt.Errorf("journal: usage: %w", err)
	}
	var u Usage
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // it went while we looked
		}
		u.Bytes += info.Size()
		name := entry.Name()
		if strings.HasPrefix(name, "journal") && info.ModTime().After(u.Modified) {
			u.Modified = info.ModTime()
		}
	}
	return u, nil
}

// ErrBehind says that a session was not removed: its journal has grown.
var ErrBehind = errors.New("journal: session has grown")

// Remove removes the session whole and leaves a tombstone with its checkpoints.
// The caller holds the drain lock, has seen the sizes of the journal's files, and
// gives the lock up with this call. What hooks wrote since is ErrBehind, and the
// session stays.
func (s *Session) Remove(drain *Lock, seen Positions, now time.Time) error {
	writing, err := s.lockAppend(lockWait)
	if err != nil {
		drain.Unlock()
		return err
	}
	unlock := func() {
		writing.Unlock()
		drain.Unlock()
	}
	if grown, err := s.grown(seen); err != nil || grown {
		unlock()
		return errors.Join(err, ErrBehind)
	}
	checkpoints, err := s.Checkpoints()
	if err == nil {
		err = s.bury(checkpoints, now)
	}
	if err != nil {
		unlock()
		return err
	}
	return s.moveAway(unlock, seen)
}

// moveAway takes the session's directory off its name in one step, so that a
// crash leaves either all of it or none.
func (s *Session) moveAway(unlock func(), seen Positions) error {
	away := filepath.Join(filepath.Dir(s.dir), removedPrefix+s.hash)
	if err := os.RemoveAll(away); err != nil {
		unlock()
		return fmt.Errorf("journal: remove: %w", err)
	}
	if locksBlockRename {
		unlock()
	} else {
		defer unlock()
	}
	if err := os.Rename(s.dir, away); err != nil {
		return fmt.Errorf("journal: remove: %w", err)
	}
	gone := &Session{state: s.state, agent: s.agent, hash: s.hash, dir: away}
	if grown, err := gone.grown(seen); err != nil || grown {
		// A hook without the lock got in between: put everything back.
		return errors.Join(err, os.Rename(away, s.dir), ErrBehind)
	}
	if err := os.RemoveAll(away); err != nil {
		return fmt.Errorf("journal: remove: %w", err)
	}
	return nil
}

// grown reports whether the journal's files differ from what was seen.
func (s *Session) grown(seen Positions) (bool, error) {
	sizes, err := s.Sizes()
	if err != nil {
		return false, err
	}
	for name, size := range sizes {
		if seen[name] != size {
			return true, nil
		}
	}
	return false, nil
}

// Sweep removes what a crash left of sessions on their way out.
func (s *State) Sweep() error {
	dirs, err := filepath.Glob(s.path("sessions", "*", removedPrefix+"*"))
	if err != nil {
		return fmt.Errorf("journal: sweep: %w", err)
	}
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("journal: sweep: %w", err)
		}
	}
	return nil
}
