package drain

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// settleTime is how long an ended session is left in place: late hooks and the
// curious find it.
const settleTime = time.Hour

// Collect removes sessions that are delivered everywhere and over, and, beyond
// the limits of age and size, the oldest ones even if they are not delivered:
// those are counted.
func (d *Drainer) Collect(ctx context.Context) error {
	sessions, unread := d.state.Sessions()
	type kept struct {
		session *journal.Session
		usage   journal.Usage
	}
	var left []kept
	var total int64
	for _, s := range sessions {
		if ctx.Err() != nil {
			return nil
		}
		usage, err := s.Usage()
		if err != nil {
			continue
		}
		// A clock that was wrong may have left a time that is still to come.
		age := d.now().Sub(usage.Modified)
		if age > d.cfg.Keep || age.Abs() > settleTime && d.over(s) {
			if d.remove(s) {
				continue
			}
		}
		left = append(left, kept{s, usage})
		total += usage.Bytes
	}
	slices.SortStableFunc(left, func(a, b kept) int { return a.usage.Modified.Compare(b.usage.Modified) })
	for _, each := range left {
		if total <= d.cfg.MaxTotal {
			break
		}
		if d.remove(each.session) {
			total -= each.usage.Bytes
		}
	}
	return errors.Join(unread, d.state.Sweep(), d.state.TrimTombstones())
}

// over reports whether a session has ended and every destination has all of it,
// those included that are configured not here but in another shell.
func (d *Drainer) over(s *journal.Session) bool {
	checkpoints, err := s.Checkpoints()
	if err != nil || len(checkpoints) == 0 {
		return false
	}
	for _, cp := range checkpoints {
		if !cp.Status.Ended || cp.Status.Open > 0 || cp.Status.Waiting || len(cp.Held) > 0 {
			return false
		}
	}
	left, err := d.undelivered(s)
	return err == nil && left.entries == 0
}

// remove removes a session unless it is in use, and counts what was not
// delivered.
func (d *Drainer) remove(s *journal.Session) bool {
	lock, err := s.TryDrain()
	if err != nil {
		return false
	}
	sizes, err := s.Sizes()
	if err != nil {
		lock.Unlock()
		return false
	}
	left, err := d.undelivered(s)
	if err != nil {
		d.log.Warn("undelivered entries not counted", "session", s.Key(), "error", err.Error())
	}
	if err := s.Remove(lock, sizes, d.now()); err != nil {
		d.log.Warn("session not removed", "session", s.Key(), "error", err.Error())
		return false
	}
	err = errors.Join(d.state.Drop(journal.DropExpired, left.entries), d.state.DropOnce(journal.DropCorrupt, left.corrupt))
	if err != nil {
		d.log.Error("drop not counted", "reason", journal.DropExpired, "count", left.entries)
	}
	d.log.Info("session removed", "session", s.Key(), "undelivered", left.entries)
	return true
}

// leftover is what a session holds that was not delivered.
type leftover struct {
	entries int      // that the destination furthest behind does not have
	corrupt []string // lines that are no entries, by id
}

// undelivered looks at a session for every destination that any drainer has known.
// With an error it tells what it could find out.
func (d *Drainer) undelivered(s *journal.Session) (left leftover, err error) {
	known, err := d.state.Destinations()
	if known == nil {
		known = map[string]journal.Destination{}
	}
	here := map[string]bool{}
	for _, dest := range d.destinations {
		here[dest.ID] = true
		record := known[dest.ID]
		record.Past = dest.Past
		known[dest.ID] = record
	}
	for id, record := range known {
		entries, corrupt, unread := awaited(s, id, record, here[id])
		err = errors.Join(err, unread)
		left.entries = max(left.entries, entries)
		left.corrupt = append(left.corrupt, corrupt...) // the same line counts once
	}
	return left, err
}

// awaited counts the entries that a destination does not have and that are for it:
// their hooks said so, or said nothing and it was configured then. One that takes
// the past as well gets all; elsewhere it may be switched off by now, unless it has
// begun with the session or fails.
func awaited(s *journal.Session, id string, record journal.Destination, here bool) (entries int, corrupt []string, err error) {
	cp, err := s.Checkpoint(id)
	if err != nil {
		return 0, nil, err
	}
	sizes, err := s.Sizes()
	if err != nil {
		return 0, nil, err
	}
	all := record.Past && (here || cp.Version > 0 || record.Failures > 0)
	for line, err := range s.Read(cp.Positions, sizes) {
		if err != nil {
			return entries, corrupt, err
		}
		policy := line.Entry.Policy
		switch {
		case line.Bad:
			corrupt = append(corrupt, line.ID)
		case line.Entry.Event == "": // a fence
		case all, !record.Past && (policy.Wants(id) || policy.To == "" && !line.Entry.At.Before(record.Since)):
			entries++
		}
	}
	return entries, corrupt, nil
}
