package integrations

import "iter"

// Source is read access to the agent's own files: bounded and positioned. Paths
// are those the agent uses. It is not safe for concurrent use.
type Source interface {
	// Glob lists the files that match a pattern of path/filepath, sorted.
	Glob(pattern string) ([]string, error)
	// Lines yields the complete lines of a file from a byte offset on; a last
	// line without its newline is left for later. A missing file is an error
	// that matches fs.ErrNotExist. A line's Data is valid until the next one.
	Lines(path string, from int64) iter.Seq2[Line, error]
	// File returns a small file whole: at most 1 MiB.
	File(path string) ([]byte, error)
	// Rows yields what a query finds in an SQLite file, which is read and never written,
	// also while its owner has it open. A missing file is an error that matches
	// fs.ErrNotExist.
	Rows(path, query string, args ...any) iter.Seq2[Row, error]
	// Recall returns the event of this session that a Ref names, once more. One that
	// is gone is an error that matches fs.ErrNotExist.
	Recall(ref string) (Event, error)
}

// Line is one line of a file.
type Line struct {
	Offset int64  // of its first byte
	Next   int64  // of the byte after its newline
	Data   []byte // without the newline
}

// Row is one row that a query found: its columns as int64, float64, string, []byte or
// nil.
type Row []any
