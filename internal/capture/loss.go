package capture

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// Reasons for a loss, beside those of package journal.
const (
	reasonAgent   = "unknown_agent"
	reasonForeign = "another_agents" // that runs this one's hooks and has none of its own
	reasonIdle    = "idle"           // no loss: the agent has no use for the event
	reasonNoInput = "no_input"
	reasonTimeout = "hook_timeout"
	reasonPanic   = "hook_panic"
	reasonState   = "state_unwritable"
	reasonConfig  = "config_unreadable" // nothing is lost, but the settings are not what the user wrote
	reasonSpawn   = "drainer_not_started"
	reasonPipe    = "pipe_full" // a shim could not get rid of its lines fast enough
)

// loss is why an event is not, or not fully, on its way. err may go to the log:
// it never stems from the payload, whose decoding errors can quote it.
type loss struct {
	reason string
	err    error
	n      int // how many events were lost; 0: one
}

func panicked(r any) *loss {
	// The value that was thrown may hold content; its type says enough.
	return &loss{reason: reasonPanic, err: fmt.Errorf("%T", r)}
}

func appendLoss(err error) *loss {
	switch {
	case errors.Is(err, journal.ErrTooLong):
		return &loss{reason: journal.DropTooLarge}
	case errors.Is(err, journal.ErrFull):
		return &loss{reason: journal.DropFull}
	}
	return &loss{reason: reasonState, err: err}
}

// lost counts a loss with what is known of its event.
func (h *hook) lost(l *loss) {
	var attrs []any
	if h.event != "" {
		attrs = append(attrs, slog.String("event", h.event))
	}
	if len(h.body) > 0 {
		attrs = append(attrs, slog.Int("bytes", len(h.body)))
	}
	h.record(l, attrs...)
}

// record counts a loss and logs one line. Where the state cannot be written there
// is nothing left to do: status will find that out by itself.
func (h *hook) record(l *loss, attrs ...any) {
	state, err := h.state()
	if err != nil {
		return
	}
	_ = state.Drop(l.reason, max(1, l.n))
	if h.stream != nil && !h.stream.mayLog(l.reason) {
		return
	}
	log, file, err := state.Log()
	if err != nil {
		return
	}
	defer file.Close()
	attrs = append(attrs, slog.String("reason", l.reason))
	if h.agent != nil {
		attrs = append(attrs, slog.String("agent", h.agent.Name))
	}
	if l.err != nil {
		attrs = append(attrs, slog.String("error", l.err.Error()))
	}
	log.Warn("hook", attrs...)
}
