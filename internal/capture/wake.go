package capture

import (
	"errors"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// Bounds of waiting for delivery inside a hook.
const (
	inlineLimit  = 60 * time.Second // where the agent's own limit is not known
	inlineMargin = 2 * time.Second  // left for the agent to see us end
)

// wake sees to it that somebody delivers what was written.
func (h *hook) wake(event integrations.Hook, settings config.Config, state *journal.State, session *journal.Session, pid int) *loss {
	if !event.Wakes && !event.Settles || !delivers(settings) {
		return nil
	}
	var err error
	switch waits := inline(settings, h.Env, pid); {
	case waits && !event.Settles:
		// The hook that ends the turn will wait for all of it.
	case waits && !event.Shield:
		h.dog.stop()
		err = h.Deliver(session.Key(), limit(event))
	case state.Resting(h.started) || draining(session):
	default:
		err = h.Spawn(state.Dir(), session.Key())
	}
	if err != nil {
		return &loss{reason: reasonSpawn, err: err}
	}
	return nil
}

// limit is how long a hook may wait for delivery instead of the watchdog's time.
func limit(event integrations.Hook) time.Duration {
	if event.Timeout <= 0 {
		return inlineLimit
	}
	return min(inlineLimit, max(0, event.Timeout-inlineMargin))
}

// draining reports whether a drainer is at work on the session: it will look at
// the journal again after it unlocked.
func draining(session *journal.Session) bool {
	lock, err := session.TryDrain()
	if err == nil {
		lock.Unlock()
	}
	return errors.Is(err, journal.ErrLocked)
}

// delivers reports whether a drainer would have anywhere to go.
func delivers(s config.Config) bool {
	return s.Store || s.Delivers() && s.Upload != config.Off
}

// inline reports whether hooks wait for delivery: because the user says so, or
// because nothing in the background would outlive the agent, as in a CI job or
// where the agent is a container's first process.
func inline(s config.Config, env func(string) string, pid int) bool {
	if s.Source("upload") != config.SourceDefault {
		return s.Upload == config.Inline
	}
	switch strings.ToLower(env("CI")) {
	case "", "0", "false":
		return pid == 1
	}
	return true
}
