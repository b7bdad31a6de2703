package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/sqliteread"
)

// files is the agent's home as it looked at one step of the recording. It is an
// integrations.Source.
type files struct {
	home   string
	prefix string
	at     time.Time      // what was written later is not there yet
	lines  map[string]int // how many lines a file shows, where the recording says
	all    bool           // everything shows: the recording is over
	cache  map[string][]string
	told   []integrations.Event // of all sessions: what Recall names
}

// files returns the agent's files, to be moved from step to step.
func (rec *Recording) files() *files {
	return &files{home: rec.home, prefix: rec.prefix, cache: map[string][]string{}}
}

func (f *files) moveTo(s Step) { f.at, f.lines, f.all = s.At, s.Lines, false }

func (f *files) showAll() { f.all = true }

// real maps a path of the recording to the recording's folder. A path outside the
// recorded home is nowhere.
func (f *files) real(path string) (string, bool) {
	rest, ok := strings.CutPrefix(filepath.ToSlash(path), f.prefix+"/")
	if !ok || !filepath.IsLocal(rest) {
		return "", false
	}
	return filepath.Join(f.home, filepath.FromSlash(rest)), true
}

func (f *files) recorded(real string) string {
	rest, err := filepath.Rel(f.home, real)
	if err != nil {
		return real
	}
	return f.prefix + "/" + filepath.ToSlash(rest)
}

// load returns all lines of a file with their newlines.
func (f *files) load(path string) ([]string, error) {
	if lines, ok := f.cache[path]; ok {
		return lines, nil
	}
	real, ok := f.real(path)
	if !ok {
		return nil, fmt.Errorf("replay: %s: %w", path, fs.ErrNotExist)
	}
	raw, err := os.ReadFile(real)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	f.cache[path] = lines
	return lines, nil
}

// visible returns the lines of a file that were on disk.
func (f *files) visible(path string) ([]string, error) {
	lines, err := f.load(path)
	if err != nil || f.all {
		return lines, err
	}
	n, told := f.lines[path]
	if !told {
		n = f.writtenBy(lines)
	}
	n = min(n, len(lines))
	if n == 0 && len(lines) > 0 {
		return nil, fmt.Errorf("replay: %s: %w", path, fs.ErrNotExist)
	}
	return lines[:n], nil
}

// writtenBy counts the lines up to the first one with a later timestamp.
func (f *files) writtenBy(lines []string) int {
	for i, text := range lines {
		var l struct {
			Timestamp time.Time `json:"timestamp"`
		}
		if json.Unmarshal([]byte(text), &l) == nil && l.Timestamp.After(f.at) {
			return i
		}
	}
	return len(lines)
}

// Exists reports whether the file was there.
func (f *files) Exists(path string) bool {
	_, err := f.visible(path)
	return err == nil
}

// Lines implements integrations.Source.
func (f *files) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		lines, err := f.visible(path)
		if err != nil {
			yield(integrations.Line{}, err)
			return
		}
		var at int64
		for _, text := range lines {
			next := at + int64(len(text))
			if at >= from && strings.HasSuffix(text, "\n") {
				data := []byte(strings.TrimSuffix(text, "\n"))
				if !yield(integrations.Line{Offset: at, Next: next, Data: data}, nil) {
					return
				}
			}
			at = next
		}
	}
}

// File implements integrations.Source. A file without timestamps is there when the
// transcript of its name is.
func (f *files) File(path string) ([]byte, error) {
	if sibling := strings.TrimSuffix(path, ".meta.json") + ".jsonl"; sibling != path && !f.all {
		if _, err := f.load(sibling); err == nil && !f.Exists(sibling) {
			return nil, fmt.Errorf("replay: %s: %w", path, fs.ErrNotExist)
		}
	}
	lines, err := f.load(path)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Join(lines, "")), nil
}

// Glob implements integrations.Source.
func (f *files) Glob(pattern string) ([]string, error) {
	real, ok := f.real(pattern)
	if !ok {
		return nil, nil
	}
	found, err := filepath.Glob(real)
	if err != nil {
		return nil, fmt.Errorf("replay: glob: %w", err)
	}
	var paths []string
	for _, each := range found {
		if path := f.recorded(each); f.Exists(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Rows implements integrations.Source.
func (f *files) Rows(path, query string, args ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) {
		real, ok := f.real(path)
		if !ok {
			yield(nil, fmt.Errorf("replay: %s: %w", path, fs.ErrNotExist))
			return
		}
		for row, err := range sqliteread.Rows(real, query, args...) {
			if !yield(row, err) {
				return
			}
		}
	}
}

// tell keeps an event for Recall and gives it its name.
func (f *files) tell(e integrations.Event) integrations.Event {
	e.Ref = strconv.Itoa(len(f.told))
	f.told = append(f.told, e)
	return e
}

// Recall implements integrations.Source.
func (f *files) Recall(ref string) (integrations.Event, error) {
	i, err := strconv.Atoi(ref)
	if err != nil || i < 0 || i >= len(f.told) {
		return integrations.Event{}, fmt.Errorf("replay: recall: %w", fs.ErrNotExist)
	}
	return f.told[i], nil
}

// compact is a payload on one line, as a hook's standard input is.
func compact(raw []byte) []byte {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}
