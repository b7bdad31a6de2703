package replay

import (
	"fmt"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// Entries replays what hooks left in a journal, over the recording's complete
// files: what a drainer must have delivered in the end, whatever happened to it on
// the way.
func (rec *Recording) Entries(agent *integrations.Agent, entries []journal.Entry) (Result, error) {
	p := rec.newPlayer(agent, Options{})
	p.files.showAll()
	for i, entry := range entries {
		if err := p.enter(entry); err != nil {
			return Result{}, fmt.Errorf("replay: journal entry %d (%s): %w", i+1, entry.Event, err)
		}
	}
	if err := p.finish(); err != nil {
		return Result{}, err
	}
	return Result{Runs: p.runs.final(), Ops: p.runs.ops}, nil
}
