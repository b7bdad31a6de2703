package claudecode

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// root builds the turn's root run as it is when pending.
func (r *reducer) root(t *turn, th *thread) *runtypes.Run {
	start := t.Start
	if start.IsZero() { // no transcript: the hook's time stands
		start = t.At
	}
	if start.IsZero() {
		start = t.First
	}
	r.number(t)
	root := agentkit.Top(t.Parent, r.id(start, t.Prompt, "root", t.Prompt), start, runtypes.Identity{
		Integration: Name, Runtime: "Claude Code", RuntimeVersion: t.Version,
		ThreadID: r.Session, TurnID: t.Prompt, TurnNumber: t.Number,
		Repo:             runtypes.Repo{Branch: t.Branch, SHA: t.SHA},
		WorkingDirectory: t.CWD, ApprovalPolicy: t.Mode,
	})
	root.Metadata = map[string]any{}
	switch t.Origin {
	case "", "human", "sdk":
	default: // such as task_notification and scheduled
		root.Metadata[agentkit.MetaOrigin] = t.Origin
	}
	if s := surface(t.Surface); s != "" {
		root.Metadata[agentkit.MetaSurface] = s
	}
	prompt := runtypes.Message{Role: "user", Content: t.Text}
	if len(th.entries) > 0 && th.entries[0].user != nil && t.located() {
		prompt = firstPrompt(th)
	}
	root.Inputs = runtypes.Messages(prompt)
	return root
}

// id derives the id of a run of the turn that began at start.
func (r *reducer) id(start time.Time, prompt, kind, native string) uuid.UUID {
	return idgen.Run(start, Name, r.Session, prompt, kind, native)
}

// family is what the runs below one parent have in common.
type family struct {
	parent *runtypes.Run
	thread *thread
	prompt string
	start  time.Time // of the turn: the ids' time
	end    outcome   // how the thread ended, once it has
	over   bool
	hard   bool
}

// emit returns the model calls and tool calls of a turn's own thread that have
// become final.
func (r *reducer) emit(src integrations.Source, t *turn, th *thread, root *runtypes.Run, hard, over bool, end outcome) []runtypes.Op {
	f := &family{parent: root, thread: th, prompt: t.Prompt, start: root.Start, end: end, over: over, hard: hard}
	var ops []runtypes.Op
	if over && end.interrupted {
		th.abandon()
	}
	for ; t.Replies < len(th.order); t.Replies++ {
		reply := th.order[t.Replies]
		if !reply.final && !over {
			break
		}
		if run := r.llm(f, reply); run != nil {
			ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
		}
	}
	ops = append(ops, r.compactions(f, &t.Compacted)...)
	for _, reply := range th.order {
		for _, b := range reply.blocks {
			if b.Type != "tool_use" || t.has(b.ID) || !r.toolFinal(f, b.ID) {
				continue
			}
			run := r.tool(f, reply, b)
			ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
			t.Done = append(t.Done, short(b.ID))
			r.anchor(b.ID, run, f)
			delete(r.Tools, b.ID)
		}
	}
	if over {
		ops = append(ops, r.unrecorded(src, f, "", !t.located() || th.garbled)...)
	}
	if over {
		r.endTurnsAgents(t, root, f)
	}
	return ops
}

// toolFinal reports whether nothing that may still come changes the tool's run:
// its answer is there, and its PostToolUse hook was heard or will not come. A
// denied call has no such hook; that it has none is known once every hook that ran
// before the next model call has been heard.
func (r *reducer) toolFinal(f *family, id string) bool {
	if f.over {
		return true
	}
	res := f.thread.results[id]
	if res == nil {
		return false
	}
	timing := r.Tools[id]
	return timing != nil && !timing.Post.IsZero() || f.hard && res.final
}

// llm builds the run of one model message, failed calls included; nil when there
// was no call behind it.
func (r *reducer) llm(f *family, reply *reply) *runtypes.Run {
	failed := reply.err != nil
	if failed && reply.attempts == 0 && (f.thread.asked || reply.err.APIErrorStatus == 0) {
		return nil // the program's own words, such as an output limit it ran into
	}
	model := runtypes.Model{Name: reply.model, Provider: "anthropic", InvocationParams: reply.params.invocation()}
	if failed {
		model.Name = r.Model
		if reply.params != nil {
			model.Name = reply.params.Model
		}
	}
	run := runtypes.LLM(f.parent, r.id(f.start, f.prompt, "llm", reply.id), reply.start, model)
	run.Name = "Claude"
	run.Metadata = map[string]any{}
	run.Inputs = runtypes.Messages(r.inputs(f, reply)...)
	run.Events = reply.events()
	switch {
	case failed:
		run.Error = reply.text()
		return runtypes.Finish(run, reply.end)
	case reply.aborted:
		run.Outputs = runtypes.Messages(reply.message())
		return runtypes.Interrupt(run, reply.end, "Interrupted by user")
	}
	run.Outputs = runtypes.Messages(reply.message())
	run.Usage = reply.usage.tokens()
	if reply.stop != "" {
		run.Metadata[agentkit.MetaStopReason] = reply.stop
	}
	return runtypes.Finish(run, reply.end)
}

// unrecorded emits the tools that hooks witnessed and the transcript does not know
// of: the process was killed before it wrote their call, the file is damaged, or there
// is none. Their content is nowhere, or the hooks carried it.
func (r *reducer) unrecorded(src integrations.Source, f *family, agent string, damaged bool) []runtypes.Op {
	var ops []runtypes.Op
	for _, id := range agentkit.SortedKeys(r.Tools) {
		seen := r.Tools[id]
		if seen.Prompt != f.prompt || seen.Agent != agent || seen.Name == "" || f.thread.calls(id) {
			continue
		}
		if seen.Post.IsZero() && !f.end.interrupted && !damaged {
			continue // refused before it ran, and noted somewhere else
		}
		start, end := seen.times(seen.Pre, f.end.at)
		run := runtypes.Tool(f.parent, r.id(f.start, f.prompt, "tool", id), start, seen.Name)
		run.Metadata = map[string]any{agentkit.MetaCallID: id}
		carried := seen.carry(src, run)
		if !carried {
			run.Metadata[agentkit.MetaIncomplete] = true
		}
		switch {
		case carried:
		case seen.Failed:
			run.Error = "tool failed; the transcript does not say why"
		case seen.Post.IsZero() && f.end.interrupted:
			runtypes.Interrupt(run, end, f.end.err)
		case seen.Post.IsZero():
			run.Error = "no result"
		}
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: runtypes.Finish(run, end)})
		r.anchor(id, run, f)
		delete(r.Tools, id)
	}
	return ops
}

// events are the failed attempts that led to the reply.
func (r *reply) events() []runtypes.RunEvent {
	var list []runtypes.RunEvent
	for _, a := range r.retries {
		list = append(list, runtypes.RunEvent{Name: "retry", Time: a.at, Data: map[string]any{
			"attempt": a.attempt, "error": a.err, "retry_in_ms": a.wait,
		}})
	}
	return list
}

// tool builds the run of one tool call. Its times are the hooks' where they were
// heard: the transcript's would count waiting for a person and for hooks as work.
func (r *reducer) tool(f *family, reply *reply, call block) *runtypes.Run {
	start, end := reply.asked[call.ID], f.end.at
	res, timing := f.thread.results[call.ID], r.Tools[call.ID]
	if res != nil {
		end = res.at
	}
	start, end = timing.times(start, end)
	if start.Before(reply.start) {
		start = reply.start
	}
	run := runtypes.Tool(f.parent, r.id(f.start, f.prompt, "tool", call.ID), start, call.Name)
	run.Metadata = map[string]any{agentkit.MetaCallID: call.ID}
	run.Inputs = call.Input
	r.facts(run, call, res, timing)
	if first := f.thread.failedBefore(call); first != "" {
		run.Metadata[agentkit.MetaRetryOf] = first
	}
	if call.Name == "Skill" {
		run.Tool.Skill = skillOf(call.Input)
	}
	switch {
	case res == nil && f.end.interrupted:
		return runtypes.Interrupt(run, end, f.end.err)
	case res == nil:
		run.Error = "no result"
		if f.end.err != "" {
			run.Error = f.end.err
		}
	case res.marked:
		return runtypes.Interrupt(run, end, "Interrupted by user")
	case res.isError:
		run.Error = toolErrorText(res.content)
	default:
		run.Outputs = toolOutput(res.content)
	}
	return runtypes.Finish(run, end)
}

func skillOf(input json.RawMessage) string {
	var in struct {
		Skill string `json:"skill"`
	}
	_ = json.Unmarshal(input, &in) // no skill named: none is stamped
	return in.Skill
}

// toolErrorText is what a failed tool told the model, without the tags around it.
func toolErrorText(content json.RawMessage) string {
	text := contentText(content)
	text = strings.TrimPrefix(text, "<tool_use_error>")
	text = strings.TrimSuffix(text, "</tool_use_error>")
	if text = strings.TrimSpace(text); text == "" {
		return "tool failed"
	}
	return text
}

// toolOutput is what the tool told the model.
func toolOutput(content json.RawMessage) json.RawMessage {
	if len(content) == 0 {
		return nil
	}
	raw, err := runtypes.Marshal(map[string]json.RawMessage{"output": content})
	if err != nil {
		return nil
	}
	return raw
}

// hookOnly emits what a turn without a transcript can show: hooks carry the content
// then.
func (r *reducer) hookOnly(t *turn, e integrations.Event, d *data) []runtypes.Op {
	th := newThread(0)
	root := r.root(t, th)
	var ops []runtypes.Op
	if !t.Posted {
		t.Posted = true
		pending := *root
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: &pending})
	}
	if e.Kind != "PostToolUse" && e.Kind != "PostToolUseFailure" || d.ToolID == "" || t.has(d.ToolID) {
		return ops
	}
	start := e.At
	timing := r.Tools[d.ToolID]
	switch {
	case d.DurationMS != nil:
		start = e.At.Add(-time.Duration(*d.DurationMS * float64(time.Millisecond)))
	case timing != nil && !timing.Pre.IsZero():
		start = timing.Pre
	}
	run := runtypes.Tool(root, r.id(root.Start, t.Prompt, "tool", d.ToolID), start, d.Tool)
	run.Metadata = map[string]any{agentkit.MetaCallID: d.ToolID}
	d.fill(run, e.Kind == "PostToolUseFailure")
	runtypes.Finish(run, e.At)
	if started := launchedBy(d.Response).Agent; started != "" {
		r.setAnchor(d.ToolID, run, &family{start: root.Start, prompt: t.Prompt})
		if a := r.Agents[started]; a != nil {
			a.Tool = d.ToolID
		}
	}
	t.Done = append(t.Done, short(d.ToolID))
	delete(r.Tools, d.ToolID)
	return append(ops, runtypes.Op{Verb: runtypes.Post, Run: run})
}

// fill tells a run what the hook that ended its call carried.
func (d *data) fill(run *runtypes.Run, failed bool) {
	run.Inputs = d.Input
	switch {
	case !failed:
		run.Outputs = toolOutput(d.Response)
	case d.Text == "":
		run.Error = "tool failed"
	default:
		run.Error = d.Text
	}
}

// carry tells a run what its call's hook carried, if it did.
func (t *timing) carry(src integrations.Source, run *runtypes.Run) bool {
	if t.Ref == "" {
		return false
	}
	e, err := src.Recall(t.Ref)
	if err != nil {
		return false
	}
	var d data
	if json.Unmarshal(e.Data, &d) != nil {
		return false
	}
	d.fill(run, t.Failed)
	return true
}
