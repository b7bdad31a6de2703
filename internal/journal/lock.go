package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("journal: locked by another process")

// lockPoll is how often a waiting process tries again.
const lockPoll = 2 * time.Millisecond

// Lock is held by one process at a time. The kernel frees it with its holder,
// so no lock is ever stale.
type Lock struct {
	file *flock.Flock
}

// TryDrain takes the lock of the session's drainer, or returns ErrLocked if it
// is taken. The error matches fs.ErrNotExist if there is no such session.
func (s *Session) TryDrain() (*Lock, error) {
	return try(s.path(drainLock))
}

// LockDrain takes the lock of the session's drainer, waiting until the context
// ends: then it returns ErrLocked.
func (s *Session) LockDrain(ctx context.Context) (*Lock, error) {
	for {
		lock, err := acquire(ctx, s.path(drainLock))
		if err != nil || lock.current() {
			return lock, err
		}
		lock.Unlock() // of a session that was removed meanwhile
	}
}

// Unlock gives the lock back.
func (l *Lock) Unlock() { _ = l.file.Close() }

// current reports whether the lock's file is still the one that its name leads to.
func (l *Lock) current() bool {
	held, err := l.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(l.file.Path())
	return err == nil && os.SameFile(held, named)
}

func newLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
}

// try takes a lock without waiting.
func try(path string) (*Lock, error) {
	file := newLock(path)
	ok, err := file.TryLock()
	if err == nil && ok {
		return &Lock{file}, nil
	}
	_ = file.Close()
	if err != nil {
		return nil, fmt.Errorf("journal: lock: %w", err)
	}
	return nil, ErrLocked
}

// acquire waits for a lock until the context ends.
func acquire(ctx context.Context, path string) (*Lock, error) {
	for {
		lock, err := try(path)
		if !errors.Is(err, ErrLocked) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, ErrLocked
		case <-time.After(lockPoll):
		}
	}
}
