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
	sessions, err := d.state.Sessions()
	if err != nil {
		return err
	}
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
		age := d.now().Sub(usage.Modified)
		if age > d.cfg.Keep || age > settleTime && d.over(s) {
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
	return errors.Join(d.state.Sweep(), d.state.TrimTombstones())
}

// over reports whether a session has ended and every destination has all of it,
// those included that are configured not here but in another shell.
func (d *Drainer) over(s *journal.Session) bool {
	checkpoints, err := s.Checkpoints()
	if err != nil {
		return false
	}
	records, err := d.state.Destinations()
	if err != nil {
		return false
	}
	for id := range records {
		if _, ok := checkpoints[id]; !ok {
			return false
		}
	}
	for _, cp := range checkpoints {
		if !cp.Status.Ended || cp.Status.Open > 0 || cp.Status.Waiting || len(cp.Held) > 0 {
			return false
		}
		if more, err := s.Behind(cp.Positions); err != nil || more {
			return false
		}
	}
	return len(checkpoints) > 0
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
	lost := d.undelivered(s)
	if err := s.Remove(lock, sizes, d.now()); err != nil {
		d.log.Warn("session not removed", "session", s.Key(), "error", err.Error())
		return false
	}
	if err := d.state.Drop(journal.DropExpired, lost); err != nil {
		d.log.Error("drop not counted", "reason", journal.DropExpired, "count", lost)
	}
	d.log.Info("session removed", "session", s.Key(), "undelivered", lost)
	return true
}

// undelivered is the number of entries that the destination furthest behind does
// not have.
func (d *Drainer) undelivered(s *journal.Session) int {
	lost := 0
	for _, dest := range d.destinations {
		cp, err := s.Checkpoint(dest.ID)
		if err != nil {
			continue
		}
		if n, err := s.Count(cp.Positions); err == nil {
			lost = max(lost, n)
		}
	}
	return lost
}
