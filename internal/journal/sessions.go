package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// each visits what lies two levels below a directory of the state: one level for
// the agents, one for their sessions. What cannot be read does not hide the rest.
func (s *State) each(kind string, visit func(agent, name, path string, info fs.FileInfo)) error {
	agents, err := list(s.path(kind))
	if err != nil {
		return err
	}
	var unread error
	for _, agent := range agents {
		if info, err := os.Lstat(s.path(kind, agent)); err != nil || !info.IsDir() || !plainName(agent) {
			continue
		}
		names, err := list(s.path(kind, agent))
		unread = errors.Join(unread, err)
		for _, name := range names {
			path := s.path(kind, agent, name)
			if info, err := os.Lstat(path); err == nil {
				visit(agent, name, path, info)
			}
		}
	}
	return unread
}

// Sessions lists all sessions, those of one agent after another. With an error it
// lists those that could be found.
func (s *State) Sessions() ([]*Session, error) {
	var found []*Session
	err := s.each("sessions", func(agent, hash, _ string, info fs.FileInfo) {
		if info.IsDir() && plainName(hash) {
			found = append(found, s.session(agent, hash))
		}
	})
	if err != nil {
		return found, fmt.Errorf("journal: sessions: %w", err)
	}
	return found, nil
}

// OtherVersions lists the directories of other format versions beside this one.
// They are left alone.
func (s *State) OtherVersions() []string {
	names, err := list(filepath.Dir(s.dir))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return name == filepath.Base(s.dir) || !strings.HasPrefix(name, "v")
	})
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

// Remove removes the session whole and leaves a tombstone with its checkpoints. What
// the system does not give up yet, as a file that is open on Windows, is for Sweep.
// The caller holds the drain lock, has seen the sizes of the journal's files, and
// gives the lock up with this call. What hooks wrote since is ErrBehind, and the
// session stays.
func (s *Session) Remove(drain *Lock, seen Positions, now time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	writing, err := acquire(ctx, s.path(appendLock))
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
		if os.Rename(away, s.dir) == nil {
			return errors.Join(err, ErrBehind)
		}
		// Another hook has begun the session anew: it takes what is new over.
		if err := gone.handOver(s, seen); err != nil {
			return fmt.Errorf("journal: remove: %w", err)
		}
	}
	_ = os.RemoveAll(away) // the session is gone: what is left of it is for Sweep
	return nil
}

// handOver gives what was written to a session that is on its way out, and that
// nobody has seen, to the one that began in its place. A private file goes as it
// is, since its writer may have it open.
func (s *Session) handOver(to *Session, seen Positions) error {
	sizes, err := s.Sizes()
	if err != nil {
		return err
	}
	for name, size := range sizes {
		was, known := seen[name]
		switch {
		case !known && name != journalName:
			err = os.Rename(s.path(name), to.path(name))
		case size > was:
			err = to.adopt(s.path(name), was)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adopt copies the lines of another session's file from a position on into a
// private file.
func (s *Session) adopt(file string, from int64) error {
	data, err := os.ReadFile(file)
	if err != nil || int64(len(data)) <= from {
		return err
	}
	path, err := s.privatePath()
	if err != nil {
		return err
	}
	return os.WriteFile(path, data[from:], 0o600)
}

// grown reports whether the journal's files differ from what was seen. A file
// that is new counts though it is empty: its writer is about to write.
func (s *Session) grown(seen Positions) (bool, error) {
	sizes, err := s.Sizes()
	if err != nil {
		return false, err
	}
	for name, size := range sizes {
		if was, known := seen[name]; !known || was != size {
			return true, nil
		}
	}
	return false, nil
}

// Sweep removes what is left of sessions on their way out, as by a crash.
func (s *State) Sweep() error {
	var left []string
	err := s.each("sessions", func(_, name, path string, _ fs.FileInfo) {
		if strings.HasPrefix(name, removedPrefix) {
			left = append(left, path)
		}
	})
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return fmt.Errorf("journal: sweep: %w", err)
	}
	return nil
}
