package cursor

import (
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// assure notes that no event is left which tells how the turns before this one ended, or
// the subagents that its answer was waiting for. Since each hook is a process of its own,
// one may come that the next has overtaken. That of a subagent that no event ended is waited
// for until nothing comes.
func (r *reducer) assure(c *talk, e integrations.Event, d *data) {
	for _, a := range r.Agents {
		switch e.Kind {
		case "afterAgentResponse", "stop", "beforeSubmitPrompt", "sessionEnd":
			a.Sure = a.Sure || a.End != nil && !a.End.Quiet && a.Talk == c.ID
		}
	}
	for _, t := range r.Turns {
		if d.Generation == "" || t.Talk == c.ID && t.Generation == d.Generation || slices.Contains(r.Closed, closedKey(c.ID, d.Generation)) {
			return // what comes of a turn says nothing of those after it
		}
		if t.Talk != c.ID || t.End == nil {
			continue
		}
		border := e.Kind == "beforeSubmitPrompt" || e.Kind == "stop"
		t.Sure = t.Sure || !t.End.Quiet || !border
	}
}

// late reports whether an event tells of the end of a tool whose subagent was told to its
// end already. One that is told to go on begins with another call.
func (r *reducer) late(c *talk, e integrations.Event) bool {
	return strings.HasPrefix(e.Kind, "postToolUse") && slices.Contains(r.Closed, childKey(c.ID)) &&
		!slices.ContainsFunc(r.Held, func(h held) bool { return h.Talk == c.ID })
}
