package drain

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// letter is a run that a destination refused for good, as it was sent.
type letter struct {
	Verb   runtypes.Verb `json:"verb"`
	Reason string        `json:"reason"`
	Run    runtypes.Wire `json:"run"`
}

// Letters returns what a destination's exporter calls for runs that will never
// arrive. Each is kept below dead/ and counted once, however often it is tried.
func Letters(state *journal.State, destination string, log *slog.Logger) func([]runtypes.Op, error) {
	return func(lost []runtypes.Op, why error) {
		reason := journal.DropRefused
		var drop *exporter.DropError
		if errors.As(why, &drop) && drop.Reason == exporter.ReasonRedaction {
			reason = journal.DropRedaction // not to be written anywhere
		}
		fresh := 0
		for _, op := range lost {
			if reason == journal.DropRedaction || keep(state, destination, op, why) {
				fresh++
			}
		}
		_ = state.Drop(reason, fresh)
		log.Warn("dropped", "destination", destination, "runs", fresh, "error", why.Error())
	}
}

// keep writes one letter and reports whether it is a new one.
func keep(state *journal.State, destination string, op runtypes.Op, why error) bool {
	wire, err := runtypes.Encode(op)
	if err != nil { // what cannot be written cannot be kept either
		return true
	}
	raw, err := json.Marshal(letter{op.Verb, why.Error(), wire})
	if err != nil {
		return true
	}
	name := strings.ToLower(wire.ID) + "-" + string(op.Verb)
	fresh, err := state.KeepDead(destination, name, append(raw, '\n'))
	return fresh || err != nil
}
