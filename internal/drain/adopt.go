package drain

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// adopt delivers the other sessions that nobody looks after, those that waited
// longest first: what hooks wrote and no drainer took, what was promised and did
// not come, and turns whose agent is gone. A session that was written to within
// the last while is left to its own drainer, if its agent lives.
func (d *Drainer) adopt(ctx context.Context, not string, while time.Duration, wait bool) error {
	sessions, unread := d.state.Sessions()
	type orphan struct {
		session  *journal.Session
		modified time.Time
	}
	var orphans []orphan
	for _, s := range sessions {
		if s.Key() == not || d.cfg.Agents(s.Agent()) == nil {
			continue
		}
		usage, err := s.Usage()
		if err != nil || d.now().Sub(usage.Modified).Abs() < while && !d.bereft(s) {
			continue
		}
		if d.orphaned(s) {
			orphans = append(orphans, orphan{s, usage.Modified})
		}
	}
	slices.SortStableFunc(orphans, func(a, b orphan) int { return a.modified.Compare(b.modified) })
	failures := []error{unread}
	for _, each := range orphans {
		if ctx.Err() != nil {
			break
		}
		failures = append(failures, d.drain(ctx, each.session, 0, wait))
	}
	return errors.Join(failures...)
}

// orphaned reports whether a session has anything to do for a destination that
// can be served.
func (d *Drainer) orphaned(s *journal.Session) bool {
	nothing := newProblems()
	if d.behind(s, nothing) {
		return true
	}
	for _, dest := range d.destinations {
		if !d.serves(s, dest, nothing) {
			continue
		}
		cp, err := s.Checkpoint(dest.ID)
		if err != nil && !errors.Is(err, journal.ErrVersion) {
			return true // for it to be said
		}
		if err != nil || cp.Status.Open == 0 && !cp.Status.Waiting {
			continue
		}
		if cp.Status.Waiting || d.abandoned(cp) || d.grown(cp) {
			return true
		}
	}
	return false
}

// bereft reports whether a session has something open and its agent is gone.
func (d *Drainer) bereft(s *journal.Session) bool {
	return slices.ContainsFunc(d.destinations, func(dest Destination) bool {
		cp, err := s.Checkpoint(dest.ID)
		return err == nil && (cp.Status.Open > 0 || cp.Status.Waiting) && d.abandoned(cp)
	})
}

// abandoned reports whether the agent is gone and the reducer does not know yet.
func (d *Drainer) abandoned(cp journal.Checkpoint) bool {
	return !cp.Dead && d.cfg.Gone(cp.Proc)
}

// grown reports whether the agent has written since the last look.
func (d *Drainer) grown(cp journal.Checkpoint) bool {
	return slices.ContainsFunc(cp.Status.Watch, func(path string) bool { return sizeOf(path) != cp.Seen[path] })
}
