package sqliteread

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/tracesmith/tracesmith/internal/regular"
)

// busy is how long a writer of the file is waited for, in milliseconds.
const busy = "busy_timeout(2000)"

// Rows yields what a query finds: columns as int64, float64, string, []byte or nil.
// A missing file is an error that matches fs.ErrNotExist. An error of the database is
// told by its code alone: its text may quote what is in the file.
func Rows(path, query string, args ...any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		db, err := open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer db.Close()
		rows, err := db.Query(query, args...)
		if err != nil {
			yield(nil, named(err))
			return
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			yield(nil, named(err))
			return
		}
		for rows.Next() {
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				yield(nil, named(err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, named(err))
		}
	}
}

// open opens a file that is there. Where its owner left a log of what it has yet to
// move into the database, the log is read too; without one the file is all there is,
// and SQLite is told so: it would make the log's files anew otherwise.
func open(path string) (*sql.DB, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sqliteread: %w", err)
	}
	_ = f.Close()
	q := url.Values{"mode": {"ro"}, "_pragma": {busy, "query_only(on)", "trusted_schema(off)"}}
	if info, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		q.Set("immutable", "1")
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: escape(path), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("sqliteread: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// escape makes a path of a URI, in which a drive's letter stands behind a slash.
func escape(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// named is an error without what it quotes.
func named(err error) error {
	var fault *sqlite.Error
	if errors.As(err, &fault) {
		return fmt.Errorf("sqliteread: sqlite error %d", fault.Code())
	}
	return fmt.Errorf("sqliteread: %T", err)
}
