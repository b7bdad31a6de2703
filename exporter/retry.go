package exporter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/patience"
)

const retryAfterCap = time.Hour

// sendWithRetry sends a request until it is answered for good, the deadline has
// passed or ctx ends. It returns nil when it was accepted, a *StatusError when it
// was refused, a *slowError when smaller requests are worth a try, a
// *TemporaryError when time ran out, else ctx's error.
func (c *Client) sendWithRetry(ctx context.Context, req *request, deadline time.Time) error {
	tries := patience.NewTries(rand.Float64)
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var before error // what the last attempt but this ended with
	for {
		if wait := c.pace.left(c.now()); c.now().Add(wait).After(deadline) {
			if wait > 0 || before == nil {
				before = errPaced
			} // else a pause took longer than it should have
			return &TemporaryError{RetryAfter: wait, Err: before}
		} else if err := sleep(ctx, wait); err != nil {
			return fmt.Errorf("exporter: send: %w", err)
		}
		again, floor, err := c.attempt(bounded, req)
		if before != nil && bounded.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
			err = before // an attempt that our own deadline cut off says nothing of the server
		}
		switch {
		case err == nil:
			c.server.swift(req.plain)
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("exporter: send: %w", context.Cause(ctx))
		case !again:
			return err
		case req.divisible && len(req.body) > smallBody && bounded.Err() == nil && isSlow(err):
			c.server.slow(req.plain)
			c.stats.retried(err)
			return &slowError{err}
		}
		pause := tries.Pause(limits(err), floor)
		if limits(err) {
			c.pace.slow(c.now().Add(pause))
		}
		if c.now().Add(pause).After(deadline) {
			return &TemporaryError{RetryAfter: floor, Err: err}
		}
		before = err
		c.stats.retried(err)
		c.cfg.Logger.Debug("request will be tried again", "pause", pause, "error", err)
		if err := sleep(ctx, pause); err != nil {
			return fmt.Errorf("exporter: send: %w", err)
		}
	}
}

// smallBody is what any connection brings across within an attempt's time.
const smallBody = 256 << 10

// slowError says that a request took too long, perhaps because of its size: to
// begin it again from zero would end the same way. What of it did arrive is found
// out by the conflicts of its parts.
type slowError struct{ err error }

func (e *slowError) Error() string { return e.err.Error() }
func (e *slowError) Unwrap() error { return e.err }

// isSlow reports whether an attempt ended because its time was up, on either side.
func isSlow(err error) bool {
	var refused *StatusError
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &refused) && refused.Status == http.StatusRequestTimeout
}

// attempt sends a request once. It reports whether another attempt makes sense
// and how long the server wants it to wait.
func (c *Client) attempt(ctx context.Context, req *request) (again bool, floor time.Duration, err error) {
	c.stats.requested(req)
	got, err := c.http.do(ctx, http.MethodPost, req)
	if err != nil {
		return true, 0, err
	}
	floor = parseRetryAfter(got.retryAfter, got.date, c.now())
	switch {
	case got.status/100 == 2 && got.page:
		return true, floor, errWebPage
	case got.status/100 == 2:
		if d := c.cfg.Dialect; d != nil {
			req.refused = d.Refused(got.body)
		}
		return false, 0, nil
	default:
		return temporary(got.status), floor, got.refusal(req.path)
	}
}

// temporary reports whether a status says "later" rather than "no".
func temporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// sleep waits, or less long if ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// parseRetryAfter reads a Retry-After header in either form: seconds, or a date,
// which is compared with the answer's own Date so that the clocks of the two
// machines need not agree. What cannot be read is 0; the result is at most an
// hour.
func parseRetryAfter(value, date string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 63); err == nil || errors.Is(err, strconv.ErrRange) {
		if seconds > uint64(retryAfterCap/time.Second) {
			return retryAfterCap
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(date); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), 0), retryAfterCap)
}
