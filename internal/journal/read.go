package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/internal/lines"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// maxOpen bounds the files read at a time; what is left comes with the next read.
const maxOpen = 64

// Positions says, for each file of a session's journal, how many bytes of it have
// been taken. A file that is not named has not been looked at.
type Positions map[string]int64

// Record is one line of a journal.
type Record struct {
	Entry Entry
	File  string // the journal's file, and
	At    int64  // the position in it of this line, and
	Next  int64  // after it
	Bad   bool   // no entry: half of one, or garbage
	ID    string // of a bad line: the same whenever it is read
}

// Sizes notes the files of the session's journal and how large they are now.
func (s *Session) Sizes() (Positions, error) {
	names, err := list(s.dir)
	if err != nil {
		return nil, fmt.Errorf("journal: sizes: %w", err)
	}
	sizes := Positions{}
	for _, name := range names {
		if !strings.HasPrefix(name, "journal.") || !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		info, err := os.Lstat(s.path(name))
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("journal: sizes: %w", err)
		}
		if info.Mode().IsRegular() {
			sizes[name] = info.Size()
		}
	}
	return sizes, nil
}

// Read yields the lines between two notes of the journal's files. The shared
// file keeps its order; the lines of private files, which were written because
// the shared one could not be had, are merged in by their time, then their id. A
// file that is shorter than its position has been replaced and is read anew.
func (s *Session) Read(from, to Positions) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var streams []*stream
		defer func() {
			for _, each := range streams {
				each.close()
			}
		}()
		for _, name := range unread(from, to) {
			next, err := s.open(name, start(from, to, name), to[name])
			if err != nil {
				yield(Record{}, err)
				return
			}
			if next.advance() {
				streams = append(streams, next)
			} else {
				next.close()
			}
		}
		for len(streams) > 0 {
			i := first(streams)
			if !yield(streams[i].head, streams[i].err) || streams[i].err != nil {
				return
			}
			if !streams[i].advance() {
				streams[i].close()
				streams = slices.Delete(streams, i, i+1)
			}
		}
	}
}

// Behind reports whether the journal holds complete lines beyond a position.
func (s *Session) Behind(from Positions) (bool, error) {
	to, err := s.Sizes()
	if err != nil {
		return false, err
	}
	for _, name := range unread(from, to) {
		more, err := s.hasLine(name, start(from, to, name), to[name])
		if more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// Count returns how many complete lines lie beyond a position.
func (s *Session) Count(from Positions) (int, error) {
	to, err := s.Sizes()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range unread(from, to) {
		f, err := s.openFile(name)
		if err != nil {
			return n, err
		}
		for _, err = range lines.Read(f, start(from, to, name), to[name], MaxEntry) {
			if err != nil {
				break
			}
			n++
		}
		_ = f.Close()
	}
	return n, nil
}

// unread lists the files with bytes beyond their position, the shared one first.
func unread(from, to Positions) []string {
	var names []string
	for name, size := range to {
		if start(from, to, name) < size {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if a == journalName || b == journalName {
			return cmp.Compare(rank(a), rank(b))
		}
		return cmp.Compare(a, b)
	})
	return names[:min(len(names), maxOpen)]
}

func rank(name string) int {
	if name == journalName {
		return 0
	}
	return 1
}

func start(from, to Positions, name string) int64 {
	if from[name] > to[name] {
		return 0
	}
	return from[name]
}

func (s *Session) openFile(name string) (*os.File, error) {
	f, err := regular.OpenHere(s.path(name))
	if err != nil {
		return nil, fmt.Errorf("journal: read: %w", err)
	}
	return f, nil
}

// hasLine reports whether a newline stands between two positions of a file.
func (s *Session) hasLine(name string, from, to int64) (bool, error) {
	f, err := s.openFile(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	in := io.NewSectionReader(f, from, to-from)
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("journal: read: %w", err)
		}
	}
}

// stream is one file of the journal being merged.
type stream struct {
	file *os.File
	name string
	next func() (lines.Line, error, bool)
	stop func()
	head Record
	err  error
}

func (s *Session) open(name string, from, to int64) (*stream, error) {
	f, err := s.openFile(name)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(lines.Read(f, from, to, MaxEntry))
	return &stream{file: f, name: name, next: next, stop: stop}, nil
}

func (t *stream) close() {
	t.stop()
	_ = t.file.Close()
}

// advance reads the next line into head.
func (t *stream) advance() bool {
	line, err, ok := t.next()
	if !ok {
		return false
	}
	if err != nil {
		t.err = fmt.Errorf("journal: read: %w", err)
		return true
	}
	t.head = Record{File: t.name, At: line.Offset, Next: line.Next}
	if t.head.Entry, ok = parseEntry(line); !ok {
		// A fence may be all there is to a line; nothing is lost with it.
		t.head.Bad = len(line.Data) > 0 || line.Long
		if t.head.Bad {
			t.head.ID = t.lineID(line)
		}
	}
	return true
}

// parseEntry reads the entry that a line should be.
func parseEntry(line lines.Line) (Entry, bool) {
	var e Entry
	if line.Long || json.Unmarshal(line.Data, &e) != nil || e.Event == "" {
		return Entry{}, false
	}
	return e, true
}

// lineID tells a line from every other of this session and of those that may come
// after it under the same name.
func (t *stream) lineID(line lines.Line) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d %d\n", t.file.Name(), line.Offset, line.Next)
	h.Write(line.Data)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// first picks the stream whose head is due.
func first(streams []*stream) int {
	due := 0
	for i := 1; i < len(streams); i++ {
		if earlier(streams[i], streams[due]) {
			due = i
		}
	}
	return due
}

// earlier puts what cannot be placed, an error or a bad line, before all else.
func earlier(a, b *stream) bool {
	x, y := a.head.Entry, b.head.Entry
	if c := x.At.Compare(y.At); c != 0 {
		return c < 0
	}
	return x.ID < y.ID
}
