package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Errors that say what is wrong with a store's file or a question to it.
var (
	ErrForeign  = errors.New("not a tracesmith store")
	ErrCorrupt  = errors.New("the file is damaged")
	ErrReadOnly = errors.New("the file or its folder cannot be written")
	ErrNewer    = errors.New("written by a newer tracesmith")
	ErrSymlink  = errors.New("refusing to follow a symbolic link")
	ErrNotFound = errors.New("no such trace")
	ErrHeld     = errors.New("removed, but what it held stays in the log while another process reads the store")
)

// Config says where runs are kept and how many. The zero value of every field
// but Path is usable.
type Config struct {
	Path     string        // the SQLite file; its directory is made if missing
	MaxBytes int64         // size above which the oldest traces go. 256 MiB
	MaxAge   time.Duration // age, since the last write, at which a trace goes. 30 days
	Busy     time.Duration // how long a write waits for another process. 5 s

	Late bool // leave what is past the bounds to Refresh, or the next write: to remove much takes seconds

	OnDrop func(lost []runtypes.Op, why error) // every run that Export cannot keep; may be nil
	Now    func() time.Time                    // nil: time.Now
}

// What a store keeps unless it is told otherwise.
const (
	DefaultMaxBytes = 256 << 20
	DefaultMaxAge   = 30 * 24 * time.Hour
	defaultBusy     = 5 * time.Second
	busyPoll        = 10 * time.Millisecond
)

func (c Config) withDefaults() Config {
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxAge <= 0 {
		c.MaxAge = DefaultMaxAge
	}
	if c.Busy <= 0 {
		c.Busy = defaultBusy
	}
	if c.OnDrop == nil {
		c.OnDrop = func([]runtypes.Op, error) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Store is an open store, safe for concurrent use.
type Store struct {
	cfg Config
	db  *sql.DB

	writing sync.Mutex // one writer in the process; SQLite sees to the others
	aged    time.Time  // when traces were last checked for their age
}

// Open opens the store at cfg.Path, makes it if there is none, and brings it to
// the current schema.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	s := &Store{cfg: cfg}
	if err := s.open(ctx); err != nil {
		return nil, fmt.Errorf("store: open %s: %w", cfg.Path, named(err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := prepare(s.cfg.Path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", s.dsn())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(4) // a writer and a few readers
	db.SetMaxIdleConns(4)
	s.db = db
	if err = s.begin(ctx); err == nil && !s.cfg.Late {
		err = s.prune(ctx)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return nil
}

// begin brings the file to the schema. SQLite itself waits for no other process where two
// might wait for each other, as when both make a new file: then it is begun again.
func (s *Store) begin(ctx context.Context) error {
	patience, cancel := context.WithTimeout(ctx, s.cfg.Busy)
	defer cancel()
	for {
		err := migrate(ctx, s.db)
		var lite *sqlite.Error
		if !errors.As(err, &lite) || lite.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-patience.Done():
			return err
		case <-time.After(busyPoll):
		}
	}
}

// dsn names the file and what every connection to it starts with.
// synchronous(normal) loses the last writes when the machine, not the process,
// goes down; the journals they came from are still there. secure_delete(on)
// overwrites what a write replaces, so that no earlier version of a run outlives
// it in the free space of a page.
func (s *Store) dsn() string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", s.cfg.Busy.Milliseconds()),
		"synchronous(normal)", "journal_size_limit(8388608)", "trusted_schema(off)", "temp_store(memory)",
		"secure_delete(on)",
	}}
	return (&url.URL{Scheme: "file", Opaque: escapePath(s.cfg.Path), RawQuery: q.Encode()}).String()
}

// Close closes the file. A write under way is waited for.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}

// Check reads the whole file and says whether it is damaged.
func (s *Store) Check(ctx context.Context) error {
	var found string
	if err := s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return fmt.Errorf("store: check %s: %w", s.cfg.Path, named(err))
	}
	if found != "ok" {
		return fmt.Errorf("store: check %s: %w: %s", s.cfg.Path, ErrCorrupt, found)
	}
	return nil
}

// Path is where the store is.
func (s *Store) Path() string { return s.cfg.Path }

// named puts a name to SQLite's ways of saying that a file is damaged.
func named(err error) error {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff { // the low byte is the primary code
		case sqlite3.SQLITE_CORRUPT:
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
			return fmt.Errorf("%w: %w", ErrReadOnly, err)
		case sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%w: %w", ErrForeign, err)
		}
	}
	return err
}
