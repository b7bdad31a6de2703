package deepagentscode

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// closing is why a turn is over.
type closing struct {
	at     time.Time // of the evidence; zero: not known
	ended  bool      // the session's end
	reason string    // of the interrupt, where it is one
}

// root builds a turn's root run as it is when pending.
func (r *reducer) root(t *turn) *runtypes.Run {
	who := runtypes.Identity{
		Integration: Name, Runtime: runtimeName,
		ThreadID: r.Thread, TurnID: t.ID, TurnNumber: t.Number,
		Repo: runtypes.Repo{Branch: t.Head.Branch, SHA: t.Head.SHA}, WorkingDirectory: t.CWD,
		ApprovalPolicy: t.Mode,
	}
	root := agentkit.Top(t.UnderRun, idgen.Run(t.Start, Name, r.Thread, t.Key, "root", t.Key), t.Start, who)
	root.Metadata = map[string]any{}
	return root
}

// teller writes the runs of a turn that is over.
type teller struct {
	r     *reducer
	t     *turn
	s     *story
	over  verdict
	model runtypes.Model // where an answer names none
	mid   []runtypes.Message
	spent int // bytes of conversation that calls have repeated
	ops   []runtypes.Op
}

// verdict is how a turn ended.
type verdict struct {
	at          time.Time
	err         string
	interrupted bool
}

// close tells the turn that is open to its end.
func (r *reducer) close(src integrations.Source, c closing) ([]runtypes.Op, error) {
	t := r.Turn
	if t == nil {
		return nil, nil
	}
	prompt, said := "", ""
	if _, d, err := recall(src, t.First); err == nil && !t.Blind {
		prompt = d.Text
	}
	if t.Stopped != nil {
		if _, d, err := recall(src, t.Stopped.Ref); err == nil && !strings.HasPrefix(d.Text, "[{") { // Python's print of a list
			said = d.Text
		}
	}
	s, err := r.read(src, t, prompt)
	r.Turn = nil
	r.forget(t.ID)
	w := &teller{r: r, t: t, s: s, over: judge(t, s, c), model: s.model(modelOf(r.Model))}
	if r.options.Inputs == integrations.InputsThread && s.facts != nil {
		w.mid = r.before(src, t, s.facts.first)
	}
	root := r.root(t)
	if prompt = cmp.Or(prompt, s.own().prompt); prompt != "" {
		root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: prompt})
	}
	if s.facts != nil {
		root.Identity.RuntimeVersion = s.facts.version
	} else {
		root.Metadata[agentkit.MetaPartial] = true // its tokens and tools
	}
	w.scope(root, s.own(), "")
	w.compactions(root)
	if said = cmp.Or(s.own().saidLast(), said); said != "" {
		root.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: said})
	}
	w.over.end(root)
	if t.Blind {
		return append([]runtypes.Op{{Verb: runtypes.Post, Run: root}}, w.ops...), err
	}
	return append(w.ops, runtypes.Op{Verb: runtypes.Patch, Run: root}), err
}

// judge says how a turn ended. Where nothing says when, it is the last that the agent
// wrote of it: the evidence may come after lunch.
func judge(t *turn, s *story, c closing) verdict {
	own := s.own()
	last := cmp.Or(c.at, t.Last)
	if s.facts != nil && s.facts.last.After(t.Start) {
		last = s.facts.last
	}
	switch {
	case t.Stopped != nil:
		return verdict{at: t.Stopped.At}
	case own.err != "" && !own.cancelled:
		if c.ended {
			last = c.at
		}
		return verdict{at: last, err: own.err}
	case own.cancelled:
		return verdict{at: last, err: "Interrupted by user", interrupted: true}
	}
	return verdict{at: last, err: c.reason, interrupted: true}
}

// end ends a run that was not over when the turn was.
func (v verdict) end(run *runtypes.Run) *runtypes.Run {
	if v.interrupted {
		return runtypes.Interrupt(run, v.at, v.err)
	}
	run.Error = v.err
	return runtypes.Finish(run, v.at)
}

func (w *teller) id(kind, native string) uuid.UUID {
	return idgen.Run(w.t.Start, Name, w.r.Thread, w.t.Key, kind, native)
}

func (w *teller) post(run *runtypes.Run) {
	w.ops = append(w.ops, runtypes.Op{Verb: runtypes.Post, Run: run})
}

// scope tells of one agent's work below a run.
func (w *teller) scope(parent *runtypes.Run, one *scope, prefix string) {
	for i, c := range one.calls {
		w.call(parent, one, i, c, prefix)
	}
	for _, t := range one.tools {
		run := w.tool(parent, t)
		w.post(run)
		if below := w.s.below(t.id); below != nil {
			w.subagent(run, below)
		}
	}
	if prefix != "" {
		return
	}
	for _, orphan := range w.s.scopes[1:] { // hooks told of it, and none of the call that started it
		if orphan.task != "" && w.s.known(orphan.task) == nil {
			w.subagent(parent, orphan)
		}
	}
}

// call tells of one model call.
func (w *teller) call(parent *runtypes.Run, one *scope, at int, c *call, prefix string) {
	model := w.model
	if c.note != nil && c.note.Response.Model != "" {
		model = c.note.model()
	}
	run := runtypes.LLM(parent, w.id("llm", prefix+c.id), c.from, model)
	run.Metadata = map[string]any{}
	if asked := w.asked(one, at, prefix == ""); len(asked) > 0 {
		run.Inputs = runtypes.Messages(asked...)
	}
	end := c.to
	if end.IsZero() || end.After(w.over.at) {
		end = w.over.at
	}
	if c.note == nil {
		run.Error = c.err
		w.post(runtypes.Finish(run, end))
		return
	}
	if m := c.note.answer(); m.Content != nil {
		run.Outputs = runtypes.Messages(m)
	}
	run.Usage = c.note.usage()
	if why := cmp.Or(c.note.Response.Stop, c.note.Response.Finish); why != "" {
		run.Metadata[agentkit.MetaStopReason] = why
	}
	if c.cut {
		w.post(runtypes.Interrupt(run, end, "Interrupted by user"))
		return
	}
	w.post(runtypes.Finish(run, end))
}

// maxRepeated bounds the bytes of conversation that the calls of one turn repeat
// together. From there on each repeats only what is new.
const maxRepeated = 16 << 20

// asked is what a call repeats of the conversation.
func (w *teller) asked(one *scope, at int, own bool) []runtypes.Message {
	upTo := one.calls[at].asked
	list := one.talk[:upTo:upTo]
	switch {
	case w.r.options.Inputs == integrations.InputsDelta || w.spent > maxRepeated:
		if at > 0 {
			list = list[min(upTo, one.calls[at-1].asked+1):]
		}
	case own && len(w.mid) > 0:
		list = append(w.mid[:len(w.mid):len(w.mid)], list...)
	}
	list = agentkit.Bounded(list)
	for _, m := range list {
		w.spent += agentkit.SizeOf(m)
	}
	return list
}

// tool tells of one call of a tool.
func (w *teller) tool(parent *runtypes.Run, t *tool) *runtypes.Run {
	run := runtypes.Tool(parent, w.id("tool", t.id), t.from, cmp.Or(t.name, "unknown"))
	run.Inputs, run.Outputs = t.args, t.output
	run.Metadata = map[string]any{agentkit.MetaCallID: t.id}
	if rest, ok := strings.CutPrefix(t.name, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		run.Metadata[agentkit.MetaMCPServer] = server
	}
	if t.exit != nil {
		run.Metadata[agentkit.MetaExitCode] = *t.exit
	}
	if t.duration != nil {
		run.Metadata[agentkit.MetaDuration] = *t.duration
	}
	if t.to.IsZero() {
		if w.over.err == "" {
			return runtypes.Interrupt(run, w.over.at, "The turn ended before the tool did")
		}
		return w.over.end(run)
	}
	if t.halted {
		return runtypes.Interrupt(run, t.to, cmp.Or(t.err, "Interrupted by user"))
	}
	if run.Error = t.err; t.err == "" && t.exit != nil && *t.exit != 0 { // which the agent calls a success
		run.Error = fmt.Sprintf("exit code %d", *t.exit)
		run.Metadata[agentkit.MetaErrorClass] = "exit_code"
	}
	return runtypes.Finish(run, t.to)
}

// subagent tells of a subagent and its work.
func (w *teller) subagent(parent *runtypes.Run, one *scope) {
	info := runtypes.SubagentInfo{ID: one.task, Type: cmp.Or(one.kind, "unknown")}
	run := runtypes.Subagent(parent, w.id("subagent", one.task), one.begun, info)
	if one.prompt != "" {
		run.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: one.prompt})
	}
	if said := cmp.Or(one.said, one.saidLast()); said != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: said})
	}
	t := w.s.known(one.task)
	switch {
	case t != nil && t.to.IsZero() && w.over.interrupted:
		w.over.end(run)
	case one.err != "":
		run.Error = one.err
		fallthrough
	default:
		runtypes.Finish(run, cmp.Or(one.last, w.over.at))
	}
	w.post(run)
	w.scope(run, one, one.task+"/")
}

// compactions tells of those that hooks told of. None tells of their end.
func (w *teller) compactions(root *runtypes.Run) {
	for _, m := range w.s.merges {
		run := runtypes.Chain(root, w.id("compaction", m.at.Format(time.RFC3339Nano)), m.at, "Context Compaction", runtypes.AgentCompaction)
		run.Metadata = map[string]any{}
		if m.trigger != "" {
			run.Name += " (" + m.trigger + ")"
			run.Metadata[agentkit.MetaTrigger] = m.trigger
		}
		w.post(runtypes.Finish(run, m.at))
	}
}

// before is the conversation before a turn.
func (r *reducer) before(src integrations.Source, t *turn, first string) []runtypes.Message {
	var one scope
	err := readWrites(src, storeOf(t.Transcript), writesBefore, []any{r.Thread, first}, func(w *write) {
		for _, n := range w.notes() {
			switch n.Type {
			case "human":
				one.user(w, &n)
			case "ai":
				one.answered(w, &n)
			case "tool":
				one.talk = append(one.talk, n.result())
			}
		}
	})
	if err != nil {
		return nil // the turn itself is worth more than what went before it
	}
	return agentkit.Bounded(one.talk)
}
