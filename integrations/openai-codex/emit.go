package openaicodex

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// metaBackground marks a tool that was answered while its process went on.
const metaBackground = "is_background"

// advanceTurn posts the turn's root, then what is final below it, and closes it if
// there is evidence that it is over.
func (r *reducer) advanceTurn(src integrations.Source, t *turn, hard bool) (ops []runtypes.Op, closed bool, err error) {
	s := r.stretch(t)
	if s == nil {
		s = newStretch(t.ID, nil)
	}
	followed := r.followed(t)
	over := t.over(s, hard || t.Part > 0, followed)
	if r.Rollout == "" && !t.located() {
		over = over || t.Ended || t.Superseded || followed
	}
	if r.Thread.Kind != "" || over && !t.located() && t.Text+t.StopText == "" {
		return nil, over || r.Thread.Kind != "", nil // another thread's turn, or one that left nothing
	}
	if !t.Posted && !over && !t.ready(s, hard || followed) {
		return nil, false, nil
	}
	if t.Part > 0 && !t.goesOn(s) {
		return nil, over, nil
	}
	if t.located() && r.history[t.ID] == nil {
		if r.history[t.ID], err = r.recall(src, r.Rollout, t.Line); err != nil {
			return nil, false, err
		}
	}
	end := outcome{}
	if over {
		end = t.outcome(s)
	}
	root := r.root(t, s)
	if over && s.isCompaction() {
		return r.manual(t, s, root, end), true, nil
	}
	if !t.Posted {
		t.Posted = true
		pending := *root
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: &pending})
	}
	f := &family{parent: root, stretch: s, turn: t.ID, start: root.Start, end: end, over: over}
	if t.Part > 0 {
		f.start = s.start // the ids are the turn's
	}
	if s.over() && !over {
		return ops, false, nil // how it ended may be part of what is still to be emitted
	}
	r.noteAsks(s, f, &t.Links)
	ops = append(ops, r.emit(f, &progress{&t.Calls, &t.Tools, &t.Merges, &t.Repeated}, r.history[t.ID])...)
	if !over {
		s.shed(t.Calls, &t.Tools)
		return ops, false, nil
	}
	t.conclude(root, s)
	ops = append(ops, runtypes.Op{Verb: runtypes.Patch, Run: t.finish(root, s, end)})
	r.adopt(src, f, r.Session, end.at)
	r.anchor(root, f)
	r.leave(s, f)
	if t.Idle && t.located() && !s.over() && t.Stops > 0 {
		t.goOn(root)
		return ops, false, nil
	}
	return ops, true, nil
}

// ready reports whether a turn's root can be posted: its prompt is on disk, and the
// hook that told of it was heard or will not come. Without a rollout the hook is all
// there is.
func (t *turn) ready(s *stretch, hard bool) bool {
	if !t.located() {
		return t.Text != "" && t.Heard
	}
	return s.prompt != nil && (t.Heard || hard)
}

// goOn leaves a closed turn open for what may follow: while a Stop hook runs the
// rollout does not say whether it lets the turn end.
func (t *turn) goOn(root *runtypes.Run) {
	t.Part++
	t.Posted, t.Idle, t.Stops = false, false, 0
	t.PartStart, t.Continues = time.Time{}, root.ID.String()
}

// goesOn reports whether anything followed the close of a turn.
func (t *turn) goesOn(s *stretch) bool {
	if t.PartStart.IsZero() && t.Calls < len(s.calls) {
		t.PartStart = s.calls[t.Calls].start
	}
	return !t.PartStart.IsZero()
}

// root builds the turn's root run as it is when pending.
func (r *reducer) root(t *turn, s *stretch) *runtypes.Run {
	start, native := s.start, t.ID
	if start.IsZero() {
		if start = idTime(t.ID); start.IsZero() { // no rollout, and an id that says nothing
			start = t.At
		}
	}
	if t.Number == 0 {
		r.Count++
		t.Number = r.Count
	}
	who := runtypes.Identity{
		Integration: Name, Runtime: runtimeName, RuntimeVersion: r.Thread.Version,
		ThreadID: r.Session, TurnID: t.ID, TurnNumber: t.Number,
		Repo:             runtypes.Repo{URL: r.Thread.URL, Branch: r.Thread.Branch, SHA: r.Thread.SHA},
		WorkingDirectory: cmp.Or(s.place.CWD, t.CWD, r.Thread.CWD),
		ApprovalPolicy:   cmp.Or(s.place.ApprovalPolicy, t.Mode),
		SandboxType:      s.place.Sandbox.Type,
	}
	if t.Branch+t.SHA != "" {
		who.Repo.Branch, who.Repo.SHA = t.Branch, t.SHA
	}
	begin := start
	if t.Part > 0 {
		begin, native = t.PartStart, fmt.Sprintf("%s#%d", t.ID, t.Part+1)
	}
	root := agentkit.Top(t.Parent, r.id(start, t.ID, "root", native), begin, who)
	root.Metadata = map[string]any{}
	for key, value := range map[string]string{
		agentkit.MetaOrigin: s.origin, agentkit.MetaSurface: r.Thread.Surface, agentkit.MetaContinues: t.Continues,
	} {
		if value != "" {
			root.Metadata[key] = value
		}
	}
	switch {
	case s.prompt != nil:
		root.Inputs = runtypes.Messages(*s.prompt)
	case s.origin == "user_shell":
		root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: "!" + s.shell})
	case t.Text != "":
		root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: t.Text})
	}
	return root
}

// id derives the id of a run of the turn that began at start.
func (r *reducer) id(start time.Time, turn, kind, native string) uuid.UUID {
	return idgen.Run(start, Name, r.Session, turn, kind, native)
}

// family is what the runs below one parent have in common.
type family struct {
	parent  *runtypes.Run
	stretch *stretch
	turn    string    // of the root
	prefix  string    // of native ids: a subagent's turn
	start   time.Time // of the turn: the ids' time
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

// emit returns the model calls, compactions and tool calls that have become final.
func (r *reducer) emit(f *family, p *progress, before []runtypes.Message) []runtypes.Op {
	var ops []runtypes.Op
	s := f.stretch
	for ; *p.calls < len(s.calls); *p.calls++ {
		c := s.calls[*p.calls]
		if !c.final() && !f.over {
			break
		}
		if c.compaction == nil {
			run := r.llm(f, f.parent, c)
			run.Inputs = runtypes.Messages(s.inputs(c, r.options.Inputs, before, p.repeated)...)
			ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
		}
	}
	for ; *p.merges < len(s.merges); *p.merges++ {
		ops = append(ops, r.automatic(f, s.merges[*p.merges])...)
	}
	for _, t := range s.tools {
		if p.tools.has(t.index) || !t.final() && !f.over || t.parent != nil && !p.tools.has(t.parent.index) {
			continue
		}
		p.tools.set(t.index)
		run := r.tool(f, t)
		r.raise(t.id, run, f)
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
	}
	return ops
}

// llm builds the run of one model call, without its inputs.
func (r *reducer) llm(f *family, parent *runtypes.Run, c *call) *runtypes.Run {
	context := c.context
	if context.Model == "" { // a compaction between turns stands before its context
		context = f.stretch.place
	}
	provider, id := agentkit.Provider(r.Thread.Provider, context.Model)
	model := runtypes.Model{Name: context.Model, Provider: provider, InvocationParams: context.invocation()}
	native := cmp.Or(c.response, fmt.Sprintf("#%d", c.index+1))
	run := runtypes.LLM(parent, r.id(f.start, f.turn, "llm", f.prefix+native), c.start, model)
	run.Metadata = map[string]any{}
	if id != "" {
		run.Metadata[agentkit.MetaProviderID] = id
	}
	if c.response != "" {
		run.Metadata[agentkit.MetaResponseID] = c.response
	}
	run.Usage = c.usage
	if len(c.items) > 0 {
		run.Outputs = runtypes.Messages(c.message())
	}
	if c.cut {
		run.Error = "the reply was cut off"
	}
	if c.usage == nil && f.end.interrupted && c == f.stretch.calls[len(f.stretch.calls)-1] {
		return runtypes.Interrupt(run, f.end.at, f.end.err)
	}
	return runtypes.Finish(run, c.end)
}

// tool builds the run of one tool call: below the script that ran it, if one did.
func (r *reducer) tool(f *family, t *tool) *runtypes.Run {
	parent := f.parent
	if t.parent != nil {
		parent = r.tool(f, t.parent)
	}
	run := runtypes.Tool(parent, r.id(f.start, f.turn, "tool", f.prefix+t.id), t.start, t.name)
	run.Inputs, run.Outputs = t.input, t.output
	run.Metadata = map[string]any{agentkit.MetaCallID: t.id}
	if t.server != "" {
		run.Metadata[agentkit.MetaMCPServer] = t.server
	}
	code := t.exitCode()
	if code != nil {
		run.Metadata[agentkit.MetaExitCode] = *code
	}
	if t.facts != nil && t.facts.took != nil && *t.facts.took >= time.Millisecond {
		run.Metadata[agentkit.MetaDuration] = t.facts.took.Milliseconds()
	}
	done := t.answered() || t.facts != nil || t.hosted
	if t.running && done {
		run.Metadata[metaBackground] = true
	}
	err, class, interrupted := t.outcome()
	if class != "" {
		run.Metadata[agentkit.MetaErrorClass] = class
	}
	switch {
	case interrupted:
		return runtypes.Interrupt(run, t.end, err)
	case !done && f.end.interrupted:
		return runtypes.Interrupt(run, f.end.at, f.end.err)
	case !done:
		run.Error = cmp.Or(f.end.err, "no result")
		return runtypes.Finish(run, cmp.Or(f.end.at, t.end))
	}
	run.Error = err
	return runtypes.Finish(run, t.end)
}

// automatic emits a compaction inside a turn, and the call that wrote the summary.
func (r *reducer) automatic(f *family, m *compaction) []runtypes.Op {
	native := fmt.Sprintf("%s#%d", f.prefix, m.index+1)
	run := runtypes.Chain(f.parent, r.id(f.start, f.turn, "compaction", native), m.start, "", runtypes.AgentCompaction)
	m.describe(run, "auto")
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: runtypes.Finish(run, m.at)}}
	if m.call != nil {
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: r.llm(f, run, m.call)})
	}
	return ops
}

// manual emits a compaction that the user asked for: a root of its own.
func (r *reducer) manual(t *turn, s *stretch, root *runtypes.Run, end outcome) []runtypes.Op {
	root.Kind, root.AgentType = runtypes.KindChain, runtypes.AgentCompaction
	f := &family{parent: root, stretch: s, turn: t.ID, start: root.Start, end: end, over: true}
	for _, m := range s.merges {
		m.describe(root, "manual")
	}
	if end.interrupted {
		runtypes.Interrupt(root, end.at, end.err)
	} else {
		root.Error = end.err
		runtypes.Finish(root, end.at)
	}
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: root}}
	for _, c := range s.calls {
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: r.llm(f, root, c)})
	}
	return ops
}

// describe fills in what a compaction's run says.
func (m *compaction) describe(run *runtypes.Run, trigger string) {
	if run.Metadata == nil {
		run.Metadata = map[string]any{}
	}
	run.Name = "Context Compaction (" + trigger + ")"
	run.Metadata[agentkit.MetaTrigger] = trigger
	if m.call != nil && m.call.usage != nil {
		run.Metadata[agentkit.MetaContextTokens] = m.call.usage.Input
	}
	run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: m.summary})
}

// surface names where Codex runs, from what it calls itself.
func surface(originator string) string {
	switch o := strings.ToLower(originator); {
	case o == "codex_exec":
		return "sdk"
	case strings.Contains(o, "tui"), strings.Contains(o, "cli"):
		return "cli"
	case strings.Contains(o, "vscode"), strings.Contains(o, "jetbrains"), strings.Contains(o, "desktop"):
		return "ide"
	case strings.Contains(o, "action"):
		return "ci"
	default:
		return originator
	}
}

// cleanRemote is a remote's address without credentials; "" for a local path.
func cleanRemote(remote string) string {
	if !strings.Contains(remote, "://") {
		host, _, scp := strings.Cut(remote, ":")
		if !scp || strings.ContainsAny(host, `/\`) || len(host) < 2 {
			return ""
		}
		return remote
	}
	u, err := url.Parse(remote)
	if err != nil || u.Host == "" {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
