package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// recordWait bounds the wait for another process that changes a record.
const recordWait = time.Second

// Destination is what all processes share about one place that runs go to.
type Destination struct {
	Name      string    `json:"name"`                  // shown to the user
	Since     time.Time `json:"since,omitzero"`        // turns begun before are not for it
	NotBefore time.Time `json:"not_before,omitzero"`   // leave it alone until then
	Failures  int       `json:"failures,omitempty"`    // in a row
	Error     string    `json:"error,omitempty"`       // the last one, without content
	Delivered time.Time `json:"delivered_at,omitzero"` // the last success
	Refused   []string  `json:"refused,omitempty"`     // hashes of keys that were not accepted
}

// Destination returns the shared record of a destination by the id that names
// its files. The error matches fs.ErrNotExist when it was never seen, and a
// record that cannot be read counts as that.
func (s *State) Destination(id string) (Destination, error) {
	var d Destination
	raw, err := os.ReadFile(s.destinationPath(id))
	if err != nil {
		return d, fmt.Errorf("journal: destination: %w", err)
	}
	if json.Unmarshal(raw, &d) != nil {
		return Destination{}, fmt.Errorf("journal: destination: garbled: %w", os.ErrNotExist)
	}
	return d, nil
}

// UpdateDestination changes the shared record of a destination, one process at a
// time. change is given the record as it is, the zero value if there is none.
func (s *State) UpdateDestination(id string, change func(*Destination)) (Destination, error) {
	if !plainName(id) {
		return Destination{}, fmt.Errorf("journal: %q is no destination id", id)
	}
	if err := makePrivate(s.path("destinations")); err != nil {
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

// Destinations lists all records, by id.
func (s *State) Destinations() (map[string]Destination, error) {
	names, err := list(s.path("destinations"))
	if err != nil {
		return nil, fmt.Errorf("journal: destinations: %w", err)
	}
	found := make(map[string]Destination, len(names))
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok || !plainName(id) {
			continue
		}
		d, err := s.Destination(id)
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[id] = d
	}
	return found, nil
}

// Resting reports whether every destination has asked to be left alone at the
// moment, so that waking a drainer would be in vain.
func (s *State) Resting(now time.Time) bool {
	all, err := s.Destinations()
	if err != nil || len(all) == 0 {
		return false
	}
	for _, d := range all {
		if !now.Before(d.NotBefore) {
			return false
		}
	}
	return true
}

func (s *State) destinationPath(id string) string {
	return s.path("destinations", id+".json")
}
