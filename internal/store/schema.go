package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// schemaVersion is SQLite's user_version of the schema below.
const schemaVersion = 2

// applicationID marks the file as a store's in SQLite's header: "TrSm".
const applicationID = 0x5472536d

// schema1: times are microseconds since 1970, 0 for a run that has not ended.
// A trace's top is its first run in dotted order: the root, once that is there.
// A run's wire is its JSON, last so that SQLite reads the columns before it without
// the pages it spills over; they are what is searched and summed.
const schema1 = `
CREATE TABLE traces (
	id        TEXT PRIMARY KEY,
	written   INTEGER NOT NULL,
	bytes     INTEGER NOT NULL,
	started   INTEGER NOT NULL,
	top       TEXT NOT NULL,
	top_order TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX traces_written ON traces (written, id);
CREATE INDEX traces_started ON traces (started, id);

CREATE TABLE runs (
	id           TEXT PRIMARY KEY,
	trace_id     TEXT NOT NULL,
	parent_id    TEXT NOT NULL,
	dotted_order TEXT NOT NULL,
	thread_id    TEXT NOT NULL,
	turn_number  INTEGER NOT NULL,
	kind         TEXT NOT NULL,
	name         TEXT NOT NULL,
	started      INTEGER NOT NULL,
	ended        INTEGER NOT NULL,
	error        TEXT NOT NULL,
	interrupted  INTEGER NOT NULL,
	model        TEXT NOT NULL,
	tokens_in    INTEGER NOT NULL,
	tokens_out   INTEGER NOT NULL,
	integration  TEXT NOT NULL,
	repo         TEXT NOT NULL,
	branch       TEXT NOT NULL,
	posted       INTEGER NOT NULL,
	patched      INTEGER NOT NULL,
	bytes        INTEGER NOT NULL,
	wire         TEXT NOT NULL
);
CREATE INDEX runs_trace ON runs (trace_id, dotted_order);
CREATE INDEX runs_roots ON runs (thread_id, started) WHERE parent_id = '';

CREATE TABLE removed (
	reason TEXT PRIMARY KEY,
	traces INTEGER NOT NULL,
	runs   INTEGER NOT NULL,
	bytes  INTEGER NOT NULL
) WITHOUT ROWID;
`

// schema2 adds what lists are made of. A run's long parts are in bodies, where they do
// not stand in the way of the rest; in a run that schema 1 wrote they are in its wire.
// A row of turns is the sum of a trace's runs. It holds as long as its bytes are the
// trace's own: anything else was written by a version that did not know of it, and is
// summed anew. Words are what turns are found by; they are in lower case already, and what
// is beyond ASCII counts as a letter. An index removes them from the file, too.
const schema2 = `
CREATE TABLE bodies (
	id      TEXT PRIMARY KEY,
	inputs  TEXT,
	outputs TEXT,
	events  TEXT
);

CREATE TABLE turns (
	seq         INTEGER PRIMARY KEY,
	trace_id    TEXT NOT NULL UNIQUE,
	bytes       INTEGER NOT NULL,
	top_order   TEXT NOT NULL,
	thread      TEXT NOT NULL,
	number      INTEGER NOT NULL,
	kind        TEXT NOT NULL,
	name        TEXT NOT NULL,
	title       TEXT NOT NULL,
	agent       TEXT NOT NULL,
	repo        TEXT NOT NULL,
	branch      TEXT NOT NULL,
	level       TEXT NOT NULL,
	started     INTEGER NOT NULL,
	ended       INTEGER NOT NULL,
	error       TEXT NOT NULL,
	interrupted INTEGER NOT NULL,
	model       TEXT NOT NULL,
	runs        INTEGER NOT NULL,
	failed      INTEGER NOT NULL,
	tools       INTEGER NOT NULL,
	usages      INTEGER NOT NULL,
	tokens_in   INTEGER NOT NULL,
	tokens_out  INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	waiting     INTEGER NOT NULL,
	priced      INTEGER NOT NULL,
	cost        INTEGER NOT NULL,
	unpriced    TEXT NOT NULL
);
CREATE INDEX turns_started ON turns (started, trace_id);
CREATE INDEX turns_thread ON turns (thread, started);
CREATE INDEX turns_facets ON turns (agent, repo, branch);

CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'ascii', detail = none, columnsize = 0);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
`

// schemas lead from each version to the next.
func schemas() []string { return []string{schema1, schema2} }

// migrate makes the schema in an empty file, adds to an older one what it lacks, and
// refuses any file that is not the store's or is ahead of it, before anything is
// written. What is there is not rewritten, so it takes no longer for a full store.
func migrate(ctx context.Context, db *sql.DB) error {
	version, err := recognise(ctx, db)
	if err != nil || version == schemaVersion {
		return err
	}
	conn, err := db.Conn(ctx) // auto_vacuum is the connection's until the file begins
	if err != nil {
		return err
	}
	defer conn.Close() // it only goes back to the pool
	// Neither can be set inside a transaction; both are kept in the file.
	if version == 0 {
		for _, pragma := range []string{"PRAGMA auto_vacuum = incremental", "PRAGMA journal_mode = wal"} {
			if _, err := conn.ExecContext(ctx, pragma); err != nil {
				return err
			}
		}
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	// Another process may have been here first: look again under the lock.
	if version, err = recognise(ctx, tx); err != nil || version == schemaVersion {
		return err
	}
	begin := fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d;",
		strings.Join(schemas()[version:], ""), applicationID, schemaVersion)
	if _, err := tx.ExecContext(ctx, begin); err != nil {
		return err
	}
	return tx.Commit()
}

// querier is a database or a transaction on it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// recognise returns the schema version of the file, 0 if it is empty.
func recognise(ctx context.Context, q querier) (version int, err error) {
	var application, tables int
	// One statement, so one moment: another process may be making the schema.
	err = q.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)`).
		Scan(&version, &application, &tables)
	if err != nil {
		return 0, err
	}
	switch {
	case application == applicationID && version > schemaVersion:
		return 0, fmt.Errorf("%w: schema %d, this one knows %d", ErrNewer, version, schemaVersion)
	case application == applicationID && version >= 1 && version <= schemaVersion:
		return version, nil
	case application == 0 && version == 0 && tables == 0:
		return 0, nil
	case application == applicationID:
		return 0, fmt.Errorf("%w: schema %d", ErrCorrupt, version)
	default:
		return 0, ErrForeign
	}
}

// inTx runs f in a transaction that takes the write lock at its start.
func (s *Store) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return named(err)
	}
	if err := f(tx); err != nil {
		return named(errors.Join(err, tx.Rollback()))
	}
	return named(tx.Commit())
}
