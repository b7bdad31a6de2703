package journal

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/tracesmith/tracesmith/internal/lines"
)

// Ref names the line: short for most of them, since those who hold references hold many.
func (r Record) Ref() string {
	at := strconv.FormatInt(r.At, 36)
	if r.File == journalName {
		return at
	}
	return at + ":" + r.File
}

// Recall reads the line of that name once more. The journal may have been removed, and
// another begun, since the name was given: what is not a whole entry there is an error
// that matches fs.ErrNotExist.
func (s *Session) Recall(ref string) (Record, error) {
	digits, name, private := strings.Cut(ref, ":")
	if !private {
		name = journalName
	}
	gone := fmt.Errorf("journal: recall: %w", fs.ErrNotExist)
	at, err := strconv.ParseInt(digits, 36, 64)
	if err != nil || !strings.HasPrefix(name, "journal.") || strings.ContainsAny(name, `/\`) {
		return Record{}, gone
	}
	f, err := s.openFile(name)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Record{}, fmt.Errorf("journal: recall: %w", err)
	}
	for line, err := range lines.Read(f, at, info.Size(), MaxEntry) {
		if err != nil {
			return Record{}, fmt.Errorf("journal: recall: %w", err)
		}
		entry, ok := parseEntry(line)
		if !ok {
			return Record{}, gone
		}
		return Record{Entry: entry, File: name, At: line.Offset, Next: line.Next}, nil
	}
	return Record{}, gone
}
