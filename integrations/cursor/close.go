package cursor

import (
	"cmp"
	"slices"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// advance tells to its end what is over. Subagents go first: their conversations may
// only be known by then.
func (r *reducer) advance(src integrations.Source) ([]runtypes.Op, error) {
	r.More = false
	ops, err := r.settleHeld(src)
	for again := true; again && err == nil && !r.More; {
		again = false
		for _, a := range slices.Clone(r.Agents) {
			if a.End == nil || r.More || !r.agentReady(src, a) {
				continue
			}
			ops, again = append(ops, r.closeAgent(src, a)...), true
		}
		for _, t := range slices.Clone(r.Turns) {
			if t.End == nil || r.More || !r.turnReady(src, t) {
				continue
			}
			var more []runtypes.Op
			more, err = r.closeTurn(src, t)
			ops, again = append(ops, more...), true
			if err != nil {
				break
			}
		}
	}
	return append(ops, r.dropHeld(src)...), err
}

// turnReady reports whether what is to be known of an ended turn is: Cursor's own file
// may lag behind. Turns of a conversation go in order, for their places in the file.
func (r *reducer) turnReady(src integrations.Source, t *turn) bool {
	for _, before := range r.Turns {
		if before == t {
			break
		}
		if before.Talk == t.Talk && before.End != nil {
			return false
		}
	}
	switch {
	case t.Idle || t.Closing:
		return true
	case t.Sure:
	case t.End.Quiet && t.End.Ref == "", t.tell(src, t.Start).running(): // the event that says so may be on its way
		return false
	case t.End.Status == "aborted": // and so may the last call of a tool, which nothing else tells of
		return false
	}
	s, _ := r.section(src, t)
	if t.End.Status == "error" && t.End.Text == "" && !t.Sure && (s == nil || s.err == "") {
		return false // the session's end may say which
	}
	return r.talk(t.Talk).File == "" || s != nil && s.whole
}

// section is the part of the transcript that is the turn's, with all parts.
func (r *reducer) section(src integrations.Source, t *turn) (*section, []*section) {
	c := r.talk(t.Talk)
	list, err := sections(src, c.File)
	if err != nil || len(list) == 0 {
		return nil, nil
	}
	if t.Row > 0 {
		if t.Row > len(list) {
			return nil, nil
		}
		return list[t.Row-1], list
	}
	if t.Closing {
		return nil, nil
	}
	var tools []string
	for _, call := range t.tell(src, t.Start).calls {
		tools = append(tools, call.name)
	}
	return pick(list, c.Rows, t.Hash, tools, t.End, t.Replaced), list
}

// closeTurn emits what is left of a turn: its model calls, and its root's end.
func (r *reducer) closeTurn(src integrations.Source, t *turn) ([]runtypes.Op, error) {
	if !t.Closing && t.Replaced && !t.Posted && len(t.Refs) <= 1 && t.End.Quiet {
		r.forget(t) // another model was asked at once: nothing happened in this one
		return nil, nil
	}
	s, list := r.section(src, t)
	if t.Silent && (s == nil || s.index+1 < len(list)) {
		r.forget(t) // the session came to its end without a turn of its own
		return nil, nil
	}
	if s != nil && t.Row == 0 {
		t.Row = s.index + 1
		c := r.talk(t.Talk)
		c.Rows = max(c.Rows, t.Row)
	}
	ops, err := r.reveal(src, t, s)
	if err != nil {
		return ops, err
	}
	told := t.tell(src, t.Start)
	told.finishWith(src, s, t.End)
	if told.model.Model == "" {
		told.model.Model = r.talk(t.Talk).Model
	}
	ops = append(ops, r.post(src, t)...)
	f := r.familyOf(src, t)
	if !t.Closing {
		t.Closing = true
		for _, c := range told.calls {
			if !c.ended && c.agent == "" {
				ops = append(ops, r.endTool(src, f, c, t.End))
			}
		}
		ops = append(ops, r.compactions(src, f, told)...)
	}
	b := r.book(src, f, told, t.End, promptOf(src, t.First, "beforeSubmitPrompt", s))
	if r.options.Inputs == integrations.InputsThread && s != nil {
		b.before = messages(list, s.index)
	}
	ops = append(ops, b.calls(&t.scope, sizeOf(ops))...)
	if b.more {
		r.More = true
		return ops, nil
	}
	root := r.root(src, t)
	show(src, root, t)
	r.endRoot(root, t, told, b)
	r.forget(t)
	return append(ops, runtypes.Op{Verb: runtypes.Patch, Run: root}), nil
}

// reveal hears the events of a blind turn again, now that its prompt can be known.
func (r *reducer) reveal(src integrations.Source, t *turn, s *section) ([]runtypes.Op, error) {
	if !t.Blind {
		return nil, nil
	}
	refs, end := t.Refs, t.End
	t.Blind, t.Refs, t.story, t.End = false, nil, nil, nil
	ops := r.postWith(src, t, s)
	for _, each := range refs {
		e, d, err := recall(src, refOf(each))
		if err != nil {
			continue
		}
		more, err := r.hear(src, e, d)
		ops = append(ops, more...)
		if err != nil {
			return ops, err
		}
	}
	t.End = end
	if end.Quiet || end.Status != "completed" { // what it started ended with it
		for _, a := range r.Agents {
			if a.Talk == t.Talk && a.Generation == t.Generation && a.End == nil {
				a.lose("The session ended before the subagent did")
			}
		}
	}
	return ops, nil
}

// forget takes a turn out of the open ones.
func (r *reducer) forget(t *turn) {
	r.Turns = slices.DeleteFunc(r.Turns, func(each *turn) bool { return each == t })
	r.close(closedKey(t.Talk, t.Generation))
}

// close remembers what was told to its end.
func (r *reducer) close(key string) {
	r.Closed = append(r.Closed, key)
	if over := len(r.Closed) - maxClosed; over > 0 {
		r.Closed = slices.Delete(r.Closed, 0, over)
	}
}

// agentReady reports whether what is to be known of an ended subagent is.
func (r *reducer) agentReady(src integrations.Source, a *agent) bool {
	if a.Child == "" && a.Dir != "" && len(r.Held) == 0 {
		r.childless(src, a)
	}
	switch {
	case a.Idle || a.Told > 0:
		return true
	case !a.Sure && (a.End.Quiet || a.tell(src, a.Start).running()): // the event that says so may be on its way
		return false
	case a.Child == "" && len(r.Held) > 0:
		return false
	case a.file() == "":
		return a.Dir == ""
	}
	list, err := sections(src, a.file())
	return err == nil && len(list) > 0 && list[len(list)-1].whole
}

// childless finds the transcript of a subagent that used no tools.
func (r *reducer) childless(src integrations.Source, a *agent) {
	files, err := src.Glob(a.Dir + "*.jsonl")
	if err != nil || a.File != "" {
		return
	}
	for _, file := range files {
		id := file[len(a.Dir):]
		id = id[:len(id)-len(".jsonl")]
		if r.agentOf(id) != nil {
			continue
		}
		list, err := sections(src, file)
		if err == nil && len(list) > 0 && agentkit.HashText(list[0].prompt) == a.Hash {
			a.Child = id
			return
		}
	}
}

// closeAgent emits what is left of a subagent, and ends its run and its call's.
func (r *reducer) closeAgent(src integrations.Source, a *agent) []runtypes.Op {
	var s *section
	if list, err := sections(src, a.file()); err == nil && len(list) > 0 {
		s = list[len(list)-1]
	}
	told := a.tell(src, a.Start)
	told.finishWith(src, s, a.End)
	f := a.family()
	var ops []runtypes.Op
	if !a.Closing {
		a.Closing = true
		for _, c := range told.calls {
			if !c.ended && c.agent == "" {
				ops = append(ops, r.endTool(src, f, c, a.End))
			}
		}
	}
	if told.model.Model == "" && told.model.ModelID == "" {
		if _, d, err := recall(src, a.Begin); err == nil {
			told.model = data{Model: cmp.Or(d.AgentModel, d.Model), ModelID: d.ModelID, Params: d.Params}
		}
	}
	task := a.task(src)
	if s != nil && task == "" {
		task = s.prompt
	}
	b := r.book(src, f, told, a.End, task)
	ops = append(ops, b.calls(&a.scope, sizeOf(ops))...)
	if b.more {
		r.More = true
		return ops
	}
	ops = append(ops, a.end(src, b.last)...)
	r.Agents = slices.DeleteFunc(r.Agents, func(each *agent) bool { return each == a })
	r.close(closedKey("", a.ID))
	if a.Child != "" {
		r.close(childKey(a.Child))
	}
	return ops
}

// dropHeld gives the tools whose subagent cannot be known to the turn that started it,
// once no subagent is left that they could belong to and the turn is over.
func (r *reducer) dropHeld(src integrations.Source) []runtypes.Op {
	if len(r.Held) == 0 || slices.ContainsFunc(r.Agents, func(a *agent) bool { return a.Child == "" }) {
		return nil
	}
	var ops []runtypes.Op
	stories := map[string]*story{}
	r.Held = slices.DeleteFunc(r.Held, func(h held) bool {
		if t := r.turn(h.Parent, h.Generation); t != nil && t.End == nil {
			return false
		}
		e, d, err := recall(src, h.Ref)
		if err != nil || h.Run == nil {
			return true
		}
		if stories[h.Talk] == nil {
			stories[h.Talk] = &story{ready: e.At}
		}
		if c, _ := stories[h.Talk].add(e, d, ""); c != nil {
			ops = append(ops, r.unresolved(src, h, c, nil))
		}
		stories[h.Talk].last = h
		return true
	})
	for _, talk := range agentkit.SortedKeys(stories) {
		for _, c := range stories[talk].calls {
			if !c.ended {
				never := &ending{At: c.start, Status: "Cursor never told of the call's end", Quiet: true}
				ops = append(ops, r.unresolved(src, stories[talk].last, c, never))
			}
		}
	}
	return ops
}

// unresolved builds the run of a tool of nobody knows which subagent.
func (r *reducer) unresolved(src integrations.Source, h held, c *call, over *ending) runtypes.Op {
	f := &family{parent: h.Run.Run(), start: h.Run.Turn, talk: h.Parent, turn: h.Generation, prefix: h.Talk + "/"}
	op := r.endTool(src, f, c, over)
	op.Run.Metadata[metaUnresolved] = true
	return op
}

func sizeOf(ops []runtypes.Op) int {
	n := 0
	for _, op := range ops {
		n += len(op.Run.Inputs) + len(op.Run.Outputs)
	}
	return n
}
