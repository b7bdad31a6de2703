package deepagentscode

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// story is what is known of a turn that is over.
type story struct {
	facts  *facts // nil: the database knows nothing of the turn
	scopes []*scope
	merges []merge
}

// scope is the work of one agent in a turn: the turn's own, or a subagent's.
type scope struct {
	space string // of the graph
	task  string // the call that started the subagent; "" for the turn's own
	kind  string // of subagent
	calls []*call
	tools []*tool
	talk  []runtypes.Message // so far

	prompt, said string // to and from a subagent
	begun, last  time.Time
	err          string // what stopped it
	cancelled    bool
}

// call is one answer of the model, or its failure.
type call struct {
	id       string
	note     *note // nil: it failed
	from, to time.Time
	asked    int // messages of the talk before it
	err      string
	cut      bool // it was called off
}

// tool is one call of a tool.
type tool struct {
	id, name string
	args     json.RawMessage
	task     string    // of the graph, once it is known
	from, to time.Time // zero to: it has not come back
	output   json.RawMessage
	err      string
	halted   bool
	hooked   bool // hooks alone told of it
	exit     *int
	duration *float64
}

// merge is a compaction that a hook told of.
type merge struct {
	at      time.Time
	trigger string
}

func (s *story) own() *scope { return s.scopes[0] }

// scopeOf is the scope of a space of the graph.
func (s *story) scopeOf(space string) *scope {
	for _, one := range s.scopes {
		if one.space == space {
			return one
		}
	}
	one := &scope{space: space}
	s.scopes = append(s.scopes, one)
	return one
}

// below is the scope of the subagent that a call started; nil: there is none.
func (s *story) below(id string) *scope {
	for _, one := range s.scopes[1:] {
		if one.task == id && id != "" {
			return one
		}
	}
	return nil
}

// read gathers what the database, the hooks and the transcript tell of a turn. An error
// says what could not be read; the story holds the rest.
func (r *reducer) read(src integrations.Source, t *turn, prompt string) (*story, error) {
	s := &story{scopes: []*scope{{}}}
	db := storeOf(t.Transcript)
	var err error
	if db != "" && t.ID != "" {
		if s.facts, err = readFacts(src, db, r.Thread, t.ID); err == nil && s.facts != nil {
			err = readWrites(src, db, writesOf, []any{r.Thread, t.ID}, s.take)
		}
	}
	s.adopt()
	err = errors.Join(err, s.hear(src, t))
	if len(s.own().calls) == 0 && s.own().err == "" {
		err = errors.Join(err, s.transcript(src, r, t, prompt))
	}
	return s, err
}

// take adds a write of the graph.
func (s *story) take(w *write) {
	one := s.scopeOf(w.space)
	if one.begun.IsZero() {
		one.begun = w.from
	}
	if w.failed {
		one.fail(w)
		return
	}
	for _, n := range w.notes() {
		switch n.Type {
		case "human":
			one.user(w, &n)
		case "ai":
			one.answered(w, &n)
		case "tool":
			one.returned(w, &n)
		}
	}
	if w.to.After(one.last) {
		one.last = w.to
	}
}

// fail notes what stopped a step. Where an answer comes after it, it was tried again.
func (one *scope) fail(w *write) {
	var printed string
	if json.Unmarshal(w.value, &printed) != nil {
		return
	}
	one.err, one.cancelled = failure(printed)
	for _, t := range one.tools {
		if w.tool && t.to.IsZero() {
			t.from = w.from // it ran, and was not waiting for a person any more
		}
	}
	if w.node == nodeModel && !one.cancelled {
		one.calls = append(one.calls, &call{id: "failed " + w.at, from: w.from, to: w.to, asked: len(one.talk), err: one.err})
	}
}

func (one *scope) user(w *write, n *note) {
	if w.node == nodeUpdate {
		return // the agent's note to itself that the user stopped it
	}
	one.talk = append(one.talk, runtypes.Message{Role: "user", Content: words(n.Content)})
	if w.node == nodeStart {
		one.prompt = words(n.Content)
	}
}

// answered adds an answer once; steps that check it write it again. Those that a
// subagent begins with are of the conversation it was forked from.
func (one *scope) answered(w *write, n *note) {
	if n.ID != "" && slices.ContainsFunc(one.calls, func(c *call) bool { return c.id == n.ID }) {
		return
	}
	if w.node == nodeStart {
		one.talk = append(one.talk, n.answer())
		return
	}
	c := &call{id: n.ID, note: n, from: w.from, to: w.to, asked: len(one.talk), cut: w.node == nodeUpdate}
	if asked := timeOf(strings.TrimPrefix(n.ID, runPrefix)); asked.After(w.from) && (w.to.IsZero() || asked.Before(w.to)) {
		c.from = asked
	}
	one.calls = append(one.calls, c)
	one.talk = append(one.talk, n.answer())
	if !c.cut {
		one.err, one.cancelled = "", false
	}
	for _, t := range n.Calls {
		if one.tool(t.ID) == nil {
			one.tools = append(one.tools, &tool{id: t.ID, name: t.Name, args: object(t.Args), from: w.to})
		}
	}
}

// runPrefix begins the id of an answer; the run that asked for it follows.
const runPrefix = "lc_run--"

func (one *scope) tool(id string) *tool {
	for _, t := range one.tools {
		if t.id == id && id != "" {
			return t
		}
	}
	return nil
}

// returned adds what a tool gave back.
func (one *scope) returned(w *write, n *note) {
	t := one.tool(n.Call)
	if t == nil || !t.to.IsZero() || w.to.IsZero() {
		return // of a conversation before, or told already
	}
	t.from, t.to, t.task, t.exit = w.from, w.to, w.task, n.Artifact.Exit
	said := words(n.Content)
	t.output = output(said)
	if n.Status == "error" {
		t.err = cmp.Or(said, toolFailed)
	}
	one.talk = append(one.talk, n.result())
}

// adopt finds the calls that started the subagents: a subagent's space is named after the
// task that ran it. One that never returned is its parent's only call without an end.
func (s *story) adopt() {
	for _, one := range s.scopes[1:] {
		above, last := "", one.space
		if cut := strings.LastIndex(one.space, "|"); cut >= 0 {
			above, last = one.space[:cut], one.space[cut+1:]
		}
		_, task, _ := strings.Cut(last, ":")
		parent := s.scopeIn(above)
		if parent == nil {
			continue
		}
		var open []*tool
		for _, t := range parent.tools {
			if t.task == task && task != "" {
				one.adoptedBy(t)
			}
			if t.to.IsZero() && t.name == toolTask {
				open = append(open, t)
			}
		}
		if one.task == "" && len(open) == 1 {
			one.adoptedBy(open[0])
		}
	}
}

// toolTask is the tool that starts a subagent.
const toolTask = "task"

func (s *story) scopeIn(space string) *scope {
	for _, one := range s.scopes {
		if one.space == space {
			return one
		}
	}
	return nil
}

func (one *scope) adoptedBy(t *tool) {
	var args struct {
		Type        string `json:"subagent_type"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(t.args, &args) // what the model made up may be of another shape
	one.task, one.kind = t.id, args.Type
	if args.Description != "" {
		one.prompt = args.Description
	}
}

// saidLast is what the agent said last.
func (one *scope) saidLast() string {
	for _, c := range slices.Backward(one.calls) {
		if c.note == nil {
			continue
		}
		if said := words(c.note.Content); said != "" {
			return said
		}
	}
	return one.said
}
