package spool

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Defaults of Config.
const (
	DefaultMaxBytes     = 1 << 30
	DefaultSegmentBytes = 16 << 20
)

// ErrFull is the answer of a spool that holds Config.MaxBytes.
var ErrFull = errors.New("spool: full")

// Config says where a spool is and how large it may grow.
type Config struct {
	Dir          string       // made with mode 0700 where it is missing; one for each destination
	MaxBytes     int64        // on disk, what was adopted included. 0: DefaultMaxBytes
	SegmentBytes int64        // when a segment is full. 0: DefaultSegmentBytes
	Logger       *slog.Logger // gets names and counts, never content. Nil: silence
}

// Stats says what a spool holds.
type Stats struct {
	Entries int   // not settled
	Bytes   int64 // on disk
	Adopted int   // entries found when it was opened
	Damaged int   // segments that ended in a damaged entry
}

// Spool is an exporter.Spool in a directory. It is safe for concurrent use.
type Spool struct {
	cfg  Config
	name string
	lock *flock.Flock

	mu       sync.Mutex
	segments map[uint32]*segment // by number; a ticket names one
	active   uint32              // the one that is written; 0: none
	next     uint32
	waiting  []ticket // not taken, oldest first
	adopted  []*flock.Flock
	stats    Stats
	closed   bool
}

// ticket is where an entry is: a segment's number, and an offset.
type ticket uint64

const offsetBits = 40

func newTicket(segment uint32, offset int64) ticket {
	return ticket(uint64(segment)<<offsetBits | uint64(offset))
}

func (t ticket) segment() uint32 { return uint32(t >> offsetBits) }
func (t ticket) offset() int64   { return int64(t & (1<<offsetBits - 1)) }

// Open opens the directory and adopts what processes that are gone left in it. Its
// owner calls Close.
func Open(cfg Config) (*Spool, error) {
	if cfg.Dir == "" {
		return nil, errors.New("spool: no directory")
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.SegmentBytes == 0 {
		cfg.SegmentBytes = DefaultSegmentBytes
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spool{cfg: cfg, name: newName(), segments: map[uint32]*segment{}}
	if err := s.enter(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newName sorts by the time it was made.
func newName() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return fmt.Sprintf("%016x-%s", time.Now().UnixNano(), hex.EncodeToString(b[:]))
}

// Put keeps an entry.
func (s *Spool) Put(entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := int64(headSize + len(entry))
	switch {
	case s.closed:
		return os.ErrClosed
	case len(entry) > maxEntry || s.stats.Bytes+size > s.cfg.MaxBytes:
		return ErrFull
	}
	active, err := s.writable()
	if err != nil {
		return err
	}
	at, err := active.append(entry)
	if err != nil {
		return err
	}
	s.stats.Bytes += size
	s.stats.Entries++
	s.waiting = append(s.waiting, newTicket(s.active, at))
	if active.size >= s.cfg.SegmentBytes {
		active.full = true
		s.active = 0
	}
	return nil
}

// writable returns the segment to append to.
func (s *Spool) writable() (*segment, error) {
	if s.active != 0 {
		return s.segments[s.active], nil
	}
	number := s.next + 1
	seg, err := createSegment(filepath.Join(s.cfg.Dir, fmt.Sprintf("%s-%d", s.name, number)))
	if err != nil {
		return nil, err
	}
	s.next, s.active = number, number
	s.segments[number] = seg
	return seg, nil
}

// Take returns the oldest entries that were not taken yet, with their tickets: as
// many as have about limit bytes together, and one at least where there is one.
func (s *Spool) Take(limit int64) (tickets []uint64, entries [][]byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) > 0 && (limit > 0 || len(entries) == 0) {
		t := s.waiting[0]
		entry, _, err := s.segments[t.segment()].read(t.offset())
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, io.EOF) {
			return tickets, entries, err
		}
		s.waiting = s.waiting[1:]
		if err != nil { // somebody else has changed the file
			s.stats.Damaged++
			continue
		}
		limit -= int64(len(entry))
		tickets, entries = append(tickets, uint64(t)), append(entries, entry)
	}
	return tickets, entries, nil
}

// Done forgets entries that were taken.
func (s *Spool) Done(tickets []uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	bySegment := map[uint32][]int64{}
	for _, t := range tickets {
		number := ticket(t).segment()
		bySegment[number] = append(bySegment[number], ticket(t).offset())
	}
	var faults []error
	for number, offsets := range bySegment {
		seg := s.segments[number]
		if seg == nil {
			continue
		}
		s.stats.Entries -= len(offsets)
		if number != s.active && seg.spent(len(offsets)) {
			faults = append(faults, s.drop(number))
			continue
		}
		faults = append(faults, seg.settle(offsets))
	}
	return errors.Join(faults...)
}

// drop removes a segment that holds nothing any more.
func (s *Spool) drop(number uint32) error {
	seg := s.segments[number]
	delete(s.segments, number)
	s.stats.Bytes -= seg.size
	return seg.remove()
}

// Stats returns what the spool holds.
func (s *Spool) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close gives the directory up. What is not settled stays for the next to come.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var faults []error
	for number, seg := range s.segments {
		if seg.spent(0) {
			faults = append(faults, s.drop(number))
			continue
		}
		faults = append(faults, seg.close())
	}
	return errors.Join(append(faults, s.leave())...)
}
