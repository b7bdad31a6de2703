package cursor

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Metadata of Cursor's alone.
const (
	metaUsageScope = "usage_scope"         // llm: what the tokens are of, where that is more than the call
	metaMode       = "composer_mode"       // roots
	metaLoop       = "loop_count"          // roots: how often a stop hook had the conversation go on
	metaDropped    = "attachments_dropped" // roots: images of the prompt that could not be read
	metaUnresolved = "subagent_unresolved"
)

// family is what the runs below one parent have in common.
type family struct {
	parent     *runtypes.Run
	start      time.Time // of the turn: the ids' time
	talk, turn string
	prefix     string // of native ids: a subagent's
}

func (f *family) id(kind, native string) uuid.UUID {
	return idgen.Run(f.start, Name, f.talk, f.turn, kind, f.prefix+native)
}

func (r *reducer) familyOf(src integrations.Source, t *turn) *family {
	return &family{parent: r.root(src, t), start: t.Start, talk: t.Talk, turn: t.Generation}
}

func (a *agent) family() *family {
	return &family{parent: a.Run.Run(), start: a.Run.Turn, talk: a.Talk, turn: a.Generation, prefix: a.ID + "/"}
}

// post emits the root of a turn as pending, once something has happened in it.
func (r *reducer) post(src integrations.Source, t *turn) []runtypes.Op {
	return r.postWith(src, t, nil)
}

func (r *reducer) postWith(src integrations.Source, t *turn, s *section) []runtypes.Op {
	if t.Posted {
		return nil
	}
	t.Posted = true
	c := r.talk(t.Talk)
	c.Count++
	t.Number = c.Count
	root := r.root(src, t)
	if prompt := promptOf(src, t.First, "beforeSubmitPrompt", s); prompt != "" {
		root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: withFiles(src, t.First, prompt)})
	}
	return []runtypes.Op{{Verb: runtypes.Post, Run: root}}
}

// withFiles is a prompt with the names of the files that went with it, if any did.
func withFiles(src integrations.Source, ref, prompt string) any {
	_, d, err := recall(src, ref)
	if err != nil || len(d.Attachments) == 0 {
		return prompt
	}
	parts := []runtypes.Part{{Type: "text", Text: prompt}}
	for _, file := range d.Attachments {
		parts = append(parts, runtypes.Part{Type: "file", Name: file})
	}
	return parts
}

// promptOf is the prompt or task that an event holds, if it is of that kind, else a
// transcript.
func promptOf(src integrations.Source, ref, kind string, s *section) string {
	if e, d, err := recall(src, ref); err == nil && e.Kind == kind && d.Text != "" {
		return d.Text
	}
	if s != nil {
		return s.prompt
	}
	return ""
}

// root builds a turn's root run as it is when pending.
func (r *reducer) root(src integrations.Source, t *turn) *runtypes.Run {
	e, d, err := recall(src, t.First)
	if err != nil {
		d = &data{}
	}
	who := runtypes.Identity{
		Integration: Name, Runtime: runtimeName, RuntimeVersion: d.Version,
		ThreadID: t.Talk, TurnID: t.Generation, TurnNumber: t.Number,
		Repo: runtypes.Repo{Branch: e.Head.Branch, SHA: e.Head.SHA}, WorkingDirectory: e.CWD,
	}
	root := agentkit.Top(d.UnderRun, idgen.Run(t.Start, Name, t.Talk, t.Generation, "root", t.Generation), t.Start, who)
	root.Metadata = map[string]any{metaMode: d.Mode}
	if t.Hash == "" {
		root.Metadata[agentkit.MetaPartial] = true // no hook told of its prompt
		if c := r.talk(t.Talk); !c.Main && c.File == "" {
			root.Metadata[metaUnresolved] = true
		}
	}
	return root
}

// endRoot gives a root its end.
func (r *reducer) endRoot(root *runtypes.Run, t *turn, told *story, b *book) {
	if said := cmp.Or(b.last, b.said); said != "" {
		root.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: said})
	}
	if t.End.Loop > 0 {
		root.Metadata[metaLoop] = t.End.Loop
	}
	if t.End.Status == "error" {
		root.Metadata[agentkit.MetaFailure] = "model_error"
	}
	end(root, t.End)
}

// end ends a run as the ending says.
func end(run *runtypes.Run, e *ending) {
	switch {
	case e.interrupted():
		runtypes.Interrupt(run, e.At, e.reason())
	default:
		run.Error = e.reason()
		runtypes.Finish(run, e.At)
	}
}

// interrupted reports whether it was stopped before it completed.
func (e *ending) interrupted() bool {
	return e.Quiet || e.Status != "completed" && e.Status != "error" && e.Status != ""
}

// reason is why it ended too soon or failed; "" if it did not.
func (e *ending) reason() string {
	switch {
	case e.Quiet:
		return e.Status
	case e.Status == "aborted":
		return "Interrupted by user"
	case e.Status == "error" && e.Text != "":
		return e.Text
	case e.Status == "error":
		return "Cursor reported an error and did not say which"
	case e.interrupted():
		return "The session ended: " + e.Status
	}
	return ""
}

// compactions emits those that hooks told of. None tells of their end.
func (r *reducer) compactions(src integrations.Source, f *family, told *story) []runtypes.Op {
	var ops []runtypes.Op
	for i, m := range told.merges {
		_, d, err := recall(src, m.ref)
		if err != nil {
			continue
		}
		run := runtypes.Chain(f.parent, f.id("compaction", strconv.Itoa(i+1)), m.at, "Context Compaction", runtypes.AgentCompaction)
		run.Metadata = map[string]any{agentkit.MetaTrigger: d.Trigger}
		if d.Trigger != "" {
			run.Name += " (" + d.Trigger + ")"
		}
		if d.Context > 0 {
			run.Metadata[agentkit.MetaContextTokens] = d.Context
		}
		ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: runtypes.Finish(run, m.at)})
	}
	return ops
}

// run is a subagent's run as it is when pending.
func (a *agent) run(src integrations.Source) *runtypes.Run {
	run := amended(a.Run, runtypes.KindSubagent, a.Kind+" Subagent")
	run.Subagent = runtypes.SubagentInfo{ID: a.ID, Type: a.Kind}
	if a.Kind == "" {
		run.Name, run.Subagent.Type = "Subagent", "unknown"
	}
	if task := a.task(src); task != "" {
		run.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: task})
	}
	return run
}

// task is what a subagent was told to do: by its start, else by the call.
func (a *agent) task(src integrations.Source) string {
	if task := promptOf(src, a.Begin, "subagentStart", nil); task != "" {
		return task
	}
	if _, d, err := recall(src, a.Call); err == nil {
		return taskOf(d.Input)
	}
	return ""
}

// callRun is the run of the call that started a subagent as it is when pending.
func (a *agent) callRun(src integrations.Source) *runtypes.Run {
	run := amended(a.Tool, runtypes.KindTool, a.ToolName)
	run.Tool.Name = a.ToolName
	run.Metadata = map[string]any{agentkit.MetaCallID: a.ID}
	if _, d, err := recall(src, a.Call); err == nil {
		run.Inputs = d.Input
	}
	return run
}

// end ends a subagent's run and that of its call. said is its last word.
func (a *agent) end(src integrations.Source, said string) []runtypes.Op {
	if _, d, err := recall(src, a.End.Ref); err == nil && d.Text != "" {
		said = d.Text
	}
	run := a.run(src)
	if said != "" {
		run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: said})
	}
	end(run, a.End)
	ops := []runtypes.Op{{Verb: runtypes.Patch, Run: run}}
	if a.Tool == nil || a.ToolEnded {
		return ops
	}
	call := a.callRun(src)
	if said != "" {
		call.Outputs = output(text(said))
	}
	end(call, a.End)
	return append(ops, runtypes.Op{Verb: runtypes.Patch, Run: call})
}

// amended is the run of an anchor, to be ended.
func amended(a *agentkit.Anchor, kind runtypes.Kind, name string) *runtypes.Run {
	run := a.Run()
	run.Kind, run.Name = kind, name
	if parts := strings.Split(a.Order, "."); len(parts) > 1 {
		above := parts[len(parts)-2]
		if id, err := uuid.Parse(above[max(0, len(above)-36):]); err == nil {
			run.ParentID = id
		}
	}
	return run
}
