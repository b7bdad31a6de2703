package exporter

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

var (
	// ErrQueueFull is Submit's answer when the queue holds Config.QueueBytes.
	ErrQueueFull = errors.New("exporter: queue full")
	// ErrShutdown is the answer of a Batcher that was shut down.
	ErrShutdown = errors.New("exporter: shut down")
	// ErrUnauthorized matches a 401: the key is missing, wrong or revoked.
	ErrUnauthorized = errors.New("exporter: unauthorized")
	// ErrForbidden matches a 403: the key may not write there, the workspace is
	// missing, or the plan's limit is reached.
	ErrForbidden = errors.New("exporter: forbidden")
)

// StatusError is an answer that refuses a request. It matches ErrUnauthorized or
// ErrForbidden where that is what the status says.
type StatusError struct {
	Status int
	Path   string // of the request, below the endpoint
	// Message is the server's own explanation, cut short. It may quote content
	// and is left out of Error.
	Message string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("exporter: %s: status %d", e.Path, e.Status)
}

// Is matches the sentinels that stand for a status.
func (e *StatusError) Is(target error) bool {
	return target == ErrUnauthorized && e.Status == http.StatusUnauthorized ||
		target == ErrForbidden && e.Status == http.StatusForbidden
}

// TemporaryError says that a request did not get through although it was tried
// for as long as Config.MaxElapsed allows. The same ops may be exported later.
type TemporaryError struct {
	RetryAfter time.Duration // the server's wish, 0 if it had none
	Err        error         // what the last attempt ran into
}

func (e *TemporaryError) Error() string {
	return fmt.Sprintf("exporter: not delivered for now: %v", e.Err)
}

func (e *TemporaryError) Unwrap() error { return e.Err }

// Reason says why an op was dropped.
type Reason string

// The reasons for a drop.
const (
	ReasonInvalid     Reason = "invalid"      // the op cannot be written: a *runtypes.FieldError says why
	ReasonRedaction   Reason = "redaction"    // redaction failed or panicked
	ReasonRejected    Reason = "rejected"     // the server refused it alone: a *StatusError says how
	ReasonTooLarge    Reason = "too large"    // refused for its size even when shortened
	ReasonQueueFull   Reason = "queue full"   // Batcher: ErrQueueFull
	ReasonShutdown    Reason = "shutdown"     // Batcher: submitted after Shutdown, or its deadline passed
	ReasonUndelivered Reason = "undelivered"  // Batcher: Export gave it back
	ReasonPanic       Reason = "sender panic" // Batcher: a fault in the sender
)

// DropError says why ops will not arrive.
type DropError struct {
	Reason   Reason
	Err      error
	Endpoint string // where the ops were to go
	Unnamed  int    // ops that are lost beside those that are named: the server did not say which
}

func (e *DropError) Error() string {
	return fmt.Sprintf("exporter: dropped: %s: %v", e.Reason, e.Err)
}

func (e *DropError) Unwrap() error { return e.Err }

// redactionError keeps what a redaction says out of logs: it may quote what it
// failed on.
type redactionError struct{ err error }

func (e *redactionError) Error() string { return fmt.Sprintf("%T", e.err) }
func (e *redactionError) Unwrap() error { return e.err }
