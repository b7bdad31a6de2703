package idgen

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// Run returns the UUIDv7 of a run. Its 48 time bits are turn, the creation time
// of the turn's native record, in milliseconds, for every run of the turn; its
// 74 random bits come from SHA-256 over the length-prefixed key: agent, thread,
// turn, kind and native id, in that order.
func Run(turn time.Time, key ...string) uuid.UUID {
	h := sha256.New()
	var length [8]byte
	for _, part := range key {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	sum := h.Sum(nil)

	var id uuid.UUID
	ms := turn.UnixMilli()
	if ms < 0 {
		ms = 0
	}
	binary.BigEndian.PutUint64(id[:8], uint64(ms)<<16)
	copy(id[6:], sum[:10])
	id[6] = 0x70 | id[6]&0x0f // version 7
	id[8] = 0x80 | id[8]&0x3f // RFC 9562 variant
	return id
}

// segmentLayout is LangSmith's time format inside a dotted order: UTC, exactly
// six digits of microseconds, no separators.
const segmentLayout = "20060102T150405.000000Z"

// Segment returns one part of a dotted order, such as
// 20261130T040506007008Z019ad…: the run's start, cut to microseconds, and its id.
func Segment(start time.Time, id uuid.UUID) string {
	var buf [23 + 36]byte
	b := start.UTC().AppendFormat(buf[:0], segmentLayout)
	// The layout needs a dot before the fraction; the wire has none.
	b = append(b[:15], b[16:]...)
	return string(append(b, id.String()...))
}

// Join appends a child's segment to its parent's dotted order.
func Join(parent string, start time.Time, id uuid.UUID) string {
	if parent == "" {
		return Segment(start, id)
	}
	return parent + "." + Segment(start, id)
}

// New returns a fresh UUIDv7 for runs that no other history can replay, such as
// those of a Go agent that wraps its own turn loop.
func New() uuid.UUID {
	id, err := uuid.NewV7()
	if err != nil { // the system has no randomness left: fall back to a derived id
		return Run(time.Now(), "tracesmith", time.Now().Format(time.RFC3339Nano))
	}
	return id
}
