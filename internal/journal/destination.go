package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// Destination is what all processes share about one place that runs go to.
type Destination struct {
	Name      string    `json:"name"`                  // shown to the user
	Since     time.Time `json:"since,omitzero"`        // turns begun before are not for it
	NotBefore time.Time `json:"not_before,omitzero"`   // leave it alone until then
	Failures  int       `json:"failures,omitempty"`    // in a row
	Error     string    `json:"error,omitempty"`       // the last one, without content
	Delivered time.Time `json:"delivered_at,omitzero"` // the last success
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

// PutDestination replaces the shared record of a destination.
func (s *State) PutDestination(id string, d Destination) error {
	if !plainName(id) {
		return fmt.Errorf("journal: %q is no destination id", id)
	}
	if err := makePrivate(s.path("destinations")); err != nil {
		return fmt.Errorf("journal: destination: %w", err)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("journal: destination: %w", err)
	}
	return atomicfile.Write(s.destinationPath(id), append(raw, '\n'))
}

// Destinations lists all records, by id.
func (s *State) Destinations() (map[string]Destination, error) {
	files, err := filepath.Glob(s.destinationPath("*"))
	if err != nil {
		return nil, fmt.Errorf("journal: destinations: %w", err)
	}
	found := make(map[string]Destination, len(files))
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		d, err := s.Destination(id)
		if errors.Is(err, os.ErrNotExist) {
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
