package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const (
	headSize = 8        // length and checksum, four bytes each
	maxEntry = 64 << 20 // bytes; what claims to be longer is damaged
	doneSize = 8        // an offset
)

// segment is one pair of files.
type segment struct {
	path string // without extension
	data *os.File
	done *os.File
	size int64 // of data
	open int   // entries that are not settled
	full bool  // nothing is appended any more
	rest bool  // what follows could not be read: the files stay, for whoever can
}

func createSegment(path string) (*segment, error) {
	return openSegment(path, os.O_CREATE|os.O_EXCL)
}

func openSegment(path string, flag int) (*segment, error) {
	data, err := os.OpenFile(path+".spool", os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	done, err := os.OpenFile(path+".done", os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		data.Close()
		return nil, fmt.Errorf("spool: %w", err)
	}
	return &segment{path: path, data: data, done: done}, nil
}

// append writes an entry in one go, and returns its offset. Where that fails it
// takes back what was written.
func (s *segment) append(entry []byte) (int64, error) {
	buf := make([]byte, headSize, headSize+len(entry))
	binary.LittleEndian.PutUint32(buf, uint32(len(entry)))
	binary.LittleEndian.PutUint32(buf[4:], crc32.ChecksumIEEE(entry))
	at := s.size
	if _, err := s.data.WriteAt(append(buf, entry...), at); err != nil {
		return 0, errors.Join(fmt.Errorf("spool: %w", err), s.data.Truncate(at))
	}
	s.size += int64(headSize + len(entry))
	s.open++
	return at, nil
}

// read returns the entry at an offset and where the next begins. io.EOF is the
// end, errDamaged what no append has left behind complete.
func (s *segment) read(at int64) (entry []byte, next int64, err error) {
	var head [headSize]byte
	switch n, err := s.data.ReadAt(head[:], at); {
	case n == 0 && errors.Is(err, io.EOF):
		return nil, at, io.EOF
	case errors.Is(err, io.EOF):
		return nil, at, errDamaged
	case err != nil:
		return nil, at, fmt.Errorf("spool: %w", err)
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size > maxEntry {
		return nil, at, errDamaged
	}
	entry = make([]byte, size)
	if _, err := s.data.ReadAt(entry, at+headSize); errors.Is(err, io.EOF) && size > 0 {
		return nil, at, errDamaged
	} else if err != nil && !errors.Is(err, io.EOF) {
		return nil, at, fmt.Errorf("spool: %w", err)
	}
	if crc32.ChecksumIEEE(entry) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, at, errDamaged
	}
	return entry, at + headSize + int64(size), nil
}

var errDamaged = errors.New("spool: damaged entry")

// settle notes that the entries at some offsets are settled.
func (s *segment) settle(offsets []int64) error {
	buf := make([]byte, 0, doneSize*len(offsets))
	for _, at := range offsets {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(at))
	}
	s.open -= len(offsets)
	if _, err := s.done.Write(buf); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// settled reads what settle has noted, and cuts off what a kill has left of a note.
func (s *segment) settled() (map[int64]bool, error) {
	raw, err := io.ReadAll(io.LimitReader(s.done, maxEntry))
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if torn := len(raw) % doneSize; torn > 0 {
		if err := s.done.Truncate(int64(len(raw) - torn)); err != nil {
			return nil, fmt.Errorf("spool: %w", err)
		}
	}
	done := make(map[int64]bool, len(raw)/doneSize)
	for ; len(raw) >= doneSize; raw = raw[doneSize:] {
		done[int64(binary.LittleEndian.Uint64(raw))] = true
	}
	return done, nil
}

func (s *segment) close() error { return errors.Join(s.data.Close(), s.done.Close()) }

// spent says whether nothing is left once n more entries are settled.
func (s *segment) spent(n int) bool { return s.open <= n && !s.rest }

// remove deletes the files: the entries first, so that no kill in between brings
// settled ones back.
func (s *segment) remove() error {
	return errors.Join(s.close(), os.Remove(s.path+".spool"), os.Remove(s.path+".done"))
}
