package drain

import (
	"errors"
	"slices"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// foreign reports whether a session's hooks had another key for the destination than
// this drainer has: the two may belong to different owners, and what one of them
// recorded is not for the other. A key that LangSmith refused was replaced; its
// sessions go to the new one.
func (d *Drainer) foreign(s *journal.Session, dest Destination) bool {
	if dest.Key == "" {
		return false
	}
	policy, err := d.newestPolicy(s, dest)
	if err != nil || !policy.Wants(dest.ID) || policy.Key == "" || policy.Key == dest.Key {
		return false
	}
	record, err := d.state.Destination(dest.ID)
	return err != nil || !slices.Contains(record.Refused, policy.Key)
}

// newestPolicy is that of the newest entry which the destination has not taken, else
// of the newest one it has.
func (d *Drainer) newestPolicy(s *journal.Session, dest Destination) (journal.Policy, error) {
	cp, err := s.Checkpoint(dest.ID)
	if err != nil {
		return journal.Policy{}, err
	}
	sizes, err := s.Sizes()
	if err != nil {
		return journal.Policy{}, err
	}
	policy := cp.Policy
	for record, err := range s.Read(cp.Positions, sizes) {
		if err != nil {
			return policy, err
		}
		if record.Entry.Event != "" { // else half a line, or a fence
			policy = record.Entry.Policy
		}
	}
	return policy, nil
}

// maxRefused bounds the keys that are remembered as refused.
const maxRefused = 16

// refuse notes that the destination did not accept the drainer's key.
func refuse(r *journal.Destination, dest Destination, cause error) {
	if dest.Key == "" || !errors.Is(cause, exporter.ErrUnauthorized) && !errors.Is(cause, exporter.ErrForbidden) {
		return
	}
	if !slices.Contains(r.Refused, dest.Key) {
		r.Refused = newest(append(r.Refused, dest.Key), maxRefused)
	}
}
