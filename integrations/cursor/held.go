package cursor

import (
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// held is an event of a conversation that belongs to one of several subagents, and
// nothing says yet to which.
type held struct {
	Talk       string `json:"talk"`
	Ref        string `json:"ref"`
	Parent     string `json:"parent"`     // conversation and
	Generation string `json:"generation"` // turn of the candidates

	Run *agentkit.Anchor `json:"run,omitempty"` // its root
}

// adopt finds out whose an event of an unknown conversation is: a subagent's, or held
// until that is known. It reports false if there is nobody it could belong to.
func (r *reducer) adopt(src integrations.Source, e integrations.Event, d *data) (known bool, ops []runtypes.Op) {
	pending := slices.ContainsFunc(r.Held, func(h held) bool { return h.Talk == d.Conversation })
	another := false // subagent's than one that is known, by its file
	if !pending {
		if known, another = r.link(src, d.Conversation); known {
			return true, nil
		}
	}
	var free []*agent
	for _, a := range r.Agents {
		if a.Child == "" {
			free = append(free, a)
		}
	}
	if !pending && !another && len(free) == 1 && free[0].End == nil && len(r.Held) == 0 {
		free[0].Child = d.Conversation
		return true, nil
	}
	if len(free) > 0 && len(r.Held) < maxHeld {
		r.Held = append(r.Held, held{d.Conversation, e.Ref, free[0].Talk, free[0].Generation, free[0].above()})
		return true, nil
	}
	var open []*turn
	for _, t := range r.Turns {
		if t.End == nil && t.Talk != d.Conversation {
			open = append(open, t)
		}
	}
	switch {
	case len(open) != 1 || len(r.Held) >= maxHeld:
		return false, nil
	case open[0].Blind: // it will be found out when that is told
		open[0].keep(e.Ref)
	default: // of a subagent whose start was not heard of
		t := open[0]
		ops = r.post(src, t)
		root := agentkit.NewAnchor(r.root(src, t), t.Start, t.Generation)
		r.Held = append(r.Held, held{d.Conversation, e.Ref, t.Talk, t.Generation, root})
	}
	return true, ops
}

// keep adds an event to a blind turn, to be heard again at its end.
func (t *turn) keep(ref string) { t.Refs = append(t.Refs, ref+" ") }

// link looks a conversation up in Cursor's files: a subagent's transcript lies beside its
// parent's and begins with its task. another says that it is of a subagent whose start
// was not heard of.
func (r *reducer) link(src integrations.Source, talk string) (known, another bool) {
	if !plain(talk) {
		return false, false
	}
	for _, a := range r.Agents {
		if a.Child != "" || a.Dir == "" {
			continue
		}
		list, err := sections(src, a.Dir+talk+".jsonl")
		if err != nil || len(list) == 0 {
			continue
		}
		task := agentkit.HashText(list[0].prompt)
		var same, beside []*agent
		for _, b := range r.Agents {
			if b.Dir == a.Dir && b.Child == "" {
				beside = append(beside, b)
				if b.Hash == task {
					same = append(same, b)
				}
			}
		}
		switch {
		case len(same) > 0:
			same[0].Child = talk
		case r.unstarted(src, task):
			return false, true
		case len(beside) == 1:
			a.Child = talk
		default:
			return false, false
		}
		return true, false
	}
	return false, false
}

// unstarted reports whether a call has given a task to a subagent whose start was not
// heard of.
func (r *reducer) unstarted(src integrations.Source, task string) bool {
	waits := func(s *story) bool {
		return slices.ContainsFunc(s.calls, func(c *call) bool { return c.agent == "" && c.task == task })
	}
	return slices.ContainsFunc(r.Turns, func(t *turn) bool { return waits(t.tell(src, t.Start)) }) ||
		slices.ContainsFunc(r.Agents, func(a *agent) bool { return waits(a.tell(src, a.Start)) })
}

// plain reports whether a conversation's id may stand in a file's name.
func plain(id string) bool {
	for _, c := range []byte(id) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// settleHeld hears the events again whose subagent is known by now.
func (r *reducer) settleHeld(src integrations.Source) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	seen := map[string]bool{}
	for i := 0; i < len(r.Held); {
		h := r.Held[i]
		if !seen[h.Talk] && r.agentOf(h.Talk) == nil {
			r.link(src, h.Talk)
		}
		seen[h.Talk] = true
		a := r.agentOf(h.Talk)
		if a == nil {
			i++
			continue
		}
		r.Held = slices.Delete(r.Held, i, i+1)
		e, d, err := recall(src, h.Ref)
		if err != nil {
			continue
		}
		more, err := r.agentWork(src, a, e, d)
		ops = append(ops, more...)
		if err != nil {
			return ops, err
		}
	}
	return ops, nil
}
