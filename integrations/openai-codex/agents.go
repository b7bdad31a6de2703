package openaicodex

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// agent is a thread that another one started: a subagent, a review, a guardian. Each
// of its turns is a subagent run, which goes out whole when the turn has ended. It may
// outlive the turn that started it.
type agent struct {
	Thread  string           `json:"thread"`
	Path    string           `json:"path,omitempty"`
	Call    string           `json:"call,omitempty"`    // that started it
	Turn    string           `json:"turn"`              // in which it was started
	Message string           `json:"message,omitempty"` // what it was told, where its own file hides that
	Up      *agentkit.Anchor `json:"up,omitempty"`      // what it hangs under; nil: not emitted yet
	Inner   bool             `json:"inner,omitempty"`   // another agent started it
	Kind    string           `json:"kind,omitempty"`
	Name    string           `json:"name,omitempty"`

	From   int64      `json:"from,omitempty"`
	Total  *tokens    `json:"total,omitempty"`
	Open   *agentTurn `json:"open,omitempty"`
	Done   int        `json:"done,omitempty"`   // turns emitted
	Forced bool       `json:"forced,omitempty"` // its process is gone
}

// agentTurn is the turn that a subagent is at.
type agentTurn struct {
	ID    string  `json:"id"`
	Line  int64   `json:"line"`
	Total *tokens `json:"total,omitempty"`
}

// quiet reports whether the agent has done all it was told so far.
func (a *agent) quiet() bool { return a.Done > 0 && a.Open == nil }

// noteAgents takes over what a stretch says of the threads it started. One that is
// older than the turn was noted when it was new.
func (r *reducer) noteAgents(s *stretch, f *family, noted *int) {
	for ; *noted < len(s.links); *noted++ {
		l := s.links[*noted]
		made := idTime(l.thread)
		if r.Agents[l.thread] != nil || l.thread == "" || made.Before(s.made().Add(-time.Second)) || !r.hasRoom() {
			continue
		}
		r.Agents[l.thread] = &agent{
			Thread: l.thread, Call: f.prefix + l.call, Turn: f.turn, Inner: f.prefix != "",
			Message: agentkit.Clip(cmp.Or(l.message, s.told(l.call))),
		}
	}
}

// told is the message in the call that started a subagent.
func (s *stretch) told(call string) string {
	t := s.byID[call]
	if t == nil {
		return ""
	}
	return stringField(t.input, "message")
}

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

// raise gives the agents that a tool call started the run they hang under.
func (r *reducer) raise(call string, run *runtypes.Run, f *family) {
	for _, a := range r.Agents {
		if a.Up == nil && a.Call == f.prefix+call && a.Turn == f.turn {
			a.Up = agentkit.NewAnchor(run, f.start, f.turn)
		}
	}
}

// anchor notes the root of a turn that is over. Agents whose call is not known hang
// under it.
func (r *reducer) anchor(root *runtypes.Run, f *family) {
	up := agentkit.NewAnchor(root, f.start, f.turn)
	r.Roots = append(r.Roots, up)
	if len(r.Roots) > maxRoots {
		r.Roots = r.Roots[1:]
	}
	for _, a := range r.Agents {
		if a.Up == nil && a.Turn == f.turn {
			a.Up = up
		}
	}
}

// releaseAgents lets go of subagents that nothing more will be heard of.
func (r *reducer) releaseAgents(all bool) {
	for _, a := range r.Agents {
		a.Forced = a.Forced || all && !a.quiet()
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
// inner one's call is part of the outer's runs.
func (r *reducer) advanceAgents(src integrations.Source) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	var errs []error
	for again := true; again; {
		again = false
		for _, id := range agentkit.SortedKeys(r.Agents) {
			a := r.Agents[id]
			if a == nil {
				continue // made room for another
			}
			more, err := r.advanceAgent(src, a)
			ops, errs = append(ops, more...), append(errs, err)
			again = again || len(more) > 0
			if a.Forced && a.Up == nil && len(r.Turns) == 0 && len(more) == 0 {
				delete(r.Agents, id) // nothing will ever be above it
				delete(r.readers, id)
			}
		}
	}
	return ops, errors.Join(errs...)
}

func (r *reducer) advanceAgent(src integrations.Source, a *agent) ([]runtypes.Op, error) {
	if a.Path == "" {
		if a.Path = findRollout(src, homeOf(r.Rollout), a.Thread); a.Path == "" {
			a.Done += boolToInt(a.Forced) // it never wrote one
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
			if a.Forced && a.Done == 0 && err == nil {
				a.Done++ // it never began
			}
			return ops, err
		}
		s := rd.stretches[a.Open.ID]
		if s == nil || !s.over() && !a.Forced {
			return ops, nil
		}
		up := r.above(a, s)
		if up == nil {
			return ops, nil
		}
		ops = append(ops, r.emitAgent(src, a, s, up)...)
		delete(rd.stretches, a.Open.ID)
		a.Open = nil
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
func (r *reducer) emitAgent(src integrations.Source, a *agent, s *stretch, up *agentkit.Anchor) []runtypes.Op {
	run := runtypes.Subagent(up.Run(), r.id(up.Turn, up.Prompt, "subagent", s.id), s.start, runtypes.SubagentInfo{ID: a.Thread, Type: a.Kind})
	run.Metadata = map[string]any{}
	if a.Name != "" {
		run.Metadata[agentkit.MetaAgentName] = a.Name
	}
	prompt := s.prompt
	if prompt == nil {
		if a.Message != "" && a.Done == 0 {
			prompt = &runtypes.Message{Role: "user", Content: a.Message}
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
	r.noteAgents(s, f, new(int))
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: run}}
	ops = append(ops, r.emit(f, &progress{new(int), &marks{}, new(int), new(int64)}, nil)...)
	r.leave(s, f)
	r.adopt(src, f, a.Thread, end.at)
	for _, inner := range r.Agents {
		if inner.Up == nil && inner.Turn == f.turn && s.started(inner.Thread) {
			inner.Up = agentkit.NewAnchor(run, f.start, f.turn)
		}
	}
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

// above is the run that a turn of an agent hangs under: the call that started the
// agent, and of later turns the turn that told it to go on. nil: that is not over yet.
func (r *reducer) above(a *agent, s *stretch) *agentkit.Anchor {
	if a.Done == 0 || a.Inner || s.parent == "" {
		return a.Up
	}
	for _, root := range r.Roots {
		if root.Prompt == s.parent {
			return root
		}
	}
	if !a.Forced && !slices.Contains(r.Closed, s.parent) {
		return nil
	}
	return a.Up
}

func (s *stretch) started(thread string) bool {
	for _, l := range s.links {
		if l.thread == thread {
			return true
		}
	}
	return false
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
