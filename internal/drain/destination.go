package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/patience"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Destination is a place that runs go to.
type Destination struct {
	ID   string // names its files
	Name string // shown to the user
	// Export delivers ops in order and says what became of them; what it drops for good
	// it reports elsewhere too: see Letters.
	Export func(ctx context.Context, ops []runtypes.Op) (exporter.Receipt, error)
	// GiveUp reports ops as dropped, as Export does, where a 500 may stand for a refusal
	// of one run: see stuck.go. Nil: it means that the destination is down.
	GiveUp func(ops []runtypes.Op, why error)
	// Broken says why nothing can be exported; nil: it can.
	Broken error
	// Key tells keys for the same destination apart: see config.KeyHash.
	Key string
	// Ended takes a run once, whole, when it has ended.
	Ended bool
	// Past takes turns that began before the destination was first seen.
	Past bool
}

// Plain is an Export of what drops nothing and cuts nothing down.
func Plain(export func(ctx context.Context, ops []runtypes.Op) (rest []runtypes.Op, err error)) func(context.Context, []runtypes.Op) (exporter.Receipt, error) {
	return func(ctx context.Context, ops []runtypes.Op) (exporter.Receipt, error) {
		rest, err := export(ctx, ops)
		return exporter.Receipt{Rest: rest}, err
	}
}

// Bounds of leaving a failing destination alone, beside those of patience.
const (
	longestRest = journal.LongestRest
	refusedRest = 5 * time.Minute // after 401 and 403: somebody must act first
)

// newness is how far back the first sight of a destination reaches for entries
// that no destination has taken: the hook that made them had it configured.
const newness = time.Hour

// register returns the moment from which on a destination takes turns. It is set
// the first time a drainer sees the destination, before any delivery, and anew where
// it is still to come: then the clock was wrong.
func (d *Drainer) register(dest Destination, oldest time.Time) (time.Time, error) {
	record, err := d.state.UpdateDestination(dest.ID, func(r *journal.Destination) {
		r.Name, r.Past = dest.Name, dest.Past
		if r.Broken && dest.Broken == nil { // it was mended
			r.Broken, r.Failures, r.Error, r.NotBefore = false, 0, "", time.Time{}
		}
		now := d.now().UTC()
		if !r.Since.IsZero() && !r.Since.After(now) {
			return
		}
		r.Since = now
		if !oldest.IsZero() && oldest.Before(r.Since) {
			r.Since = oldest.UTC()
		}
		if earliest := now.Add(-newness); r.Since.Before(earliest) {
			r.Since = earliest
		}
	})
	if dest.Past {
		return time.Time{}, err
	}
	return record.Since, err
}

// check keeps the drainer from a destination that cannot be used, and notes it as a
// delivery that failed: again only after a rest, which may be over in this life.
func (d *Drainer) check(dest Destination) {
	switch {
	case dest.Broken == nil:
	case !d.cfg.Insist && d.resting(dest):
		d.down.add(dest.ID, dest.Broken)
	default:
		d.leaveOut(dest, dest.Broken)
		d.failed(dest, dest.Broken)
	}
}

// leaveOut keeps the drainer from a destination for the rest of its life.
func (d *Drainer) leaveOut(dest Destination, why error) {
	d.down.add(dest.ID, why)
	d.broken = errors.Join(d.broken, fmt.Errorf("drain: %s: %w", cmp.Or(dest.Name, dest.ID), why))
}

// resting reports whether a destination is to be left alone for now.
func (d *Drainer) resting(dest Destination) bool {
	record, err := d.state.Destination(dest.ID)
	return err == nil && record.Resting(d.now())
}

// delivered notes a success, at most once a minute. It reports whether the destination
// is to be left alone for a while all the same.
func (d *Drainer) delivered(dest Destination) (slowly bool) {
	d.record(dest, func(r *journal.Destination) {
		wait := patience.Slowly(d.now().Sub(r.Limited), rand.Float64)
		slowly = wait > 0
		if slowly || r.Failures > 0 || !r.NotBefore.IsZero() || d.now().Sub(r.Delivered).Abs() > time.Minute {
			r.Failures, r.Error, r.NotBefore = 0, "", time.Time{}
			r.Delivered = d.now().UTC()
		}
		if slowly {
			r.NotBefore = d.now().Add(wait).UTC()
		}
	})
	return slowly && !d.cfg.Insist
}

// failed notes a failure, for all processes: they leave the destination alone
// for longer each time.
func (d *Drainer) failed(dest Destination, cause error) {
	d.record(dest, func(r *journal.Destination) {
		r.Failures++
		r.Error, r.Broken = cause.Error(), dest.Broken != nil
		refuse(r, dest, cause)
		r.NotBefore = d.now().Add(rest(r.Failures, cause)).UTC()
		if limited(cause) {
			r.Limited = d.now().UTC()
		}
	})
	d.log.Warn("not delivered", "destination", dest.ID, "error", cause.Error())
}

func (d *Drainer) record(dest Destination, change func(*journal.Destination)) {
	if _, err := d.state.UpdateDestination(dest.ID, change); err != nil {
		d.log.Warn("destination not recorded", "destination", dest.ID, "error", err.Error())
	}
}

// rest says how long to leave a destination alone after so many failures in a row.
func rest(failures int, cause error) time.Duration {
	if errors.Is(cause, exporter.ErrUnauthorized) || errors.Is(cause, exporter.ErrForbidden) {
		return refusedRest
	}
	var after time.Duration
	var temporary *exporter.TemporaryError
	if errors.As(cause, &temporary) {
		after = temporary.RetryAfter
	}
	return patience.Rest(failures, limited(cause), longestRest, after, rand.Float64)
}

// limited reports whether a failure was a limit of the rate of requests.
func limited(cause error) bool {
	var refused *exporter.StatusError
	return errors.As(cause, &refused) && refused.Status == http.StatusTooManyRequests
}
