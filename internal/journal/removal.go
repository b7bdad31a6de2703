package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// removedPrefix marks a session's directory on its way out. It is no plain name,
// so it is never taken for a session.
const removedPrefix = ".removed-"

// seenName is the file of a directory on its way out that says how much of the
// journal may go: the rest came too late to be seen.
const seenName = "seen.json"

// seenFile is its content.
type seenFile struct {
	Version int       `json:"version"`
	Seen    Positions `json:"seen"`
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
	if err := s.prepareRemoval(seen, now); err != nil {
		unlock()
		return err
	}
	return s.moveAway(unlock)
}

// prepareRemoval writes down what outlives the session, if it has not grown. On a full
// disk that is nothing: to remove makes room, and what is read anew has the same ids.
func (s *Session) prepareRemoval(seen Positions, now time.Time) error {
	if err := s.sweep(); err != nil { // of an earlier removal, which may hold lines for this one
		return err
	}
	if grown, err := s.grown(seen); err != nil || grown {
		return errors.Join(err, ErrBehind)
	}
	checkpoints, err := s.Checkpoints()
	if err != nil {
		return err
	}
	if err = s.bury(checkpoints, now); err == nil {
		err = s.noteSeen(seen)
	}
	if diskFull(err) {
		return nil
	}
	return err
}

func (s *Session) noteSeen(seen Positions) error {
	raw, err := json.Marshal(seenFile{FormatVersion, seen})
	if err != nil {
		return fmt.Errorf("journal: remove: %w", err)
	}
	return atomicfile.Write(s.path(seenName), raw)
}

// moveAway takes the session's directory off its name in one step, so that a
// crash leaves either all of it or none.
func (s *Session) moveAway(unlock func()) error {
	if locksBlockRename {
		unlock()
	} else {
		defer unlock() // nobody sweeps meanwhile
	}
	if err := os.Rename(s.dir, s.away()); err != nil {
		return fmt.Errorf("journal: remove: %w", err)
	}
	if err := s.takeOver(); err != nil {
		return err
	}
	_ = os.RemoveAll(s.away()) // the session is gone: what is left of it is for Sweep
	return nil
}

// away is where the session's directory is on its way out.
func (s *Session) away() string { return filepath.Join(filepath.Dir(s.dir), removedPrefix+s.hash) }

// takeOver gives the session what came late to its directory on the way out: by hooks
// that opened a file of it before it moved. It may be done twice. A directory that does
// not say what was seen is of an earlier version, and holds nothing for anybody.
func (s *Session) takeOver() error {
	gone := &Session{state: s.state, agent: s.agent, hash: s.hash, dir: s.away()}
	var was seenFile
	err := readVersioned(gone.path(seenName), &was)
	if missing(err) {
		return nil
	}
	if err == nil {
		err = gone.handOver(s, was.Seen)
	}
	if err != nil {
		return fmt.Errorf("journal: remove: %w", err)
	}
	return nil
}

// handOver gives another session what was written here beyond what was seen. A private
// file goes as it is, since its writer may have it open.
func (s *Session) handOver(to *Session, seen Positions) error {
	sizes, err := s.Sizes()
	if err != nil {
		return err
	}
	for name, size := range sizes {
		was, known := seen[name]
		if known && size <= was {
			continue
		}
		if err := to.prepare(); err != nil {
			return err
		}
		if !known && name != journalName {
			err = os.Rename(s.path(name), to.path(name))
		} else {
			err = to.adopt(s.path(name), was)
		}
		if err != nil && !missing(err) { // missing: another process was faster
			return err
		}
	}
	return nil
}

// adopt copies the lines of another session's file from a position on into a
// private file, the same one whenever they are the same.
func (s *Session) adopt(file string, from int64) error {
	data, err := os.ReadFile(file)
	if err != nil || int64(len(data)) <= from {
		return err
	}
	sum := sha256.Sum256(data[from:])
	return atomicfile.Write(s.path("journal.late-"+hex.EncodeToString(sum[:8])+".jsonl"), data[from:])
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

// sweep removes what is left of an earlier directory of the session's, as by a crash.
func (s *Session) sweep() error {
	lock, err := try(filepath.Join(s.away(), drainLock))
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if locksBlockRename { // nor is a file removed that is open
		lock.Unlock()
	} else {
		defer lock.Unlock()
	}
	if err := s.takeOver(); err != nil {
		return err
	}
	return os.RemoveAll(s.away())
}

// Sweep removes what processes that were killed have left: of sessions on their way out,
// but for one that is being removed, and files that were never finished.
func (s *State) Sweep() error {
	var left []*Session
	err := s.each("sessions", func(agent, name, _ string, info fs.FileInfo) {
		if hash, ok := strings.CutPrefix(name, removedPrefix); ok && info.IsDir() {
			left = append(left, s.session(agent, hash))
		}
	})
	for _, each := range left {
		if unswept := each.sweep(); !errors.Is(unswept, ErrLocked) {
			err = errors.Join(err, unswept)
		}
	}
	if err = errors.Join(err, s.sweepUnfinished()); err != nil {
		return fmt.Errorf("journal: sweep: %w", err)
	}
	return nil
}
