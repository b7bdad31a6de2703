package history

import (
	"errors"
	"io/fs"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/procid"
)

// restless is how long a session is left alone after it was last written to, where
// nothing says for certain that nobody works on it: a turn that is closed too early
// stays closed.
const restless = time.Hour

// alive reports whether a process still runs. Where the agent counts its start in
// the system's unit, that tells it from another one with the same pid.
func alive(p integrations.Proc) bool {
	start, _ := procid.Of(p.PID)
	return start != "" && (!number(p.Start) || p.Start == start)
}

func number(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// live reports whether somebody works on a session, or may do so: a process that is
// not of this system, such as one of a container, cannot be asked after.
func (i *Import) live(s found) bool {
	for _, p := range s.Procs {
		if i.cfg.Alive(p) {
			return true
		}
	}
	certain := s.Noted && len(s.Procs) == 0
	return !certain && i.cfg.Now().Sub(s.modified) < restless
}

// claim keeps drainers away from a session while it is imported. It gives the reason
// if the session is to be left out.
func (i *Import) claim(s found) (release func(), left string) {
	if i.live(s) {
		return nil, LeftLive
	}
	hooked := i.cfg.State.Session(i.cfg.Agent.Name, s.ID)
	lock, err := hooked.TryDrain()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return func() {}, "" // no hook was there
	case errors.Is(err, journal.ErrLocked):
		return nil, LeftLive
	case err != nil:
		return nil, LeftUnreadable
	}
	for _, t := range i.targets {
		if left = i.awaited(hooked, t); left != "" {
			lock.Unlock()
			return nil, left
		}
	}
	return lock.Unlock, ""
}

// awaited reports whether live capture has yet to deliver something of a session.
func (i *Import) awaited(hooked *journal.Session, t *target) string {
	cp, err := hooked.Checkpoint(t.ID)
	if err != nil {
		return LeftUnreadable
	}
	if cp.Status.Open > 0 || cp.Status.Waiting {
		return LeftLive
	}
	if i.cfg.DryRun {
		return "" // an import begins with what waits
	}
	if behind, err := hooked.Behind(cp.Positions); err != nil || behind {
		return LeftWaiting
	}
	return ""
}
