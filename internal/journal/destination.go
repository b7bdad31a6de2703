package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/private"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// recordWait bounds the wait for another process that changes a record.
const recordWait = time.Second

// maxRecord bounds a record in bytes.
const maxRecord = 1 << 20

// Destination is what all processes share about one place that runs go to.
type Destination struct {
	Name      string    `json:"name"`                  // shown to the user
	Since     time.Time `json:"since,omitzero"`        // turns begun before are not for it
	NotBefore time.Time `json:"not_before,omitzero"`   // leave it alone until then
	Failures  int       `json:"failures,omitempty"`    // in a row
	Error     string    `json:"error,omitempty"`       // the last one, without content
	Delivered time.Time `json:"delivered_at,omitzero"` // the last success
	Limited   time.Time `json:"limited_at,omitzero"`   // a limit of its rate was met last
	Refused   []string  `json:"refused,omitempty"`     // hashes of keys that were not accepted
	Past      bool      `json:"past,omitempty"`        // it takes turns begun before as well
	Broken    bool      `json:"broken,omitempty"`      // it could not be used at all
}

// LongestRest is the most that a destination is left alone at a time.
const LongestRest = 15 * time.Minute

// Resting reports whether the destination is to be left alone at the moment. A time
// further ahead than any rest was written while the clock was wrong.
func (d Destination) Resting(now time.Time) bool {
	return now.Before(d.NotBefore) && d.NotBefore.Sub(now) <= LongestRest
}

// How often in a row, and for how long, deliveries may fail before the user is told.
const (
	lateFailures = 3
	lateAfter    = 24 * time.Hour
)

// Late reports whether the user should know: three deliveries in a row have failed, or
// they fail and none has succeeded for a day.
func (d Destination) Late(now time.Time) bool {
	last := d.Delivered
	if last.Before(d.Since) {
		last = d.Since
	}
	return d.Failures >= lateFailures || d.Failures > 0 && now.Sub(last) > lateAfter
}

// Trouble says in a line what is wrong with a destination that is late.
func (d Destination) Trouble(now time.Time) string {
	text := "the last delivery has failed"
	if d.Failures > 1 {
		text = fmt.Sprintf("%d deliveries in a row have failed", d.Failures)
	}
	if d.Delivered.After(now) {
		text += ", the last success is said to be at a time that is still to come"
	} else if !d.Delivered.IsZero() {
		text += fmt.Sprintf(", the last success was %s ago", now.Sub(d.Delivered).Round(time.Minute))
	}
	return text + ": " + d.Error
}

// Destination returns the shared record of a destination by the id that names
// its files. The error matches fs.ErrNotExist when it was never seen, and a
// record that cannot be read counts as that.
func (s *State) Destination(id string) (Destination, error) {
	var d Destination
	f, err := regular.OpenHere(s.destinationPath(id))
	if err != nil {
		return d, fmt.Errorf("journal: destination: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return d, fmt.Errorf("journal: destination: %w", err)
	}
	if json.Unmarshal(raw, &d) != nil {
		return Destination{}, &garbledError{id + ".json"}
	}
	return d, nil
}

// garbledError is a file that counts as missing: what writes it next makes it anew.
type garbledError struct{ name string }

func (e *garbledError) Error() string        { return "journal: " + e.name + " is garbled" }
func (e *garbledError) Is(target error) bool { return target == fs.ErrNotExist }

// UpdateDestination changes the shared record of a destination, one process at a
// time. change is given the record as it is, the zero value if there is none.
func (s *State) UpdateDestination(id string, change func(*Destination)) (Destination, error) {
	if !plainName(id) {
		return Destination{}, fmt.Errorf("journal: %q is no destination id", id)
	}
	if err := private.Dir(s.path("destinations")); err != nil {
		return Destination{}, fmt.Errorf("journal: destination: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordWait)
	defer cancel()
	lock, err := acquire(ctx, s.path("destinations", id+".lock"))
	if err != nil {
		return Destination{}, err
	}
	defer lock.Unlock()
	d, err := s.Destination(id)
	if err != nil && !missing(err) {
		return d, err
	}
	before := d
	change(&d)
	if reflect.DeepEqual(d, before) {
		return d, nil
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return d, fmt.Errorf("journal: destination: %w", err)
	}
	return d, atomicfile.Write(s.destinationPath(id), append(raw, '\n'))
}

// Destinations lists all records, by id. With an error it lists those that could be
// read.
func (s *State) Destinations() (map[string]Destination, error) {
	names, err := list(s.path("destinations"))
	if err != nil {
		return nil, fmt.Errorf("journal: destinations: %w", err)
	}
	found := make(map[string]Destination, len(names))
	var unread error
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok || !plainName(id) {
			continue
		}
		d, err := s.Destination(id)
		var garbled *garbledError
		if missing(err) && !errors.As(err, &garbled) {
			continue // it went while we looked
		}
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		found[id] = d
	}
	return found, unread
}

// Resting reports whether every destination has asked to be left alone at the
// moment, so that waking a drainer would be in vain.
func (s *State) Resting(now time.Time) bool {
	all, err := s.Destinations()
	if err != nil || len(all) == 0 {
		return false
	}
	for _, d := range all {
		if !d.Resting(now) {
			return false
		}
	}
	return true
}

func (s *State) destinationPath(id string) string {
	return s.path("destinations", id+".json")
}
