package opencode

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// metaRetries is how often a request was made again, on llm runs; metaRetryReason why,
// the last time.
const (
	metaRetries     = "retries"
	metaRetryReason = "retry_reason"
)

// id derives the id of a run: all those of a trace have the time and the name of the
// prompt that began it.
func (r *reducer) id(root *turn, kind, native string) uuid.UUID {
	return idgen.Run(at(root.Start), Name, r.Thread, root.ID, kind, native)
}

// root is the turn whose trace a turn is in.
func (r *reducer) root(t *turn) *turn {
	for range 32 {
		if t.Under == "" {
			break
		}
		above := r.turn(t.Under)
		if above == nil {
			break
		}
		t = above
	}
	return t
}

// bind finds the open call that a subagent's turn is the work of. A session may be
// given work more than once: the call that is open now is the one.
func (r *reducer) bind(t *turn) bool {
	if t.Under != "" || r.at(t.Session).Parent == "" {
		return true
	}
	for _, above := range r.Turns {
		for _, s := range above.Steps {
			for _, x := range s.Pieces {
				if x.Child == t.Session && (!x.Over || x.Apart) && x.Begun > 0 && above != t {
					t.Under, t.Call, t.Begun, t.Apart = above.ID, x.ID, x.Begun, x.Apart
					return true
				}
			}
		}
	}
	return false
}

// top is the run of a turn as it is when pending, and what it hangs under.
func (r *reducer) top(src integrations.Source, t *turn) (*runtypes.Run, error) {
	if above := r.turn(t.Under); t.Under != "" && above != nil {
		return r.subagent(src, t, above)
	}
	who := runtypes.Identity{
		Integration: Name, Runtime: runtimeName, RuntimeVersion: t.Version,
		ThreadID: r.Thread, TurnID: t.ID, TurnNumber: t.Number,
		Repo:             runtypes.Repo{Branch: t.Branch, SHA: t.SHA},
		WorkingDirectory: t.CWD,
	}
	run := agentkit.Top(t.Above, r.id(t, "root", t.ID), at(t.Start), who)
	d, err := r.line(src, t.Prompt)
	if d != nil && len(d.Parts) > 0 {
		run.Inputs = runtypes.Messages(prompted(d.Parts))
	}
	if t.Kind == shell {
		run.Metadata = map[string]any{agentkit.MetaOrigin: shell}
	}
	return run, err
}

// subagent is the run of a turn in a subagent's session, under the call that asked for
// it.
func (r *reducer) subagent(src integrations.Source, t, above *turn) (*runtypes.Run, error) {
	parent, err := r.top(src, above)
	if err != nil {
		return nil, err
	}
	root := r.root(t)
	if t.Call != "" {
		parent = runtypes.Tool(parent, r.id(root, "tool", t.Call), at(t.Begun), "task")
	}
	kind := t.Agent
	if kind == "" {
		kind = "general"
	}
	run := runtypes.Subagent(parent, r.id(root, "subagent", t.ID), at(t.Start), runtypes.SubagentInfo{ID: t.Session, Type: kind})
	d, err := r.line(src, t.Prompt)
	if d != nil && len(d.Parts) > 0 {
		run.Inputs = runtypes.Messages(prompted(d.Parts))
	}
	return run, err
}

// emit returns what of a turn has become final.
func (r *reducer) emit(src integrations.Source, t *turn) ([]runtypes.Op, error) {
	if !r.bind(t) || t.Kind != "" {
		return nil, nil // it is posted when it is closed
	}
	run, err := r.top(src, t)
	if err != nil {
		return nil, err
	}
	ops, err := r.begin(src, t, run)
	if err != nil {
		return ops, err
	}
	for _, s := range slices.Clone(t.Steps) {
		more, err := r.emitStep(src, t, run, s, "")
		ops = append(ops, more...)
		if err != nil {
			return ops, err
		}
	}
	return ops, nil
}

// begin posts the run of a turn, after that of the call which it hangs under.
func (r *reducer) begin(src integrations.Source, t *turn, run *runtypes.Run) ([]runtypes.Op, error) {
	if t.Posted {
		return nil, nil
	}
	var ops []runtypes.Op
	if above := r.turn(t.Under); t.Under != "" && above != nil {
		parent, err := r.top(src, above)
		if err != nil {
			return nil, err
		}
		if ops, err = r.begin(src, above, parent); err != nil {
			return nil, err
		}
		for _, s := range above.Steps {
			for _, x := range s.Pieces {
				if x.ID != t.Call || x.Sent != unsent {
					continue
				}
				tool, err := r.tool(src, above, parent, x)
				if err != nil {
					return nil, err
				}
				x.Sent = pending
				ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: tool})
			}
		}
	}
	t.Posted = true
	first := *run
	return append(ops, runtypes.Op{Verb: runtypes.Post, Run: &first}), nil
}

// emitStep returns what of a step is final: its tools as they end, its call of the model
// when the message is complete. With a reason to stop, all of it.
func (r *reducer) emitStep(src integrations.Source, t *turn, parent *runtypes.Run, s *step, why string) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	if !s.Sent && (s.Completed > 0 || why != "") {
		more, err := r.call(src, t, parent, s, why)
		if err != nil {
			return ops, err
		}
		ops = append(ops, more...)
		s.Sent = true
	}
	open := false
	for _, x := range s.Pieces {
		if x.Type != "tool" || x.Sent == complete {
			continue
		}
		if !x.Over && why == "" {
			open = true
			continue
		}
		run, err := r.tool(src, t, parent, x)
		if err != nil {
			return ops, err
		}
		if !x.Over {
			runtypes.Interrupt(run, at(r.Last), why)
		}
		verb := runtypes.Post
		if x.Sent == pending {
			verb = runtypes.Patch
		}
		x.Sent = complete
		ops = append(ops, runtypes.Op{Verb: verb, Run: run})
	}
	if s.Sent && !open {
		t.retire(s)
	}
	return ops, nil
}

// retire forgets a step all of which is out, but for the lines of what was said.
func (t *turn) retire(s *step) {
	i := slices.Index(t.Steps, s)
	if i != 0 {
		return // in their order
	}
	t.Steps = t.Steps[1:]
	t.Retired = newest(append(t.Retired, s.ID), maxRetired)
	if s.Completed > t.Ended {
		t.Ended = s.Completed
	}
	if s.Compacts {
		t.Said, t.Merged = s.lines(), true // instead of what it sums up
		return
	}
	if len(t.Said) == 0 && t.Prompt != "" {
		t.Said = []string{t.Prompt}
	}
	t.Said = append(t.Said, s.lines()...)
	t.Final = s.Line
	for _, x := range s.Pieces {
		if x.Type == "text" {
			t.Answer = x.Line
		}
	}
}
