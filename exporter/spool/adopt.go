package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	gateTime = 10 * time.Second // longest that another process may be in the gate
	gatePoll = 10 * time.Millisecond
)

// enter locks a name of the process's own and adopts the names whose locks are
// free. It does both behind a gate, since a name is not locked at the moment it
// appears.
func (s *Spool) enter() error {
	gate := flock.New(s.path("gate"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), gateTime)
	defer cancel()
	if ok, err := gate.TryLockContext(ctx, gatePoll); err != nil || !ok {
		return fmt.Errorf("spool: gate: %w", cmp.Or(err, os.ErrDeadlineExceeded))
	}
	defer gate.Close() // the file stays: to remove it would let two in at once
	own, err := s.tryLock(s.name)
	if err != nil {
		return err
	}
	s.lock = own
	return s.adopt()
}

func (s *Spool) path(name string) string { return filepath.Join(s.cfg.Dir, name) }

// tryLock returns nil where another process has the lock.
func (s *Spool) tryLock(name string) (*flock.Flock, error) {
	lock := flock.New(s.path(name+".lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("spool: lock: %w", err)
	case !ok:
		return nil, lock.Close()
	}
	return lock, nil
}

// adopt takes over the segments of processes that are gone, oldest first.
func (s *Spool) adopt() error {
	names, err := s.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		lock, err := s.tryLock(name)
		if err != nil {
			s.skip(name, err)
			continue
		}
		if lock == nil {
			continue // it lives
		}
		s.adopted = append(s.adopted, lock)
		if err := s.adoptName(name); err != nil {
			return err
		}
	}
	if s.stats.Adopted > 0 {
		s.cfg.Logger.Info("spool adopted", "entries", s.stats.Adopted, "damaged", s.stats.Damaged)
	}
	return nil
}

// names are those that others have or had, oldest first: of their locks, and of
// segments whose lock somebody has removed.
func (s *Spool) names() ([]string, error) {
	entries, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	var names []string
	for _, e := range entries {
		name, isLock := strings.CutSuffix(e.Name(), ".lock")
		segment, isSegment := strings.CutSuffix(e.Name(), ".spool")
		if at := strings.LastIndexByte(segment, '-'); isSegment && at > 0 {
			name = segment[:at]
		}
		if (isLock || isSegment) && name != s.name {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// skip passes over what is not a spool's, or cannot be read: it must not keep this
// process from its own.
func (s *Spool) skip(name string, why error) {
	s.stats.Damaged++
	s.cfg.Logger.Warn("spool: passed over", "name", name, "error", why)
}

func (s *Spool) adoptName(name string) error {
	paths, err := s.segmentsOf(name)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := s.adoptSegment(strings.TrimSuffix(path, ".spool")); err != nil {
			s.skip(filepath.Base(path), err)
		}
	}
	return nil
}

// segmentsOf are the paths of a name's segments, oldest first.
func (s *Spool) segmentsOf(name string) ([]string, error) {
	entries, err := os.ReadDir(s.cfg.Dir) // not Glob: the directory's own name may hold a bracket
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name+"-") && strings.HasSuffix(e.Name(), ".spool") {
			paths = append(paths, s.path(e.Name()))
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	return paths, nil
}

// numberOf is the N of NAME-N.spool.
func numberOf(path string) int {
	text := strings.TrimSuffix(path[strings.LastIndexByte(path, '-')+1:], ".spool")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0 // not a name of ours: before all others
	}
	return n
}

var errNoFile = errors.New("spool: not a file")

func (s *Spool) adoptSegment(path string) error {
	for _, name := range []string{path + ".spool", path + ".done"} {
		if at, err := os.Lstat(name); err == nil && !at.Mode().IsRegular() {
			return errNoFile
		}
	}
	seg, err := openSegment(path, 0)
	if err != nil {
		return err
	}
	return s.enlist(seg)
}

// enlist makes what is open in another's segment wait with our own.
func (s *Spool) enlist(seg *segment) error {
	done, err := seg.settled()
	if err != nil {
		return errors.Join(err, seg.close())
	}
	seg.full = true
	s.next++
	number := s.next
	s.segments[number] = seg
	for {
		at := seg.size
		_, next, err := seg.read(at)
		if errors.Is(err, errDamaged) {
			s.stats.Damaged++
		} else if err != nil && !errors.Is(err, io.EOF) {
			seg.rest = true
			s.skip(filepath.Base(seg.path), err)
		}
		if err != nil {
			break
		}
		seg.size = next
		if !done[at] {
			seg.open++
			s.waiting = append(s.waiting, newTicket(number, at))
		}
	}
	s.stats.Bytes += seg.size
	s.stats.Entries += seg.open
	s.stats.Adopted += seg.open
	if seg.spent(0) {
		return s.drop(number)
	}
	return nil
}

// leave gives up the locks, and removes those of names that have nothing left.
func (s *Spool) leave() error {
	var faults []error
	for _, lock := range append(s.adopted, s.lock) {
		if lock == nil {
			continue
		}
		faults = append(faults, lock.Close())
		name := strings.TrimSuffix(filepath.Base(lock.Path()), ".lock")
		if left, err := s.segmentsOf(name); err == nil && len(left) == 0 {
			if err := os.Remove(lock.Path()); !errors.Is(err, os.ErrNotExist) {
				faults = append(faults, err)
			}
		}
	}
	return errors.Join(faults...)
}
