package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

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
