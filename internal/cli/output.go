package cli

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// output is where a command prints to. It remembers the first failure, so that a
// report that nobody got is no success, whoever printed it. It is safe for concurrent
// use.
type output struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

// Write writes on, and nothing after a failure.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}

// failure is the first failure; nil: all was written.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// cutOff reports whether an error is that of a reader who has seen enough, such as
// head.
func cutOff(err error) bool { return errors.Is(err, syscall.EPIPE) }
