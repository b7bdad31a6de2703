package drain

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// Status is how deliveries stand, as a user is shown it.
type Status struct {
	Agents       []AgentStatus       `json:"agents"`
	Sessions     []SessionStatus     `json:"sessions"`
	Destinations []DestinationStatus `json:"destinations"`
	Dropped      map[string]int64    `json:"dropped"`                  // losses by reason
	Shortened    int64               `json:"shortened_runs,omitempty"` // arrived, cut down to what the destination takes
	Problems     []string            `json:"problems,omitempty"`       // what could not be read
	// OtherVersions are directories of another Tracesmith, left alone.
	OtherVersions []string `json:"other_versions,omitempty"`
}

// AgentStatus sums up the sessions of one agent that are still here.
type AgentStatus struct {
	Agent    string    `json:"agent"`
	Sessions int       `json:"sessions"`
	Modified time.Time `json:"modified,omitzero"` // when a hook last wrote
	Tally
}

// Tally counts what became of what was recorded, at the destination that is furthest
// behind; Rejected is of all of them.
type Tally struct {
	Queued   int       `json:"queued_events"`
	Accepted int       `json:"accepted_runs"`
	Rejected int       `json:"rejected_writes"`
	Arrived  time.Time `json:"arrived_at,omitzero"` // when something last arrived anywhere
}

// SessionStatus is how one session stands.
type SessionStatus struct {
	Key      string           `json:"key"`
	Agent    string           `json:"agent"`
	Session  string           `json:"session,omitempty"` // the agent's id, once a drainer has seen it
	Modified time.Time        `json:"modified,omitzero"` // when a hook last wrote
	Bytes    int64            `json:"bytes"`
	At       map[string]Tally `json:"destinations"`
	Tally
	Open    int    `json:"open"` // turns and subagents under way
	Ended   bool   `json:"ended"`
	Gone    bool   `json:"gone"`              // the agent's process is gone
	Problem string `json:"problem,omitempty"` // why it is left alone
}

// DestinationStatus is how one destination fares.
type DestinationStatus struct {
	ID string `json:"id"`
	journal.Destination
	Resting bool `json:"resting"` // it has asked to be left alone until NotBefore
	Dead    int  `json:"dead"`    // runs kept that it refused for good
}

// ReadStatus reads how deliveries stand. It changes nothing. What cannot be read is
// among the problems and hides nothing else. All of its text can be printed.
func ReadStatus(state *journal.State, now time.Time, gone func(journal.Proc) bool) Status {
	var status Status
	for _, name := range state.OtherVersions() {
		status.OtherVersions = append(status.OtherVersions, printable(name))
	}
	var err error
	status.Dropped, err = state.Drops()
	status.problem(err)
	status.Shortened = status.Dropped[journal.Shortened]
	delete(status.Dropped, journal.Shortened)
	records, err := state.Destinations()
	status.problem(err)
	for _, id := range slices.Sorted(maps.Keys(records)) {
		record := records[id]
		record.Name, record.Error = printable(record.Name), printable(record.Error)
		dead, err := state.CountDead(id)
		status.problem(err)
		status.Destinations = append(status.Destinations, DestinationStatus{
			ID: id, Destination: record, Resting: record.Resting(now), Dead: dead,
		})
	}
	sessions, err := state.Sessions()
	status.problem(err)
	for _, s := range sessions {
		status.Sessions = append(status.Sessions, sessionStatus(s, records, gone))
	}
	slices.SortFunc(status.Sessions, func(a, b SessionStatus) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Key, b.Key)) // newest first
	})
	status.Agents = sumUp(status.Sessions)
	return status
}

func (s *Status) problem(err error) {
	if err != nil {
		s.Problems = append(s.Problems, printable(err.Error()))
	}
}

// maxShown bounds a text of the agent's, or of a file, in bytes.
const maxShown = 500

// printable makes one line of a text, which must neither move the cursor nor colour
// the terminal.
func printable(s string) string {
	s = strings.ReplaceAll(s, "\n", "; ")
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "") + "..."
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, s)
}

// sumUp adds the sessions of each agent.
func sumUp(sessions []SessionStatus) []AgentStatus {
	by := map[string]*AgentStatus{}
	for _, s := range sessions {
		a := by[s.Agent]
		if a == nil {
			a = &AgentStatus{Agent: s.Agent}
			by[s.Agent] = a
		}
		a.Sessions++
		a.Queued += s.Queued
		a.Accepted += s.Accepted
		a.Rejected += s.Rejected
		a.Modified = later(a.Modified, s.Modified)
		a.Arrived = later(a.Arrived, s.Arrived)
	}
	var list []AgentStatus
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, *by[name])
	}
	return list
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func sessionStatus(s *journal.Session, records map[string]journal.Destination, gone func(journal.Proc) bool) SessionStatus {
	status := SessionStatus{Key: s.Key(), Agent: s.Agent(), At: map[string]Tally{}}
	usage, problem := s.Usage()
	status.Modified, status.Bytes = usage.Modified, usage.Bytes
	taken, err := s.Checkpoints()
	problem = errors.Join(problem, err)
	for _, id := range slices.Sorted(maps.Keys(records)) {
		if !concerns(id, taken) {
			continue
		}
		cp, err := s.Checkpoint(id)
		if err != nil {
			problem = errors.Join(problem, err)
			continue
		}
		n, err := s.Count(cp.Positions)
		problem = errors.Join(problem, err)
		status.add(id, Tally{n, cp.Accepted, cp.Rejected, cp.Arrived})
		status.Session = cmp.Or(status.Session, printable(cp.Session))
		status.Open = max(status.Open, cp.Status.Open)
		status.Ended = status.Ended || cp.Status.Ended
		status.Gone = status.Gone || gone(cp.Proc)
	}
	if problem != nil {
		lines := strings.Split(problem.Error(), "\n")
		status.Problem = printable(strings.Join(slices.Compact(lines), "\n")) // a file may be looked at twice
	}
	return status
}

// concerns reports whether a session is for a destination. Its hooks have said where it
// goes; before any was taken it may be for every one.
func concerns(id string, taken map[string]journal.Checkpoint) bool {
	if _, ok := taken[id]; ok || len(taken) == 0 || id == "store" {
		return true
	}
	for _, cp := range taken {
		if cp.Policy.Wants(id) || cp.Policy.To == "" {
			return true
		}
	}
	return false
}

// add counts one destination in.
func (s *SessionStatus) add(id string, t Tally) {
	if len(s.At) == 0 || t.Accepted < s.Accepted {
		s.Accepted = t.Accepted
	}
	s.Queued = max(s.Queued, t.Queued)
	s.Rejected += t.Rejected
	s.Arrived = later(s.Arrived, t.Arrived)
	s.At[id] = t
}
