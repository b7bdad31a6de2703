package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/regular"
)

// Limits of what hooks may write.
const (
	MaxEntry   = 34 << 20  // bytes of one line: a hook's 32 MiB of input and the rest
	MaxJournal = 128 << 20 // bytes of one session's journal
)

// lockWait is how long a hook waits for its turn to append.
const lockWait = 100 * time.Millisecond

// Errors of Append. What they stand for is lost; the caller counts it.
var (
	ErrTooLong = errors.New("journal: entry too long")
	ErrFull    = errors.New("journal: session's journal is full")
)

const (
	journalName = "journal.jsonl"
	appendLock  = "append.lock"
	drainLock   = "drain.lock"
)

// Append writes one entry at the end of the session's journal. It waits at most
// 100 ms for other hooks; then, and where the file system has no locks, the
// entry goes to a file of its own that readers merge in. It does not sync: what
// write accepted outlives the process, and the agent is waiting.
func (s *Session) Append(e Entry) error {
	line, err := s.encode(e)
	if err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	lock, err := s.lockAppend(lockWait)
	if err != nil {
		return s.appendAlone(line)
	}
	defer lock.Unlock()
	return appendLine(s.path(journalName), line)
}

// encode makes the line of an entry, its newline included.
func (s *Session) encode(e Entry) ([]byte, error) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e.At = e.At.UTC()
	if e.Session == "" {
		e.Session = s.name
	}
	if e.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("journal: entry id: %w", err)
		}
		e.ID = id.String()
	}
	if len(e.Data) > MaxEntry {
		return nil, ErrTooLong
	}
	line, err := encodeLine(e)
	if err != nil {
		return nil, fmt.Errorf("journal: entry: %w", err)
	}
	if len(line) > MaxEntry {
		return nil, ErrTooLong
	}
	return line, nil
}

// encodeLine writes the data as it is behind the other fields: to have it
// compacted and escaped once more costs more than all the rest of a hook.
func encodeLine(e Entry) ([]byte, error) {
	data := e.Data
	e.Data = nil
	head, err := json.Marshal(e)
	switch {
	case err != nil:
		return nil, err
	case len(data) == 0:
		return append(head, '\n'), nil
	case !json.Valid(data):
		return nil, errors.New("data is no JSON")
	}
	line := make([]byte, 0, len(head)+len(data)+len(`,"data":}`)+1)
	line = append(line, head[:len(head)-1]...)
	line = append(line, `,"data":`...)
	if bytes.IndexByte(data, '\n') < 0 {
		line = append(line, data...)
	} else {
		compact := bytes.NewBuffer(line)
		if err := json.Compact(compact, data); err != nil {
			return nil, err
		}
		line = compact.Bytes()
	}
	return append(line, '}', '\n'), nil
}

// lockAppend takes the append lock. A session that is removed meanwhile leaves us
// without its directory, or with the lock of a file that is gone: then it is made
// and taken again.
func (s *Session) lockAppend(wait time.Duration) (*Lock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for {
		lock, err := acquire(ctx, s.path(appendLock))
		switch {
		case err == nil && lock.current():
			return lock, nil
		case err == nil:
			lock.Unlock()
		case !missing(err) || ctx.Err() != nil:
			return nil, err
		}
		if err := s.prepare(); err != nil {
			return nil, err
		}
	}
}

// appendAlone writes a line to a journal that no other process knows of.
func (s *Session) appendAlone(line []byte) error {
	path, err := s.privatePath()
	if err != nil {
		return err
	}
	if err = appendLine(path, line); missing(err) && s.prepare() == nil {
		return appendLine(path, line) // the session was removed meanwhile
	}
	return err
}

// privatePath names a journal file that no other writer has.
func (s *Session) privatePath() (string, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return "", fmt.Errorf("journal: private file: %w", err)
	}
	return s.path("journal." + strconv.Itoa(os.Getpid()) + "-" + id.String()[:8] + ".jsonl"), nil
}

// appendLine adds a line to a file in one write. If a writer was killed halfway
// through its line, a newline first keeps the two apart.
func appendLine(path string, line []byte) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return fmt.Errorf("journal: append: %w", err)
	}
	defer func() {
		if closing := f.Close(); err == nil && closing != nil {
			err = fmt.Errorf("journal: append: %w", closing)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("journal: append: %w", err)
	}
	if !info.Mode().IsRegular() { // a pipe takes lines that nobody reads
		return fmt.Errorf("journal: append: %s: %w", path, regular.Err)
	}
	size := info.Size()
	if size+int64(len(line)) > MaxJournal {
		return ErrFull
	}
	if torn, err := endsTorn(f, size); err != nil {
		return fmt.Errorf("journal: append: %w", err)
	} else if torn {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		// A full disk may have taken a part; the next append fences it off.
		return fmt.Errorf("journal: append: %w", err)
	}
	return nil
}

// endsTorn reports whether a file of the given size ends within a line.
func endsTorn(f *os.File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// missing reports whether an error says that a file or directory is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
