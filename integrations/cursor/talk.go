package cursor

import (
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// talk is one conversation.
type talk struct {
	ID    string    `json:"id"`
	Count int       `json:"count,omitempty"` // turns that were traced
	Rows  int       `json:"rows,omitempty"`  // prompts of the transcript that are accounted for
	Main  bool      `json:"main,omitempty"`  // the user's own, no subagent's
	Asked bool      `json:"asked,omitempty"` // a hook told of a prompt
	Over  bool      `json:"over,omitempty"`  // its session has ended
	Begun time.Time `json:"begun,omitzero"`  // by its session's start, until a turn follows
	File  string    `json:"file,omitempty"`
	Model string    `json:"model,omitempty"` // the last label
}

// fresh reports whether the conversation may be one of print mode: no prompt was told of,
// and there was no turn.
func (c *talk) fresh() bool { return !c.Asked && !c.Over && c.Count == 0 }

// talk finds a conversation or begins it.
func (r *reducer) talk(id string) *talk {
	for i, c := range r.Talks {
		if c.ID == id {
			r.Talks = append(slices.Delete(r.Talks, i, i+1), c)
			return c
		}
	}
	c := &talk{ID: id}
	r.Talks = append(r.Talks, c)
	if len(r.Talks) > maxTalks {
		r.Talks = slices.Delete(r.Talks, 0, 1)
	}
	return c
}

// turn finds an open turn.
func (r *reducer) turn(talk, generation string) *turn {
	for _, t := range r.Turns {
		if t.Talk == talk && t.Generation == generation {
			return t
		}
	}
	return nil
}

// openIn is the last turn of a conversation that has not ended, else its last one.
func (r *reducer) openIn(talk string) *turn {
	var found *turn
	for _, t := range r.Turns {
		if t.Talk == talk && (found == nil || found.End != nil || t.End == nil) {
			found = t
		}
	}
	return found
}

// childKey is of the conversation of a subagent that was told to its end.
func childKey(talk string) string { return closedKey(talk, "subagent") }

func closedKey(talk, generation string) string {
	return agentkit.HashText(talk + " " + generation)[:12]
}
