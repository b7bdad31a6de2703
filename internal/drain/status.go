package drain

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// Status is how deliveries stand, as a user is shown it.
type Status struct {
	Sessions     []SessionStatus     `json:"sessions"`
	Destinations []DestinationStatus `json:"destinations"`
	Dropped      map[string]int64    `json:"dropped"` // losses by reason
	// OtherVersions are directories of another Tracesmith, left alone.
	OtherVersions []string `json:"other_versions,omitempty"`
}

// SessionStatus is how one session stands.
type SessionStatus struct {
	Key      string         `json:"key"`
	Agent    string         `json:"agent"`
	Session  string         `json:"session,omitempty"` // the agent's id, once a drainer has seen it
	Modified time.Time      `json:"modified,omitzero"` // when a hook last wrote
	Bytes    int64          `json:"bytes"`
	Queued   map[string]int `json:"queued"` // entries that a destination does not have
	Open     int            `json:"open"`   // turns and subagents under way
	Ended    bool           `json:"ended"`
	Gone     bool           `json:"gone"`              // the agent's process is gone
	Problem  string         `json:"problem,omitempty"` // why it is left alone
}

// DestinationStatus is how one destination fares.
type DestinationStatus struct {
	ID string `json:"id"`
	journal.Destination
	Resting bool `json:"resting"` // it has asked to be left alone until NotBefore
	Dead    int  `json:"dead"`    // runs kept that it refused for good
}

// ReadStatus reads how deliveries stand. It changes nothing.
func ReadStatus(state *journal.State, now time.Time, gone func(journal.Proc) bool) (Status, error) {
	status := Status{OtherVersions: state.OtherVersions()}
	var err error
	if status.Dropped, err = state.Drops(); err != nil {
		return status, err
	}
	records, err := state.Destinations()
	if err != nil {
		return status, err
	}
	for id, record := range records {
		dead, err := state.CountDead(id)
		if err != nil {
			return status, err
		}
		status.Destinations = append(status.Destinations, DestinationStatus{
			ID: id, Destination: record, Resting: now.Before(record.NotBefore), Dead: dead,
		})
	}
	slices.SortFunc(status.Destinations, func(a, b DestinationStatus) int { return cmp.Compare(a.ID, b.ID) })
	sessions, err := state.Sessions()
	if err != nil {
		return status, err
	}
	for _, s := range sessions {
		status.Sessions = append(status.Sessions, sessionStatus(s, records, gone))
	}
	slices.SortFunc(status.Sessions, func(a, b SessionStatus) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Key, b.Key)) // newest first
	})
	return status, nil
}

func sessionStatus(s *journal.Session, records map[string]journal.Destination, gone func(journal.Proc) bool) SessionStatus {
	status := SessionStatus{Key: s.Key(), Agent: s.Agent(), Queued: map[string]int{}}
	usage, err := s.Usage()
	problem := err
	status.Modified, status.Bytes = usage.Modified, usage.Bytes
	for id := range records {
		cp, err := s.Checkpoint(id)
		if err != nil {
			problem = errors.Join(problem, err)
			continue
		}
		n, err := s.Count(cp.Positions)
		problem = errors.Join(problem, err)
		status.Queued[id] = n
		status.Session = cmp.Or(status.Session, cp.Session)
		status.Open = max(status.Open, cp.Status.Open)
		status.Ended = status.Ended || cp.Status.Ended
		status.Gone = status.Gone || gone(cp.Proc)
	}
	if problem != nil {
		status.Problem = problem.Error()
	}
	return status
}
