package copilot

import (
	"fmt"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxAgents bounds the subagents that a session keeps in mind.
const maxAgents = 48

// agent is a subagent: its lines stand in the session's log between the others. What it
// did at a time goes out whole when it has ended; it may outlive the turn that started it,
// and be told to go on.
type agent struct {
	ID    string           `json:"id"`
	Call  string           `json:"call"`            // that started it
	Owner string           `json:"owner,omitempty"` // the subagent that made the call; "" for the root
	Kind  string           `json:"kind,omitempty"`
	Name  string           `json:"name,omitempty"`
	Turn  string           `json:"turn"` // in which it was started
	Part  int              `json:"part"`
	Time  time.Time        `json:"time"`         // the turn's
	Up    *agentkit.Anchor `json:"up,omitempty"` // what it hangs under; nil: not emitted yet

	Busy bool  `json:"busy,omitempty"` // it is at work, or what it did has not gone out
	Line int64 `json:"line"`           // offset of the first line of that
	Done int   `json:"done,omitempty"` // how often it has ended
}

// hasRoom makes room for another subagent, at the cost of one that is done.
func (r *reducer) hasRoom() bool {
	if len(r.Agents) < maxAgents {
		return true
	}
	for _, id := range agentkit.SortedKeys(r.Agents) {
		if !r.Agents[id].Busy {
			delete(r.Agents, id)
			return true
		}
	}
	return false
}

// raise gives the subagents that a tool call started the run they hang under.
func (r *reducer) raise(f *family, call string, run *runtypes.Run) {
	for _, a := range r.Agents {
		if a.Up == nil && a.Call == call && a.Owner == f.owner && a.Turn == f.turn {
			a.Up = agentkit.NewAnchor(run, f.time, f.turn)
		}
	}
}

// anchor gives those whose call was never emitted the run of what started them.
func (r *reducer) anchor(f *family, run *runtypes.Run) {
	for _, a := range r.Agents {
		if a.Up == nil && a.Owner == f.owner && a.Turn == f.turn && (f.owner != "" || a.Part == f.part) {
			a.Up = agentkit.NewAnchor(run, f.time, f.turn)
		}
	}
}

// advanceAgents emits what subagents did that have ended, outer ones first: the call of
// an inner one is part of the outer's runs. dead says that none of them goes on.
func (r *reducer) advanceAgents(dead bool) []runtypes.Op {
	var ops []runtypes.Op
	for again := true; again; {
		again = false
		for _, id := range agentkit.SortedKeys(r.Agents) {
			a, s := r.Agents[id], r.reader.agents[id]
			if !a.Busy || s == nil || !s.over() && !dead {
				continue
			}
			if a.Up == nil {
				if dead && r.Turn == nil && !r.ownerBusy(a) { // nothing will ever be above it
					delete(r.Agents, id)
				}
				continue
			}
			if dead {
				s.settle()
			}
			ops = append(ops, r.emitAgent(a, s, dead)...)
			delete(r.reader.agents, id)
			a.Busy, again = false, true
			a.Done++
		}
	}
	return ops
}

func (r *reducer) ownerBusy(a *agent) bool {
	o := r.Agents[a.Owner]
	return o != nil && o != a && o.Busy
}

// emitAgent builds the run of a subagent and everything below it.
func (r *reducer) emitAgent(a *agent, s *stretch, dead bool) []runtypes.Op {
	native := a.ID
	if a.Done > 0 {
		native = fmt.Sprintf("%s#%d", a.ID, a.Done+1)
	}
	run := runtypes.Subagent(a.Up.Run(), r.id(a.Time, a.Turn, "subagent", native), s.start, runtypes.SubagentInfo{ID: a.ID, Type: a.Kind})
	run.Metadata = map[string]any{}
	if a.Name != "" {
		run.Metadata[agentkit.MetaAgentName] = a.Name
	}
	if s.assume(); s.prompt != nil {
		run.Inputs = runtypes.Messages(*s.prompt)
	}
	end := s.outcome(dead)
	f := &family{parent: run, stretch: s, turn: a.Turn, part: a.Part, owner: a.ID, prefix: native + "/", time: a.Time, end: end, over: true}
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: run}}
	ops = append(ops, r.emit(f, &progress{new(int), &marks{}, new(int), new(int64)}, nil)...)
	r.anchor(f, run)
	finish(run, s, end)
	return ops
}
