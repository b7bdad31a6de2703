package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
)

// A prompt that is typed while a turn runs sends its hook with that turn's id. If the
// turn ends without it, it begins a turn of its own, and no hook says so: the first one
// that names that turn is its Stop, which an interrupted turn does not have.

// idle reports whether an event shows that all turns before it are over.
func (r *reducer) idle(e integrations.Event, d *data) bool {
	switch e.Kind {
	case "SessionEnd":
		return true
	case "SessionStart":
		return d.Source != "compact"
	}
	return d.Agent == "" && d.Prompt != "" && !r.knows(d.Prompt)
}

// knows reports whether a turn is open, or was closed.
func (r *reducer) knows(prompt string) bool {
	return slices.Contains(r.Closed, prompt) ||
		slices.ContainsFunc(r.Turns, func(t *turn) bool { return t.Prompt == prompt })
}

// dequeue begins the turns of queued prompts that stand before that of the next turn.
// Others that no hook told of stay untold: nothing says that they may be traced.
func (r *reducer) dequeue(src integrations.Source, next string) error {
	if !r.Queued {
		return nil
	}
	for raw, err := range src.Lines(r.Transcript, r.From) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claudecode: transcript: %w", err)
		}
		l, ok := parseLine(raw.Data)
		switch {
		case !ok || !l.startsTurn():
		case l.PromptID == next:
			return nil
		case l.queued() && !r.knows(l.PromptID):
			r.Turns = append(r.Turns, &turn{Prompt: l.PromptID, Line: -1, First: l.Timestamp})
		}
	}
	return nil
}
