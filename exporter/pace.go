package exporter

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// errPaced stands for an attempt that was not made.
var errPaced = errors.New("exporter: the server asked to slow down")

// pace holds all of a client's requests back when the server has told one of them
// to come later: the limit that it has met is the key's, not the request's.
type pace struct {
	mu    sync.Mutex
	until time.Time
}

// slow lets nothing leave before until.
func (p *pace) slow(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until.After(p.until) {
		p.until = until
	}
}

// left is how long a request has to wait.
func (p *pace) left(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.until.Sub(now), 0)
}

// limits reports whether a failure is about the rate of requests.
func limits(err error) bool {
	var refused *StatusError
	return errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests
}
