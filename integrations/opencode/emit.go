package opencode

import (
	"encoding/json"
	"slices"
	"time"

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
				if x.Child == t.Session && !x.Over && x.Begun > 0 && above != t {
					t.Under, t.Call, t.Begun = above.ID, x.ID, x.Begun
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
	run := runtypes.Root(r.id(t, "root", t.ID), at(t.Start), who)
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

// call builds the run of a step's call of the model, below that of its compaction if
// that is what it was for.
func (r *reducer) call(src integrations.Source, t *turn, parent *runtypes.Run, s *step, why string) ([]runtypes.Op, error) {
	info, err := r.info(src, s.Line)
	if err != nil {
		return nil, err
	}
	parts, err := r.parts(src, s)
	if err != nil {
		return nil, err
	}
	said, some := reply(parts)
	if t.Kind == shell || s.Completed == 0 && !some && s.Request == 0 {
		return nil, nil // nobody asked the model
	}
	var ops []runtypes.Op
	root := r.root(t)
	if s.Compacts && t.Kind == "" {
		parent = runtypes.Chain(parent, r.id(root, "compaction", s.ID), at(s.Created), "", runtypes.AgentCompaction)
		describe(parent, info, parts, "auto")
		finishCall(parent, s, info, parts, at(r.Last), why)
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: parent})
	}
	provider, native := providerOf(info.Provider, info.Model)
	run := runtypes.LLM(parent, r.id(root, "llm", s.ID), at(s.begun()), runtypes.Model{
		Name: info.Model, Provider: provider, InvocationParams: s.Params.invocation(),
	})
	run.Metadata = map[string]any{agentkit.MetaResponseID: s.ID}
	for key, value := range map[string]string{agentkit.MetaProviderID: native, agentkit.MetaStopReason: info.Finish} {
		if value != "" {
			run.Metadata[key] = value
		}
	}
	if s.Retries > 0 {
		run.Metadata[metaRetries] = s.Retries
		if d, err := r.line(src, s.Retry); err == nil && d != nil && d.Retry != "" {
			run.Metadata[metaRetryReason] = d.Retry
		}
	}
	before, err := r.inputs(src, t, s)
	if err != nil {
		return nil, err
	}
	if len(before) == 0 && t.Prompt != "" {
		if before, err = r.conversation(src, []string{t.Prompt}); err != nil {
			return nil, err
		}
	}
	run.Inputs = runtypes.Messages(before...)
	if some {
		run.Outputs = runtypes.Messages(said)
	}
	run.Usage = info.usage()
	finishCall(run, s, info, parts, at(r.Last), why)
	return append(ops, runtypes.Op{Verb: runtypes.Post, Run: run}), nil
}

// begun is when the model was asked, as far as that was seen.
func (s *step) begun() int64 {
	if s.Request > s.Created {
		return s.Request
	}
	return s.Created
}

// finishCall ends a call of the model: where its last text ended or its first tool
// began, for the message is complete only after its tools. A reply whose tools run was
// given whole, whatever became of them.
func finishCall(run *runtypes.Run, s *step, info *message, parts []*part, now time.Time, why string) {
	var end int64
	tools := false
	for _, p := range parts {
		end = max(end, p.Time.End)
		if p.Type == "tool" && p.State.Time.Start > 0 {
			tools = true
			end = max(end, p.State.Time.Start)
		}
	}
	last := at(s.Completed)
	if s.Completed == 0 {
		last = now
	}
	switch {
	case tools || info.Finish != "" && info.Error == nil:
		if end > 0 {
			last = at(end)
		}
		runtypes.Finish(run, last)
	case info.Error != nil && !info.Error.aborted():
		run.Error = info.Error.text()
		runtypes.Finish(run, last)
	case s.Completed == 0:
		runtypes.Interrupt(run, last, why)
	default:
		runtypes.Interrupt(run, last, byUser)
	}
}

// byUser is why runs are closed that the user stopped.
const byUser = "Interrupted by user"

// describe fills in what the run of a compaction says.
func describe(run *runtypes.Run, info *message, parts []*part, trigger string) {
	run.Name = "Context Compaction (" + trigger + ")"
	run.Metadata = map[string]any{agentkit.MetaTrigger: trigger}
	if u := info.usage(); u != nil {
		run.Metadata[agentkit.MetaContextTokens] = u.Input
	}
	if summary := lastText(parts); summary != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: summary})
	}
}

func lastText(parts []*part) string {
	for _, p := range slices.Backward(parts) {
		if p.Type == "text" && p.Text != "" {
			return p.Text
		}
	}
	return ""
}

// usage are the tokens with what OpenCode counts apart; nil if it counted none.
func (m *message) usage() *runtypes.Usage {
	t := m.Tokens
	u := &runtypes.Usage{
		Input: t.Input + t.Cache.Read + t.Cache.Write, Output: t.Output + t.Reasoning,
		CacheRead: t.Cache.Read, CacheCreation: t.Cache.Write, Reasoning: t.Reasoning, TotalCost: m.Cost,
	}
	if u.Input+u.Output == 0 {
		return nil
	}
	return u
}

// invocation are the parameters under the names LangSmith knows.
func (p *params) invocation() map[string]any {
	if p == nil {
		return nil
	}
	m := map[string]any{}
	for key, value := range map[string]*float64{"temperature": p.Temperature, "top_p": p.TopP, "top_k": p.TopK, "max_tokens": p.MaxTokens} {
		if value != nil {
			m[key] = *value
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// tool builds the run of a tool's call, without an end if it has none.
func (r *reducer) tool(src integrations.Source, t *turn, parent *runtypes.Run, x *piece) (*runtypes.Run, error) {
	p, err := r.partOf(src, x)
	if err != nil {
		return nil, err
	}
	start := x.Begun
	if start == 0 {
		start = r.Last // it was never begun
	}
	run := runtypes.Tool(parent, r.id(r.root(t), "tool", x.ID), at(start), p.Tool)
	if len(p.State.Input) > 0 && string(p.State.Input) != "null" {
		run.Inputs = p.State.Input
	}
	run.Metadata = map[string]any{agentkit.MetaCallID: x.Call}
	if x.Wait > 0 {
		run.Metadata[agentkit.MetaWait] = x.Wait
	}
	if x.Answer != "" {
		run.Metadata[agentkit.MetaDecision] = decision(x.Answer)
	}
	if p.State.Metadata.Exit != nil {
		run.Metadata[agentkit.MetaExitCode] = *p.State.Metadata.Exit
	}
	if !x.Over {
		return run, nil
	}
	if p.State.Status == "completed" {
		run.Outputs = output(p.State.Output)
	}
	end := at(p.State.Time.End)
	if end.IsZero() {
		end = at(r.Last)
	}
	if x.Stopped {
		return runtypes.Interrupt(run, end, byUser), nil
	}
	run.Error = p.State.problem(p.Tool)
	return runtypes.Finish(run, end), nil
}

// problem is what went wrong in a call. OpenCode takes a command that failed and a tool
// that there is not for a success.
func (s *state) problem(tool string) string {
	switch {
	case s.Status == "error":
		return agentkit.Clip(s.Error)
	case tool == "invalid":
		return agentkit.Clip(s.Output)
	case s.Metadata.Exit != nil && *s.Metadata.Exit != 0:
		return "exit code " + itoa(*s.Metadata.Exit)
	}
	return ""
}

func output(text string) json.RawMessage {
	raw, err := runtypes.Marshal(map[string]string{"output": text})
	if err != nil {
		return nil
	}
	return raw
}

// decision is what a person answered, in the words of other agents.
func decision(reply string) string {
	if reply == "reject" {
		return reply
	}
	return "accept"
}
