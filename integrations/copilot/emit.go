package copilot

import (
	"cmp"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// id derives the id of a run of the turn that began at start.
func (r *reducer) id(start time.Time, turn, kind, native string) uuid.UUID {
	return idgen.Run(start, Name, r.Session, turn, kind, native)
}

// root builds the turn's root run as it is when pending.
func (r *reducer) root(t *turn, s *stretch) *runtypes.Run {
	who := runtypes.Identity{
		Integration: Name, Runtime: runtimeName, RuntimeVersion: t.Place.Version,
		ThreadID: r.Session, TurnID: t.ID, TurnNumber: t.Number,
		Repo:             runtypes.Repo{URL: t.Place.URL, Branch: t.Place.Branch, SHA: t.Place.SHA},
		WorkingDirectory: cmp.Or(t.Place.CWD, t.CWD),
		ApprovalPolicy:   t.Place.Mode,
	}
	if t.Branch+t.SHA != "" {
		who.Repo.Branch, who.Repo.SHA = t.Branch, t.SHA
	}
	native, kind := t.ID, "root"
	if t.Part > 1 {
		native = fmt.Sprintf("%s#%d", t.ID, t.Part)
	}
	root := agentkit.Top(t.Parent, r.id(t.Time, t.ID, kind, native), t.Begun, who)
	root.Metadata = map[string]any{}
	for key, value := range map[string]string{agentkit.MetaOrigin: t.Origin, agentkit.MetaContinues: t.Continues} {
		if value != "" {
			root.Metadata[key] = value
		}
	}
	if s.prompt != nil {
		root.Inputs = runtypes.Messages(*s.prompt)
	}
	return root
}

// family is what the runs below one parent have in common.
type family struct {
	parent  *runtypes.Run
	stretch *stretch
	turn    string // of the root
	part    int
	owner   string    // the subagent; "" for the root
	prefix  string    // of native ids
	time    time.Time // the ids' time
	end     outcome   // how it ended, once it has
	over    bool
}

// progress is what of a stretch has gone out.
type progress struct {
	calls    *int
	tools    *marks
	merges   *int
	repeated *int64
}

// advanceTurn posts the turn's root, then what is final below it, and closes it if it is
// over. dead says that nothing more will come.
func (r *reducer) advanceTurn(before []runtypes.Message, dead bool) (ops []runtypes.Op, closed bool) {
	t, s := r.Turn, r.reader.root
	if s == nil {
		if !dead || !t.Posted {
			return nil, dead
		}
		s = newStretch(t.Place, t.Begun) // the log is gone
	}
	over := s.over() || dead
	if t.Tentative {
		return nil, over
	}
	if dead {
		s.settle()
	}
	root := r.root(t, s)
	if t.Compaction {
		if !over {
			return nil, false
		}
		return r.manual(t, s, root, dead), true
	}
	if !t.Posted {
		t.Posted = true
		pending := *root
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: &pending})
	}
	f := &family{parent: root, stretch: s, turn: t.ID, part: t.Part, time: t.Time, over: over}
	if t.Part > 1 {
		f.prefix = fmt.Sprintf("#%d/", t.Part)
	}
	if over {
		f.end = s.outcome(dead)
	}
	ops = append(ops, r.emit(f, &progress{&t.Calls, &t.Tools, &t.Merges, &t.Repeated}, before)...)
	if !over {
		return ops, false
	}
	r.anchor(f, root)
	r.conclude(t, root, s)
	if f.end.class != "" {
		root.Metadata[agentkit.MetaFailure] = f.end.class
	}
	r.Last.Run = root.ID.String()
	return append(ops, runtypes.Op{Verb: runtypes.Patch, Run: finish(root, s, f.end)}), true
}

// emit returns the model calls, compactions and tool calls that have become final.
func (r *reducer) emit(f *family, p *progress, before []runtypes.Message) []runtypes.Op {
	var ops []runtypes.Op
	s := f.stretch
	for ; *p.calls < len(s.calls); *p.calls++ {
		c := s.calls[*p.calls]
		last := c.index == len(s.calls)-1
		if c.empty() && !f.over && last || !c.final() && !f.over {
			break
		}
		if c.empty() && (!last || f.end.err == "") {
			continue // the round came to nothing
		}
		run := r.llm(f, c)
		if asked := s.inputs(c, r.options.Inputs, before, p.repeated); len(asked) > 0 {
			run.Inputs = runtypes.Messages(asked...)
		}
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
	}
	for ; *p.merges < len(s.merges); *p.merges++ {
		m := s.merges[*p.merges]
		if !m.done && !f.over {
			break
		}
		ops = append(ops, r.automatic(f, m)...)
	}
	for _, t := range s.tools {
		if p.tools.has(t.index) || !t.done && !f.over {
			continue
		}
		p.tools.set(t.index)
		run := r.tool(f, t)
		r.raise(f, t.what.ID, run)
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
	}
	return ops
}

// llm builds the run of one model call, without its inputs.
func (r *reducer) llm(f *family, c *call) *runtypes.Run {
	name := cmp.Or(c.model, f.stretch.place.Model)
	configured, kind := "", ""
	if c.usage != nil {
		configured, kind = c.usage.Usage.Provider, c.usage.Usage.Type
	}
	provider, id := providerOf(configured, kind, name)
	model := runtypes.Model{Name: name, Provider: provider, InvocationParams: c.invocation()}
	native := cmp.Or(c.id, fmt.Sprintf("#%d", c.index+1))
	run := runtypes.LLM(f.parent, r.id(f.time, f.turn, "llm", f.prefix+native), c.start, model)
	run.Metadata = map[string]any{}
	if id != "" {
		run.Metadata[agentkit.MetaProviderID] = id
	}
	if c.id != "" {
		run.Metadata[agentkit.MetaResponseID] = c.id
	}
	run.Usage = c.tokens()
	if c.usage != nil {
		if why := c.usage.Usage.Finish; why != "" {
			run.Metadata[agentkit.MetaStopReason] = why
		}
		if at := c.firstToken(); at.After(c.start) {
			run.Events = []runtypes.RunEvent{{Name: "new_token", Time: at}}
		}
	}
	if c.heard {
		run.Outputs = runtypes.Messages(c.message())
	}
	if c.empty() {
		return closeRun(run, f.end)
	}
	return runtypes.Finish(run, c.end)
}

// tool builds the run of one tool call.
func (r *reducer) tool(f *family, t *tool) *runtypes.Run {
	run := runtypes.Tool(f.parent, r.id(f.time, f.turn, "tool", f.prefix+t.id), t.start, cmp.Or(t.what.Name, "unknown"))
	run.Inputs, run.Outputs = object(t.what.Arguments), t.output()
	run.Tool.Skill = t.skill()
	run.Metadata = map[string]any{agentkit.MetaCallID: t.what.ID}
	if t.what.ID == "" {
		delete(run.Metadata, agentkit.MetaCallID)
	}
	if t.what.Server != "" {
		run.Metadata[agentkit.MetaMCPServer] = t.what.Server
	}
	if code := t.exitCode(); code != nil {
		run.Metadata[agentkit.MetaExitCode] = *code
	}
	if t.background {
		run.Metadata[agentkit.MetaBackgroundOf] = true
	}
	if t.decision != "" {
		run.Metadata[agentkit.MetaDecision] = t.decision
	}
	if t.wait >= time.Millisecond {
		run.Metadata[agentkit.MetaWait] = t.wait.Milliseconds()
	}
	if !t.done {
		if f.end.interrupted {
			return runtypes.Interrupt(run, f.end.at, f.end.err)
		}
		run.Error = cmp.Or(f.end.err, "no result")
		return runtypes.Finish(run, f.end.at)
	}
	err, class := t.failure()
	if run.Error = err; class != "" {
		run.Metadata[agentkit.MetaErrorClass] = class
	}
	return runtypes.Finish(run, t.end)
}

// automatic emits a compaction inside a turn, and the call that wrote the summary.
func (r *reducer) automatic(f *family, m *compaction) []runtypes.Op {
	native := fmt.Sprintf("%s%s#%d", f.prefix, m.what.ID, m.index+1)
	run := runtypes.Chain(f.parent, r.id(f.time, f.turn, "compaction", native), m.start, "", runtypes.AgentCompaction)
	return r.compaction(f, m, run, native)
}

// manual emits a compaction that stands between turns: a root of its own.
func (r *reducer) manual(t *turn, s *stretch, root *runtypes.Run, dead bool) []runtypes.Op {
	if len(s.merges) == 0 {
		return nil
	}
	root.Kind, root.AgentType = runtypes.KindChain, runtypes.AgentCompaction
	f := &family{parent: root, stretch: s, turn: t.ID, part: t.Part, time: t.Time, over: true}
	if m := s.merges[0]; !m.done {
		f.end = outcome{at: s.last, interrupted: true, err: "Interrupted"}
		if dead {
			f.end.err = "Interrupted: the process ended"
		}
	}
	return r.compaction(f, s.merges[0], root, t.ID)
}

// compaction completes the run of a compaction and adds that of its model call.
func (r *reducer) compaction(f *family, m *compaction, run *runtypes.Run, native string) []runtypes.Op {
	trigger := m.what.trigger()
	run.Name = "Context Compaction (" + trigger + ")"
	if run.Metadata == nil {
		run.Metadata = map[string]any{}
	}
	run.Metadata[agentkit.MetaTrigger] = trigger
	if m.what.Before > 0 {
		run.Metadata[agentkit.MetaContextTokens] = m.what.Before
	}
	if m.what.After > 0 {
		run.Metadata[agentkit.MetaPostTokens] = m.what.After
	}
	if m.what.Summary != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: m.what.Summary})
	}
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: run}}
	if !m.done {
		run.Error = cmp.Or(f.end.err, "Interrupted")
		runtypes.Interrupt(run, cmp.Or(f.end.at, m.at), run.Error)
		return ops
	}
	if !m.what.Success {
		run.Error = cmp.Or(m.what.Error, m.what.Reason, "the compaction failed")
	}
	runtypes.Finish(run, m.at)
	return append(ops, r.summary(f, m, run, native)...)
}

// summary is the model call that wrote a compaction's summary, where its tokens are known.
func (r *reducer) summary(f *family, m *compaction, parent *runtypes.Run, native string) []runtypes.Op {
	u := m.what.Tokens
	if u == nil || u.Input+u.Output == 0 {
		return nil
	}
	name := cmp.Or(u.Model, f.stretch.place.Model)
	provider, id := providerOf("", "", name)
	start := m.at.Add(-milliseconds(min(u.Duration, float64(m.at.Sub(m.start)/time.Millisecond))))
	run := runtypes.LLM(parent, r.id(f.time, f.turn, "llm", native+"/summary"), start, runtypes.Model{Name: name, Provider: provider})
	run.Metadata = map[string]any{}
	if id != "" {
		run.Metadata[agentkit.MetaProviderID] = id
	}
	run.Usage = &runtypes.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheCreation: u.CacheWrite}
	if m.what.Summary != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: m.what.Summary})
	}
	return []runtypes.Op{{Verb: runtypes.Post, Run: runtypes.Finish(run, m.at)}}
}

// trigger says whether the user asked for a compaction.
func (c *compacted) trigger() string {
	if c.Trigger == "manual" {
		return "manual"
	}
	return "auto"
}
