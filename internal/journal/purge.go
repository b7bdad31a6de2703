package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// droppedName is the file of Drop.
const droppedName = "dropped.jsonl"

// Contents is how many bytes each part of the state takes.
type Contents struct {
	Sessions int64 // journals and checkpoints
	Dead     int64 // runs that were refused for good
	Log      int64 // the log and the counts of what was lost
	Sent     int64 // copies of requests
}

// Contents looks at what Purge would remove.
func (s *State) Contents() (Contents, error) {
	var c Contents
	var failures []error
	for _, part := range []struct {
		size  *int64
		names []string
	}{
		{&c.Sessions, []string{"sessions"}}, {&c.Dead, []string{"dead"}}, {&c.Log, []string{"log", droppedName}}, {&c.Sent, []string{sentDir}},
	} {
		for _, name := range part.names {
			n, err := bytesBelow(s.path(name))
			*part.size += n
			failures = append(failures, err)
		}
	}
	return c, errors.Join(failures...)
}

// Purge removes what was recorded, delivered or not: sessions, refused runs, copies of
// requests, the log and the counts of losses. It leaves what names no content and what a resume or an
// import counts on: tombstones, ledgers, destinations, when sessions were muted, and whatever others keep here.
// busy is the number of sessions that a drainer is at work on, which stay.
func (s *State) Purge(now time.Time) (busy int, err error) {
	var failures []error
	for _, name := range []string{"dead", "log", droppedName, sentDir} { // first: it may make room for what stays
		if err := os.RemoveAll(s.path(name)); err != nil {
			failures = append(failures, fmt.Errorf("journal: purge: %w", err))
		}
	}
	failures = append(failures, s.Sweep()) // which may give a session its late lines back
	sessions, err := s.Sessions()
	failures = append(failures, err)
	for _, each := range sessions {
		err := each.purge(now)
		switch {
		case errors.Is(err, ErrLocked), errors.Is(err, ErrBehind):
			busy++
		case err != nil && !missing(err):
			failures = append(failures, err)
		}
	}
	return busy, errors.Join(append(failures, s.Sweep())...)
}

func (s *Session) purge(now time.Time) error {
	lock, err := s.TryDrain()
	if err != nil {
		return err
	}
	sizes, err := s.Sizes()
	if err != nil {
		lock.Unlock()
		return err
	}
	return s.Remove(lock, sizes, now)
}

// bytesBelow sums up a file, or the files of a folder.
func bytesBelow(path string) (sum int64, err error) {
	err = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			if missing(err) {
				return nil
			}
			return err
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	if err != nil {
		return sum, fmt.Errorf("journal: %w", err)
	}
	return sum, nil
}
