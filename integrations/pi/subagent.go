package pi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// link is the tool call that a subagent works for.
type link struct {
	Under *agentkit.Anchor `json:"under"` // the call's run, or the turn's where no call fits
	Base  time.Time        `json:"base"`  // the ids' time
	Key   string           `json:"key"`   // of the thread's turn in ids
	Of    string           `json:"of,omitempty"`
	Call  string           `json:"call"`
	Index int              `json:"index,omitempty"` // of the call's subagents
	Agent string           `json:"agent"`
}

// native names the subagent: by its call, since that is what every way to this history
// knows.
func (l *link) native() string { return fmt.Sprintf("%s/%d", l.Call, l.Index) }

// prefix sets the native ids of its n-th turn apart from others'.
func (l *link) prefix(n int) string {
	if n > 1 {
		return fmt.Sprintf("%s%s#%d:", l.Of, l.native(), n)
	}
	return l.Of + l.native() + ":"
}

// subagent builds the run of one of its turns.
func (l *link) subagent(t *turn) *runtypes.Run {
	run := runtypes.Subagent(l.Under.Run(), t.id("subagent", ""), t.Start, runtypes.SubagentInfo{ID: l.Of + l.native(), Type: l.Agent})
	run.Metadata = map[string]any{}
	return run
}

// task is what a call asks of a subagent.
type task struct {
	Agent string `json:"agent"`
	Task  string `json:"task"`
}

// tasks reads what a call asks, in the order its results will have.
func tasks(args json.RawMessage) []task {
	var in struct {
		task
		Tasks []task `json:"tasks"`
		Chain []task `json:"chain"`
	}
	if json.Unmarshal(args, &in) != nil {
		return nil
	}
	switch {
	case len(in.Tasks) > 0:
		return in.Tasks
	case len(in.Chain) > 0:
		return in.Chain
	case in.Task != "":
		return []task{in.task}
	}
	return nil
}

// is reports whether a prompt is the task. The one before may be quoted in it.
func (t task) is(prompt string) bool {
	head, tail, quotes := strings.Cut(t.Task, "{previous}")
	if !quotes {
		return prompt == t.Task
	}
	tail, _, _ = strings.Cut(tail, "{previous}")
	return strings.HasPrefix(prompt, head) && strings.Contains(prompt[len(head):], tail)
}

// link finds what a process that another Pi started works for, by its first prompt: the
// call that asks for that task; else one that has the prompt in its arguments; else the
// only call that can have started a process; else the turn.
func (h *hearing) link(prompt string) {
	a := h.a
	if a.Parent == "" || a.Link != nil {
		return
	}
	by := h.r.Actors[a.Parent]
	if by == nil || by.Turn == nil || !by.Turn.Begun {
		return // nothing is known to have asked for it: a thread of its own
	}
	on, t := h.on(by), by.Turn
	id, index, name := on.asked(t, strings.TrimPrefix(prompt, "Task: "))
	l := &link{Base: t.Base, Key: t.Key, Of: t.Prefix, Call: id, Index: index, Agent: name}
	if id == "" {
		l.Call = a.Session
		l.Under = agentkit.NewAnchor(h.r.top(by, t), t.Base, t.Key)
	} else {
		l.Call = t.native(id)
		t.Tools[id].Taken = append(t.Tools[id].Taken, index)
		l.Under = agentkit.NewAnchor(on.toolTop(t, id), t.Base, t.Key)
	}
	if l.Agent == "" {
		l.Agent = Name
	}
	a.Link = l
	h.ops = append(h.ops, on.ops...)
}

// asked finds the open call that asked for a task, and the task's place in it.
func (h *hearing) asked(t *turn, prompt string) (id string, index int, name string) {
	ids := agentkit.SortedKeys(t.Tools)
	all := map[string]json.RawMessage{}
	for _, id := range ids {
		all[id] = h.args(t.Tools[id].Args, id)
		for i, each := range tasks(all[id]) {
			if each.is(prompt) && !slices.Contains(t.Tools[id].Taken, i) {
				return id, i, each.Agent
			}
		}
	}
	var able []string
	for _, id := range ids {
		if prompt != "" && holds(all[id], prompt) {
			return id, t.Tools[id].free(), nameOf(all[id])
		}
		if !slices.Contains([]string{"read", "edit", "write", "grep", "find", "ls"}, t.Tools[id].Name) {
			able = append(able, id)
		}
	}
	if len(able) == 1 {
		return able[0], t.Tools[able[0]].free(), nameOf(all[able[0]])
	}
	return "", 0, ""
}

// free is the first place that no subagent has.
func (t *tool) free() int {
	for i := 0; ; i++ {
		if !slices.Contains(t.Taken, i) {
			return i
		}
	}
}

// nameOf is the agent that a call asks for, if it says so.
func nameOf(args json.RawMessage) string {
	if list := tasks(args); len(list) > 0 {
		return list[0].Agent
	}
	var in task
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	return in.Agent
}

// holds reports whether a text stands in one of the strings of a JSON value.
func holds(raw json.RawMessage, text string) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	return within(v, text)
}

func within(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		return slices.ContainsFunc(v, func(each any) bool { return within(each, text) })
	case map[string]any:
		for _, each := range v {
			if within(each, text) {
				return true
			}
		}
	}
	return false
}

// retell tells of the subagents of a call that sent no stream of their own, out of what
// the call's result repeats.
func (h *hearing) retell(t *turn, id string, children []child) {
	call := t.Tools[id]
	for i, c := range children {
		if len(c.Messages) == 0 || slices.Contains(call.Taken, i) {
			continue
		}
		run := h.toolTop(t, id)
		a := &actor{
			Session: h.a.Session, Parent: h.a.Session, CWD: h.a.CWD,
			Link: &link{
				Under: agentkit.NewAnchor(run, t.Base, t.Key), Base: t.Base, Key: t.Key, Of: t.Prefix,
				Call: t.native(id), Index: i, Agent: c.Agent,
			},
		}
		if a.Link.Agent == "" {
			a.Link.Agent = Name
		}
		inner := h.on(a)
		inner.past = true
		for j, raw := range c.Messages {
			m := parseMessage(raw)
			if m == nil {
				continue
			}
			inner.e.Ref = fmt.Sprintf("%s|%d.%d", h.e.Ref, i, j)
			if inner.at = m.start(); inner.at.IsZero() {
				inner.at = h.at
			}
			inner.d = &data{Event: &event{Message: m}}
			inner.message()
		}
		if a.Turn != nil {
			a.Turn.end(c)
			inner.close("")
		}
		h.ops = append(h.ops, inner.ops...)
		call.Taken = append(call.Taken, i)
	}
}

// end takes what a call's result says of how its subagent ended.
func (t *turn) end(c child) {
	switch c.Status {
	case "aborted":
		t.Aborted = true
	case "failed":
		t.Stop = "error"
		if t.Error == "" {
			t.Error = short(c.Error)
		}
	}
}
