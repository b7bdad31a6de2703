package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/private"
)

// maxSpans bounds how often a session may be muted.
const maxSpans = 1024

// ErrMutedOften says that a session was muted and unmuted too often to note once more.
var ErrMutedOften = errors.New("journal: the session was muted too often")

// Mute is when a session was muted. It outlives the session's journal, so that a
// resume or an import next week knows of it.
type Mute struct {
	Version int    `json:"version"`
	Spans   []Span `json:"spans"` // oldest first; only the last may be open
}

// Span is a time that a session was muted. A zero To: it still is.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero"`
}

// Covers reports whether a turn that began then was muted. A turn that had begun
// before goes on as it began, and one that begins in a muted time stays muted.
func (m Mute) Covers(began time.Time) bool {
	for _, span := range m.Spans {
		if !began.Before(span.From) && (span.To.IsZero() || began.Before(span.To)) {
			return true
		}
	}
	return false
}

// Active reports whether the session is muted now.
func (m Mute) Active() bool {
	return len(m.Spans) > 0 && m.Spans[len(m.Spans)-1].To.IsZero()
}

// Mute returns when the session was muted. A file that cannot be read is an error, even
// if it is garbled: what was muted must not leave.
func (s *Session) Mute() (Mute, error) {
	var m Mute
	path := s.mutePath()
	if _, err := os.Lstat(path); missing(err) {
		return m, nil
	}
	if err := readVersioned(path, &m); err != nil {
		// Not as one that is missing.
		return Mute{}, fmt.Errorf("%s: until %s is moved away, turns of the session go nowhere", err.Error(), path)
	}
	return m, nil
}

// SetMute mutes the session from now on, or ends that, and reports whether that changed
// anything. It is for a person who types: two at once may lose one.
func (s *Session) SetMute(on bool, now time.Time) (changed bool, err error) {
	if !plainName(s.agent) || !plainName(s.hash) {
		return false, fmt.Errorf("journal: %q is no session key", s.Key())
	}
	m, err := s.Mute()
	if err != nil || m.Active() == on {
		return false, err
	}
	// Agents write times in whole milliseconds, and some cut them off.
	now = now.UTC().Truncate(time.Millisecond)
	switch {
	case on && len(m.Spans) >= maxSpans:
		return false, ErrMutedOften
	case on:
		m.Spans = append(m.Spans, Span{From: now})
	default:
		m.Spans[len(m.Spans)-1].To = now
	}
	m.Version = FormatVersion
	raw, err := json.Marshal(m)
	if err != nil {
		return false, fmt.Errorf("journal: mute: %w", err)
	}
	for _, dir := range []string{s.state.path("muted"), filepath.Dir(s.mutePath())} {
		if err := private.Dir(dir); err != nil {
			return false, fmt.Errorf("journal: mute: %w", err)
		}
	}
	return true, atomicfile.Write(s.mutePath(), append(raw, '\n'))
}

func (s *Session) mutePath() string {
	return s.state.path("muted", s.agent, s.hash+".json")
}
