package opencode

import (
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

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
	if !s.asked(info, some) {
		return nil, nil
	}
	var ops []runtypes.Op
	root := r.root(t)
	if s.Compacts && t.Kind == "" {
		parent = runtypes.Chain(parent, r.id(root, "compaction", s.ID), at(s.Created), "", runtypes.AgentCompaction)
		trigger := "auto"
		if s.Asked {
			trigger = "manual"
		}
		describe(parent, info, parts, trigger)
		finishCall(parent, s, info, parts, at(r.Last), why)
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: parent})
	}
	provider, native := agentkit.Provider(info.Provider, info.Model)
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
	if len(before) > 0 {
		run.Inputs = runtypes.Messages(before...)
	}
	if some {
		run.Outputs = runtypes.Messages(said)
	}
	run.Usage = info.usage()
	finishCall(run, s, info, parts, at(r.Last), why)
	return append(ops, runtypes.Op{Verb: runtypes.Post, Run: run}), nil
}

// asked reports whether the message is a call of the model. OpenCode writes some itself:
// of a command that the user ran, and of a task that the user gave to a subagent.
func (s *step) asked(info *message, some bool) bool {
	if s.Request > 0 || s.Answered || info.usage() != nil {
		return true
	}
	return !some && s.Completed > 0
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
