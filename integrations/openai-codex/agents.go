package openaicodex

import (
	"cmp"
	"errors"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// agent is a thread that another one started: a subagent, a review, a guardian. Each
// of its turns is a subagent run, which goes out whole when the turn has ended. It may
// outlive the turn that started it, and be asked again.
type agent struct {
	Thread string    `json:"thread"`
	Path   string    `json:"path,omitempty"`
	Asks   []*ask    `json:"asks,omitempty"` // from the one that began its last turn on
	Since  time.Time `json:"since,omitzero"` // turns before are not ours
	Kind   string    `json:"kind,omitempty"`
	Name   string    `json:"name,omitempty"`

	From   int64      `json:"from,omitempty"`
	Total  *tokens    `json:"total,omitempty"`
	Open   *agentTurn `json:"open,omitempty"`
	Done   int        `json:"done,omitempty"`   // turns emitted
	Forced bool       `json:"forced,omitempty"` // the process that it was at work in is gone
}

// agentTurn is the turn that a subagent is at.
type agentTurn struct {
	ID    string  `json:"id"`
	Line  int64   `json:"line"`
	Total *tokens `json:"total,omitempty"`
}

// quiet reports whether the agent has done all it was told so far.
func (a *agent) quiet() bool { return a.Done > 0 && a.Open == nil }

// hasRoom makes room for another agent, at the cost of one that is done.
func (r *reducer) hasRoom() bool {
	if len(r.Agents) < maxAgents {
		return true
	}
	for _, id := range agentkit.SortedKeys(r.Agents) {
		if r.Agents[id].quiet() {
			delete(r.Agents, id)
			delete(r.readers, id)
			return true
		}
	}
	return false
}

// releaseAgents lets go of subagents that nothing more will be heard of.
func (r *reducer) releaseAgents(all bool) {
	for _, a := range r.Agents {
		a.Forced = a.Forced || all && !a.quiet()
	}
}

// release ends what an agent was told that it will not begin: its process is gone.
func (a *agent) release() {
	if a.Forced {
		a.Done, a.Forced = max(a.Done, 1), false
	}
}

// atWork reports whether an agent may still be heard of.
func (r *reducer) atWork() bool {
	for _, a := range r.Agents {
		if !a.Forced && !a.quiet() {
			return true
		}
	}
	return false
}

// advanceAgents emits the turns of subagents that have ended, outer ones first: an
// inner one's call is part of the outer's runs. When it comes to rest, what a dead
// process left need not wait for its call.
func (r *reducer) advanceAgents(src integrations.Source) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	var errs []error
	for again, rest := true, false; again || !rest; {
		again, rest = false, !again
		for _, id := range agentkit.SortedKeys(r.Agents) {
			a := r.Agents[id]
			if a == nil || rest && !a.Forced {
				continue // made room for another, or goes on
			}
			more, err := r.advanceAgent(src, a, rest)
			ops, errs = append(ops, more...), append(errs, err)
			again = again || len(more) > 0
			if rest && a.Forced && a.usual() == nil && len(r.Turns) == 0 && len(more) == 0 {
				delete(r.Agents, id) // nothing will ever be above it
				delete(r.readers, id)
			}
		}
	}
	return ops, errors.Join(errs...)
}

func (r *reducer) advanceAgent(src integrations.Source, a *agent, rest bool) ([]runtypes.Op, error) {
	if a.Path == "" {
		if a.Path = findRollout(src, homeOf(r.Rollout), a.Thread); a.Path == "" {
			a.release() // it never wrote one
			return nil, nil
		}
	}
	rd := r.readers[a.Thread]
	if rd == nil {
		rd = newReader(a.Path, a.From, a.Total)
		if a.Open != nil {
			rd.next, rd.total = a.Open.Line, a.Open.Total
		}
		rd.late = func(rec *record) {
			if rec.offset >= a.From {
				r.late(rec)
			}
		}
		r.readers[a.Thread] = rd
	}
	var ops []runtypes.Op
	for {
		more, err := a.read(src, rd)
		if err != nil || a.Open == nil {
			if err == nil {
				a.release() // it never began
			}
			return ops, err
		}
		s := rd.stretches[a.Open.ID]
		if s == nil || !s.over() && !a.Forced {
			return ops, nil
		}
		k := r.above(a, s, rest)
		if k == nil {
			return ops, nil
		}
		before, err := r.recall(src, a.Path, a.Open.Line)
		if err != nil {
			return ops, err
		}
		ops = append(ops, r.emitAgent(src, a, s, k, before)...)
		a.use(k)
		delete(rd.stretches, a.Open.ID)
		a.Open, a.Forced = nil, false
		a.Done++
		if !more && !s.over() {
			return ops, nil
		}
	}
}

// read goes on with the agent's rollout, up to the end of a turn: what stands behind
// it has to wait until that has gone out.
func (a *agent) read(src integrations.Source, rd *reader) (ended bool, err error) {
	if a.Open != nil {
		if s := rd.stretches[a.Open.ID]; s != nil && s.over() {
			return true, nil
		}
	}
	var next *agentTurn
	ended, err = rd.read(src, func(id string, offset int64) bool {
		switch {
		case offset < a.From:
			return a.Open != nil && a.Open.Line == offset
		case idTime(id).Before(a.Since) && !idTime(id).IsZero():
			return false
		case a.Open == nil:
			a.Open = &agentTurn{ID: id, Line: offset, Total: rd.total}
			return true
		default:
			next = &agentTurn{ID: id, Line: offset, Total: rd.total} // it cut the open one off
			return false
		}
	})
	if m := rd.meta; m != nil && a.Kind == "" {
		a.Kind, _ = m.agent()
		a.Kind = cmp.Or(a.Kind, "subagent")
		a.Name = m.name()
	}
	if next != nil { // come back to it when the open one is gone
		rd.next, rd.total, rd.current = next.Line, next.Total, ""
	}
	if rd.next > a.From {
		a.From, a.Total = rd.next, rd.total
	}
	return ended, err
}

// emitAgent builds the run of a subagent's turn and everything below it.
func (r *reducer) emitAgent(src integrations.Source, a *agent, s *stretch, k *ask, before []runtypes.Message) []runtypes.Op {
	up := k.Up
	run := runtypes.Subagent(up.Run(), r.id(up.Turn, up.Prompt, "subagent", s.id), s.start, runtypes.SubagentInfo{ID: a.Thread, Type: a.Kind})
	run.Metadata = map[string]any{}
	if a.Name != "" {
		run.Metadata[agentkit.MetaAgentName] = a.Name
	}
	prompt := s.prompt
	if prompt == nil {
		if k.Message != "" {
			prompt = &runtypes.Message{Role: "user", Content: k.Message}
		} else {
			prompt = s.typed
		}
		if prompt != nil {
			s.entries = append([]entry{{message: *prompt}}, s.entries...)
		}
	}
	if prompt != nil {
		run.Inputs = runtypes.Messages(*prompt)
	}
	end, ended := s.outcome()
	if !ended {
		end = outcome{at: cmp.Or(s.last, s.start), interrupted: true, err: "Interrupted"}
	}
	f := &family{parent: run, stretch: s, turn: up.Prompt, prefix: s.id + "/", start: up.Turn, end: end, over: true}
	r.noteAsks(s, f, new(int))
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: run}}
	ops = append(ops, r.emit(f, &progress{new(int), &marks{}, new(int), new(int64)}, before)...)
	r.leave(s, f)
	r.adopt(src, f, a.Thread, end.at)
	r.anchor(run, f)
	if text := s.answer(); text != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: text})
	}
	if end.interrupted {
		runtypes.Interrupt(run, end.at, end.err)
		return ops
	}
	run.Error = end.err
	runtypes.Finish(run, end.at)
	return ops
}
