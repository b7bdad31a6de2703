package agentkit

import (
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Top builds the run of a turn: a root or, where parent is a dotted order, a child of
// the run that started the agent.
func Top(parent string, id uuid.UUID, start time.Time, who runtypes.Identity) *runtypes.Run {
	if parent != "" {
		if p, err := runtypes.ParseParent(parent); err == nil {
			return runtypes.Join(p, id, start, who)
		}
	}
	return runtypes.Root(id, start, who)
}
