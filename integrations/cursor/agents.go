package cursor

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// agent is a subagent that was started and has not been told to its end. Its tools come
// under a conversation of its own, which is not known from the beginning.
type agent struct {
	scope
	ID         string           `json:"id"` // of the call that started it
	Kind       string           `json:"kind,omitempty"`
	Hash       string           `json:"hash,omitempty"`  // of its task
	Talk       string           `json:"talk"`            // its parent's conversation
	Generation string           `json:"generation"`      // and turn
	Child      string           `json:"child,omitempty"` // its own conversation
	Begin      string           `json:"begin"`           // the event that started it
	Call       string           `json:"call,omitempty"`  // the event of the call
	Start      time.Time        `json:"start"`
	Last       time.Time        `json:"last"`
	PID        int              `json:"pid,omitempty"`
	Dir        string           `json:"dir,omitempty"`  // where subagents' transcripts are
	File       string           `json:"file,omitempty"` // its own, where an event names it
	Tool       *agentkit.Anchor `json:"tool,omitempty"` // run of the call
	ToolName   string           `json:"tool_name,omitempty"`
	ToolEnded  bool             `json:"tool_ended,omitempty"` // the call reported its own end before it began
	Run        *agentkit.Anchor `json:"run"`
	End        *ending          `json:"end,omitempty"`
	Sure       bool             `json:"sure,omitempty"` // no event of its own comes any more
	Idle       bool             `json:"idle,omitempty"`
	Closing    bool             `json:"closing,omitempty"`
}

func (a *agent) lose(why string) { a.End = &ending{At: a.Last, Status: why, Quiet: true} }

// turnOver reports whether the turn that started it has ended.
func (a *agent) turnOver(r *reducer) bool {
	t := r.turn(a.Talk, a.Generation)
	return t == nil || t.End != nil
}

// file is the subagent's transcript, as far as that is known.
func (a *agent) file() string {
	if a.File != "" || a.Dir == "" || a.Child == "" {
		return a.File
	}
	return a.Dir + a.Child + ".jsonl"
}

// above is the run that the subagent's call hangs under.
func (a *agent) above() *agentkit.Anchor {
	under := a.Run
	if a.Tool != nil {
		under = a.Tool
	}
	cut := strings.LastIndexByte(under.Order, '.')
	if cut < 0 {
		return nil
	}
	order := under.Order[:cut]
	id, err := uuid.Parse(order[max(0, len(order)-36):])
	if err != nil {
		return nil
	}
	return &agentkit.Anchor{
		ID: id, Trace: under.Trace, Order: order, Start: a.Run.Turn, Agent: under.Agent, Who: under.Who, Turn: a.Run.Turn,
	}
}

// agentsDir is where the transcripts of a conversation's subagents are.
func agentsDir(transcript string) string {
	i := strings.LastIndexAny(transcript, `/\`)
	if i < 0 {
		return ""
	}
	return transcript[:i+1] + "subagents" + transcript[i:i+1]
}

// agentOf is the subagent of a conversation, the last one if it was told to go on.
func (r *reducer) agentOf(talk string) *agent {
	for _, a := range slices.Backward(r.Agents) {
		if a.Child == talk {
			return a
		}
	}
	return nil
}

// goesOn reports whether an event is of another subagent in the same conversation: the
// one that had it was stopped, and has no calls to make.
func (r *reducer) goesOn(a *agent, e integrations.Event) bool {
	return e.Kind == "preToolUse" && a.End != nil && !a.End.Quiet &&
		slices.ContainsFunc(r.Agents, func(b *agent) bool { return b.Child == "" && b.End == nil })
}

// agentStart posts a subagent and the call that started it. They stay pending.
func (r *reducer) agentStart(src integrations.Source, e integrations.Event, d *data) ([]runtypes.Op, error) {
	parent := cmp.Or(d.Parent, d.Conversation)
	if d.Agent == "" || slices.ContainsFunc(r.Agents, func(a *agent) bool { return a.ID == d.Agent }) ||
		slices.Contains(r.Closed, closedKey("", d.Agent)) {
		return nil, nil
	}
	a := &agent{
		ID: d.Agent, Kind: d.AgentType, Hash: d.Hash, Begin: e.Ref, Start: e.At, Last: e.At, PID: d.PID,
		Dir: agentsDir(d.Transcript),
	}
	var ops []runtypes.Op
	var f *family
	if above := r.agentOf(parent); above != nil { // one that a subagent started
		a.Talk, a.Generation = above.Talk, above.Generation
		above.take(src, above.Start, e, d, a.ID)
		f = above.family()
		a.call(f, above.tell(src, above.Start))
	} else {
		t := r.openIn(parent)
		if c := r.talk(parent); t == nil && c.fresh() { // its call was not heard of
			t = r.begin(c, e, d)
			t.Blind = true
		}
		if t == nil || t.Closing {
			return nil, nil
		}
		a.Talk, a.Generation = t.Talk, t.Generation
		if t.Blind {
			t.keep(e.Ref)
			return nil, nil
		}
		t.take(src, t.Start, e, d, a.ID)
		ops = r.post(src, t)
		f = r.familyOf(src, t)
		a.call(f, t.tell(src, t.Start))
	}
	under := f.parent
	if a.Tool != nil {
		under = a.callRun(src)
	}
	if a.Tool != nil && !a.ToolEnded {
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: under})
	}
	run := runtypes.Subagent(under, f.id("subagent", a.ID), a.Start, runtypes.SubagentInfo{ID: a.ID, Type: a.Kind})
	a.Run = agentkit.NewAnchor(run, f.start, a.Generation)
	r.Agents = append(r.Agents, a)
	ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: a.run(src)})
	if len(r.Agents) > maxAgents && r.Agents[0].End == nil {
		r.Agents[0].lose("Cursor never told of the subagent's end")
	}
	return ops, nil
}

// call remembers the call that started the subagent.
func (a *agent) call(f *family, t *story) {
	for _, c := range t.calls {
		if c.agent == a.ID {
			run := runtypes.Tool(f.parent, f.id("tool", c.key), c.start, c.name)
			a.Tool, a.ToolName, a.Call, a.ToolEnded = agentkit.NewAnchor(run, f.start, c.key), c.name, c.pre, c.ended
			return
		}
	}
}

// parent is the conversation that started it: its turn's, or a subagent's.
func (a *agent) parent(r *reducer) string {
	for _, above := range r.Agents {
		if above != a && a.Tool != nil && strings.HasPrefix(a.Tool.Order, above.Run.Order+".") {
			return above.Child
		}
	}
	return a.Talk
}

// agentStop ends a subagent: that of the id, else the open one of the same task.
func (r *reducer) agentStop(src integrations.Source, e integrations.Event, d *data) ([]runtypes.Op, error) {
	a := r.stopped(d)
	if t := r.openIn(d.Conversation); a == nil && t != nil && t.Blind && !t.Closing {
		t.keep(e.Ref)
		return nil, nil
	}
	var ops []runtypes.Op
	if a == nil {
		var err error
		ops, err = r.agentStart(src, r.unheard(src, e, d), d)
		if a = r.stopped(d); a == nil || err != nil {
			return ops, err
		}
	}
	a.End = &ending{At: e.At, Status: d.Status, Ref: e.Ref, Text: d.Error}
	a.Last, a.File = e.At, d.AgentFile
	var call *call
	var f *family
	if above := r.agentOf(a.parent(r)); above != nil {
		call, f = above.take(src, above.Start, e, d, a.ID), above.family()
	} else if t := r.turn(a.Talk, a.Generation); t != nil && !t.Closing {
		t.Last = e.At
		call, f = t.take(src, t.Start, e, d, a.ID), r.familyOf(src, t)
	}
	if call != nil && a.Tool == nil { // the call was heard of after the subagent's start, and has a run of its own
		ops = append(ops, r.endTool(src, f, call, nil))
	}
	return ops, nil
}

// unheard is the start of a subagent of which only the end was heard: when its call was
// made, if that was.
func (r *reducer) unheard(src integrations.Source, stop integrations.Event, d *data) integrations.Event {
	start := stop
	start.Kind = "subagentStart"
	parent := cmp.Or(d.Parent, d.Conversation)
	var told *story
	if above := r.agentOf(parent); above != nil {
		told = above.tell(src, above.Start)
	} else if t := r.openIn(parent); t != nil {
		told = t.tell(src, t.Start)
	}
	if told != nil {
		if c := told.starter(d.Agent, d.Hash); c != nil {
			start.At = c.start
		}
	}
	return start
}

func (r *reducer) stopped(d *data) *agent {
	var byTask, byKind []*agent
	for _, a := range r.Agents {
		switch {
		case a.End != nil && !a.End.Quiet:
			continue
		case d.Agent != "":
			if a.ID == d.Agent {
				return a
			}
			continue
		}
		if a.Talk == d.Conversation || a.parent(r) == d.Conversation {
			if a.Kind == d.AgentType && a.Hash == d.Hash {
				byTask = append(byTask, a)
			}
			if a.Kind == d.AgentType || d.AgentType == "" {
				byKind = append(byKind, a)
			}
		}
	}
	switch {
	case len(byTask) > 0:
		return byTask[0] // of equal tasks any will do
	case len(byKind) == 1:
		return byKind[0]
	}
	return nil
}

// agentWork takes an event of a subagent's conversation.
func (r *reducer) agentWork(src integrations.Source, a *agent, e integrations.Event, d *data) ([]runtypes.Op, error) {
	if a.Closing {
		return nil, nil
	}
	if e.At.After(a.Last) {
		a.Last = e.At
	}
	if ended := a.take(src, a.Start, e, d, ""); ended != nil {
		return []runtypes.Op{r.endTool(src, a.family(), ended, nil)}, nil
	}
	return nil, nil
}
