package drain

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/google/uuid"

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
		runs := map[uuid.UUID]bool{} // which may lose their post and their patch
		for _, op := range lost {
			if reason == journal.DropRedaction || keep(state, destination, op, why) {
				runs[op.Run.ID] = true
			}
		}
		_ = state.Drop(reason, len(runs)+unnamed(why))
		log.Warn("dropped", "destination", destination, "runs", len(runs)+unnamed(why), "error", why.Error())
	}
}

// unnamed is how many runs are lost that a server did not name.
func unnamed(why error) int {
	var drop *exporter.DropError
	if errors.As(why, &drop) {
		return drop.Unnamed
	}
	return 0
}

// keep writes one letter and reports whether it is the first of its run.
func keep(state *journal.State, destination string, op runtypes.Op, why error) bool {
	wire, err := runtypes.Encode(op)
	if err != nil { // what cannot be written cannot be kept either
		return true
	}
	raw, err := json.Marshal(letter{op.Verb, why.Error(), wire})
	if err != nil {
		return true
	}
	fresh, err := state.KeepDead(destination, strings.ToLower(wire.ID), string(op.Verb), append(raw, '\n'))
	return fresh || err != nil
}
