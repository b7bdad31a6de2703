package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/private"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// Bounds of what is kept of what was sent.
const (
	MaxSent     = 32 << 20 // bytes of all requests, oldest first to go
	maxSentBody = 24 << 20 // and of one; a larger one is not kept
)

const sentDir = "sent"

// ErrGarbled says that a copy of a request cannot be understood.
var ErrGarbled = errors.New("garbled")

// Sent is a request that a destination has accepted, as it was sent, before
// compression.
type Sent struct {
	At          time.Time `json:"at"`
	To          string    `json:"to"` // the address
	ContentType string    `json:"content_type"`
	Status      int       `json:"status"`
	Body        []byte    `json:"-"` // of one that is read back

	name string
}

// KeepSent keeps a copy of a request with the body that is read, so that anybody can
// see what left the machine. The oldest copies make room.
func (s *State) KeepSent(r Sent, body io.Reader) error {
	if err := private.Dir(s.path(sentDir)); err != nil {
		return fmt.Errorf("journal: sent: %w", err)
	}
	head, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("journal: sent: %w", err)
	}
	name := fmt.Sprintf("%020d-%s.txt", r.At.UnixMicro(), uuid.NewString()[:8])
	copied := atomicfile.Copy(s.path(sentDir, name), io.MultiReader(bytes.NewReader(append(head, '\n')), &bounded{body, maxSentBody}))
	switch {
	case errors.Is(copied, errSentSize):
		return nil
	case copied != nil:
		return copied
	}
	return s.trimSent()
}

var errSentSize = errors.New("journal: sent: too large a request")

// bounded reads a body, and fails where it goes on beyond so many bytes.
type bounded struct {
	body io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errSentSize
	}
	return n, err
}

// trimSent removes the oldest copies beyond their bound.
func (s *State) trimSent() error {
	names, err := s.sentNames()
	if err != nil {
		return err
	}
	var total int64
	for _, name := range slices.Backward(names) { // the newest first
		info, err := os.Lstat(s.path(sentDir, name))
		if err != nil {
			continue // another drainer removed it
		}
		if total += info.Size(); total <= MaxSent {
			continue
		}
		if err := os.Remove(s.path(sentDir, name)); err != nil && !missing(err) {
			return fmt.Errorf("journal: sent: %w", err)
		}
	}
	return nil
}

// sentNames lists the copies, oldest first.
func (s *State) sentNames() ([]string, error) {
	names, err := list(s.path(sentDir))
	if err != nil {
		return nil, fmt.Errorf("journal: sent: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		at, _, ok := strings.Cut(name, "-")
		_, err := strconv.ParseInt(at, 10, 64)
		return !ok || err != nil || !strings.HasSuffix(name, ".txt")
	}), nil
}

// EachSent yields what was sent, the newest first. What cannot be read is an error and
// hides nothing else; if it is garbled, ForgetSent takes it all the same.
func (s *State) EachSent() iter.Seq2[Sent, error] {
	return func(yield func(Sent, error) bool) {
		names, err := s.sentNames()
		if err != nil {
			yield(Sent{}, err)
			return
		}
		for _, name := range slices.Backward(names) {
			r, err := s.readSent(name)
			if missing(err) {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (s *State) readSent(name string) (Sent, error) {
	f, err := regular.OpenHere(s.path(sentDir, name))
	if err != nil {
		return Sent{}, fmt.Errorf("journal: sent: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxSent))
	if err != nil {
		return Sent{}, fmt.Errorf("journal: sent: %w", err)
	}
	head, body, _ := bytes.Cut(raw, []byte("\n"))
	r := Sent{name: name, Body: body}
	if json.Unmarshal(head, &r) != nil {
		return Sent{name: name}, fmt.Errorf("journal: sent: %s is %w", name, ErrGarbled)
	}
	return r, nil
}

// ForgetSent removes a copy.
func (s *State) ForgetSent(r Sent) error {
	if err := os.Remove(s.path(sentDir, r.name)); err != nil && !missing(err) {
		return fmt.Errorf("journal: sent: %w", err)
	}
	return nil
}

// ForgetDead removes what is kept of runs that a destination refused, and returns how
// many writes that were.
func (s *State) ForgetDead(run string) (n int, err error) {
	if !plainName(run) {
		return 0, fmt.Errorf("journal: %q is no run", run)
	}
	destinations, err := list(s.path("dead"))
	if err != nil {
		return 0, fmt.Errorf("journal: dead: %w", err)
	}
	for _, destination := range destinations {
		names, err := list(s.path("dead", destination))
		if err != nil {
			return n, fmt.Errorf("journal: dead: %w", err)
		}
		for _, name := range names {
			if !strings.HasPrefix(name, run+".") {
				continue
			}
			if err := os.Remove(s.path("dead", destination, name)); err != nil && !missing(err) {
				return n, fmt.Errorf("journal: dead: %w", err)
			}
			n++
		}
	}
	return n, nil
}
