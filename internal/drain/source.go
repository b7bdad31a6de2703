package drain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/lines"
	"github.com/tracesmith/tracesmith/internal/regular"
	"github.com/tracesmith/tracesmith/internal/sqliteread"
)

// Bounds of what a reducer may read of the agent's files.
const (
	maxLine  = 64 << 20 // bytes of one line; a longer one is skipped and counted
	maxSmall = 1 << 20  // bytes of a file read whole
	maxGlob  = 100_000  // files of one pattern
)

// files is the Source of one look at the agent's files. They end where they
// ended when the look began, before the journal was read: so a reducer never
// sees a line whose hook it has not seen.
type files struct {
	sizes   journal.Positions // as noted before the journal was read
	late    journal.Positions // of files that were first asked for after that
	skipped map[string]bool   // lines that were too long, by id
	recall  func(ref string) (integrations.Event, error)
}

func newFiles(watch iter.Seq[string]) *files {
	f := &files{sizes: journal.Positions{}, late: journal.Positions{}, skipped: map[string]bool{}}
	for path := range watch {
		f.sizes[path] = sizeOf(path)
	}
	return f
}

// Snapshot is the Source of a session whose hooks, if there were any, are not read:
// a file ends where it ended when it was first asked for.
type Snapshot struct{ *files }

// NewSnapshot returns a look at the agent's files as they are.
func NewSnapshot() Snapshot { return Snapshot{newFiles(func(func(string) bool) {})} }

// Tells sets what the source recalls: the events of a session that was told and has no
// journal.
func (s Snapshot) Tells(recall func(ref string) (integrations.Event, error)) { s.recall = recall }

// Skipped is how many lines were too long to be read, so far.
func (s Snapshot) Skipped() int { return len(s.skipped) }

// Glob implements integrations.Source.
func (f *files) Glob(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("drain: glob: %w", err)
	}
	return bounded(found)
}

// bounded sorts what a pattern matched. A part of too much would be taken for all of it.
func bounded(found []string) ([]string, error) {
	if len(found) > maxGlob {
		return nil, fmt.Errorf("drain: glob: %d files where %d are read at most: name a folder with fewer", len(found), maxGlob)
	}
	slices.Sort(found)
	return found, nil
}

// File implements integrations.Source.
func (f *files) File(path string) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxSmall+1))
	if err != nil {
		return nil, fmt.Errorf("drain: file: %w", err)
	}
	if len(raw) > maxSmall {
		return nil, fmt.Errorf("drain: %s is too large to be read whole", filepath.Base(path))
	}
	return raw, nil
}

// Lines implements integrations.Source.
func (f *files) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		file, err := openRegular(path)
		if err != nil {
			f.end(path)
			yield(integrations.Line{}, err)
			return
		}
		defer file.Close()
		for line, err := range lines.Read(file, from, f.end(path), maxLine) {
			if err != nil {
				yield(integrations.Line{}, fmt.Errorf("drain: lines: %w", err))
				return
			}
			if line.Long {
				f.skipped[lineID(path, line.Offset)] = true
				continue
			}
			if !yield(integrations.Line{Offset: line.Offset, Next: line.Next, Data: line.Data}, nil) {
				return
			}
		}
	}
}

// lineID names a line of a file, whoever meets it and however often.
func lineID(path string, offset int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", path, offset))
	return hex.EncodeToString(sum[:16])
}

// Rows implements integrations.Source.
func (f *files) Rows(path, query string, args ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) {
		for row, err := range sqliteread.Rows(path, query, args...) {
			if err != nil {
				yield(nil, fmt.Errorf("drain: rows: %w", err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Recall implements integrations.Source.
func (f *files) Recall(ref string) (integrations.Event, error) {
	if f.recall == nil {
		return integrations.Event{}, fmt.Errorf("drain: recall: %w", fs.ErrNotExist)
	}
	return f.recall(ref)
}

// end is where a file ends for this look.
func (f *files) end(path string) int64 {
	if size, ok := f.sizes[path]; ok {
		return size
	}
	if _, ok := f.late[path]; !ok {
		f.late[path] = sizeOf(path)
	}
	return f.late[path]
}

// grown reports whether one of the watched files differs from what was seen.
func (f *files) grown(watch []string, seen journal.Positions) bool {
	return slices.ContainsFunc(watch, func(path string) bool { return f.sizes[path] != seen[path] })
}

// noted keeps the sizes of the watched files.
func (f *files) noted(watch []string) journal.Positions {
	kept := maps.Clone(f.sizes)
	maps.DeleteFunc(kept, func(path string, _ int64) bool { return !slices.Contains(watch, path) })
	return kept
}

// sizeOf is the size of a regular file; 0 if there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// openRegular opens a file that cannot block; anything else counts as missing.
func openRegular(path string) (*os.File, error) {
	file, err := regular.Open(path)
	switch {
	case errors.Is(err, regular.Err):
		return nil, fmt.Errorf("drain: %s is no regular file: %w", filepath.Base(path), fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("drain: open: %w", err)
	}
	return file, nil
}
