package capture

import (
	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// greet tells the user at the start of a session that deliveries have failed for some
// time, where the agent shows such a thing to its user and not to the model. Nothing
// else would: a tracer that fails is silent.
func (h *hook) greet(event integrations.Hook, settings config.Config, state *journal.State) {
	if !event.Greets || h.owner.Notice == nil {
		return
	}
	records, _ := state.Destinations() // those that cannot be read say nothing
	for id, record := range records {
		if settings.Goes(id) && record.Late(h.started) {
			h.notice = h.owner.Notice("Tracesmith cannot deliver to " + record.Name + ": " + record.Trouble(h.started) +
				". What you do is recorded and kept for 7 days. Find out why with: tracesmith doctor")
			return
		}
	}
}
