package agentkit

import (
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Anchor is a run that others hang under later, as far as it takes to build
// children: small enough for a checkpoint.
type Anchor struct {
	ID     uuid.UUID          `json:"id"`
	Trace  uuid.UUID          `json:"trace"`
	Order  string             `json:"order"`
	Start  time.Time          `json:"start"`
	End    time.Time          `json:"end,omitzero"` // if it had ended when it was remembered
	Agent  runtypes.AgentType `json:"agent,omitempty"`
	Who    runtypes.Identity  `json:"who"`
	Turn   time.Time          `json:"turn"` // the ids' time
	Prompt string             `json:"prompt"`
}

// NewAnchor remembers a run of the turn that began at start.
func NewAnchor(run *runtypes.Run, start time.Time, prompt string) *Anchor {
	return &Anchor{
		ID: run.ID, Trace: run.TraceID, Order: run.DottedOrder, Start: run.Start, End: run.End,
		Agent: run.AgentType, Who: run.Identity, Turn: start, Prompt: prompt,
	}
}

// Run is the anchor as a parent for the builders of runtypes.
func (a *Anchor) Run() *runtypes.Run {
	return &runtypes.Run{
		ID: a.ID, TraceID: a.Trace, DottedOrder: a.Order, Start: a.Start, AgentType: a.Agent, Identity: a.Who,
	}
}
