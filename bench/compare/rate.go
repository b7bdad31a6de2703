package main

import (
	"net/http"
	"sync"
	"time"
)

// rateLimit takes so many requests in each window of time.
type rateLimit struct {
	most, retryAfter int
	window           time.Duration

	mu    sync.Mutex
	index int64
	taken int
}

func (l *rateLimit) meet(_ int, at time.Duration, _ *http.Request) reaction {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := int64(at / l.window); now != l.index {
		l.index, l.taken = now, 0
	}
	if l.taken++; l.taken > l.most {
		return reaction{status: http.StatusTooManyRequests, retryAfter: l.retryAfter}
	}
	return reaction{}
}

func (*rateLimit) judge(*server, []write) int { return 0 }
