package opencode

import (
	"errors"
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// close ends a turn with all that is open in it: because it is over, or with why it
// will not go on.
func (r *reducer) close(src integrations.Source, t *turn, why string) ([]runtypes.Op, error) {
	if !slices.Contains(r.Turns, t) {
		return nil, nil
	}
	var ops []runtypes.Op
	var errs []error
	add := func(more []runtypes.Op, err error) { ops, errs = append(ops, more...), append(errs, err) }
	if !r.bind(t) {
		above := r.busy(r.at(t.Session).Parent)
		if above != nil && why == "" {
			return nil, nil // the call that it works for may yet be seen
		}
		if above != nil {
			t.Under = above.ID
		}
	}
	for _, below := range slices.Clone(r.Turns) {
		if below.Under == t.ID || below.Under == "" && below != t && r.at(below.Session).Parent == t.Session {
			below.Under = t.ID
			reason := why
			if reason == "" && !below.over() {
				reason = "interrupted: its caller ended"
			}
			add(r.close(src, below, reason))
		}
	}
	run, err := r.top(src, t)
	if err != nil {
		return ops, errors.Join(append(errs, err)...)
	}
	if t.over() {
		why = "" // it concerns what was held below it
	}
	end, err := r.ending(src, t, why)
	errs = append(errs, err)
	posted := t.Posted || t.Kind == ""
	if t.Kind == "" {
		add(r.begin(src, t, run))
	} else {
		add(r.unpromptedRun(src, t, run))
	}
	if !posted {
		finish(run, end)
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
	}
	answer, err := r.answer(src, t) // before its line is all that is left
	errs = append(errs, err)
	reason := why
	if reason == "" {
		reason = byUser
	}
	for _, s := range slices.Clone(t.Steps) {
		add(r.emitStep(src, t, run, s, reason))
	}
	if posted {
		if answer != "" {
			run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: answer})
		}
		finish(run, end)
		ops = append(ops, runtypes.Op{Verb: runtypes.Patch, Run: run})
	}
	r.forget(t)
	return ops, errors.Join(errs...)
}

// forget drops a closed turn, and remembers that it is closed and what was said.
func (r *reducer) forget(t *turn) {
	r.Turns = slices.DeleteFunc(r.Turns, func(each *turn) bool { return each == t })
	r.Closed = newest(append(append(r.Closed, t.ID), t.Also...), maxClosed)
	if t.Idle && t.Spoken && t.Kind != shell && (t.Failure != "" || t.Aborted) {
		r.at(t.Session).Twice = true
	}
	switch {
	case t.Under != "" || t.Kind == shell:
	case t.Kind == compaction, t.Merged:
		r.History = newest(slices.Clone(t.Said), maxHistory)
	default:
		r.History = newest(append(r.History, t.Said...), maxHistory)
	}
}

func newest[T any](list []T, limit int) []T { return list[max(0, len(list)-limit):] }

// ending is how a turn ended.
type ending struct {
	at      int64
	err     string
	stopped bool
}

// ending judges a turn by its last message; before it had any, by its session's error.
func (r *reducer) ending(src integrations.Source, t *turn, why string) (ending, error) {
	e := ending{at: max(t.Ended, t.Start)}
	ref := t.Final
	incomplete := false
	for _, s := range t.Steps {
		e.at = max(e.at, s.Completed)
		incomplete = incomplete || s.Completed == 0
		if !s.Compacts {
			ref = s.Line
		}
	}
	info, err := r.info(src, ref)
	if err != nil {
		return e, err
	}
	failure := info.Error
	if ref == "" && t.Failure != "" {
		d, err := r.line(src, t.Failure)
		if err != nil {
			return e, err
		}
		if d != nil {
			failure = d.Error
		}
	}
	if incomplete || why != "" || ref == "" && t.Ended == 0 { // nothing says when it ended
		e.at = max(e.at, r.Last)
	}
	switch {
	case why != "":
		e.err, e.stopped = why, true
	case t.Aborted:
		e.err, e.stopped = byUser, true
	case failure != nil:
		e.err = failure.text()
	case incomplete, ref != "" && info.Finish == "" && t.Kind != shell:
		e.err, e.stopped = byUser, true
	case t.Idle && !t.Spoken:
		e.err, e.stopped = "interrupted before an answer", true
	}
	return e, nil
}

func finish(run *runtypes.Run, e ending) {
	if e.stopped {
		runtypes.Interrupt(run, at(e.at), e.err)
		return
	}
	run.Error = e.err
	runtypes.Finish(run, at(e.at))
}

// answer is the last that the model said in a turn.
func (r *reducer) answer(src integrations.Source, t *turn) (string, error) {
	for _, s := range slices.Backward(t.Steps) {
		parts, err := r.parts(src, s)
		if err != nil {
			return "", err
		}
		if text := lastText(parts); text != "" && !s.Compacts {
			return text, nil
		}
	}
	d, err := r.line(src, t.Answer)
	if d == nil || d.Part == nil {
		return "", err
	}
	return d.Part.Text, err
}

// unpromptedRun makes the root of a turn that no prompt began say what it is.
func (r *reducer) unpromptedRun(src integrations.Source, t *turn, run *runtypes.Run) ([]runtypes.Op, error) {
	for _, s := range t.Steps {
		info, err := r.info(src, s.Line)
		if err != nil {
			return nil, err
		}
		parts, err := r.parts(src, s)
		if err != nil {
			return nil, err
		}
		if t.Kind == compaction {
			run.Kind, run.AgentType = runtypes.KindChain, runtypes.AgentCompaction
			describe(run, info, parts, "manual")
			continue
		}
		for _, p := range parts {
			if command := agentkit.ClipJSON(agentkit.Member(p.State.Input, "command")); command != "" {
				run.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: "!" + command})
			}
			if p.State.Output != "" {
				run.Outputs = output(p.State.Output)
			}
		}
	}
	return nil, nil
}
