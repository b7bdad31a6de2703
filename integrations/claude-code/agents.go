package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// agent is a subagent whose runs have not gone out yet. They go together when it
// has ended, below the tool call that started it; it may outlive its turn. One that is
// sent a message after its end goes on in its file: what follows is a run of its own,
// below the call that sent it.
type agent struct {
	ID       string    `json:"id"`
	Type     string    `json:"type,omitempty"`
	Tool     string    `json:"tool,omitempty"`   // tool_use id of the call that started it
	Prompt   string    `json:"prompt,omitempty"` // the turn it was started in
	Path     string    `json:"path,omitempty"`
	From     int64     `json:"from,omitempty"`      // where its file goes on behind the runs that have gone out
	Messaged time.Time `json:"messaged,omitzero"`   // when it was sent the message that it goes on with
	Begun    time.Time `json:"begun,omitzero"`      // the first and
	Heard    time.Time `json:"heard,omitzero"`      // the last hook heard of it
	Stops    int       `json:"stops,omitempty"`     // a hook may let it go on, as a subagent of its own may that reports back
	StopAt   time.Time `json:"stop_at,omitzero"`    // the last of them
	StopText string    `json:"stop_text,omitempty"` // what it said, where no transcript holds it
	LastHash string    `json:"last_hash,omitempty"`
	Waited   bool      `json:"waited,omitempty"`  // its last words do not come any more
	Notified time.Time `json:"notified,omitzero"` // when a notification told of its end
	Forced   bool      `json:"forced,omitempty"`  // its process or its turn is gone
}

// heardAgent takes what an event says of a subagent. The fork that writes a
// compaction's summary sends a SubagentStop without a type: it is none.
func (r *reducer) heardAgent(e integrations.Event, d *data) {
	a := r.Agents[d.Agent]
	if a == nil {
		if e.Kind != "SubagentStart" && e.Kind != "SubagentStop" && d.Tool == "" {
			return
		}
		a = r.begin(e, d)
		r.Agents[d.Agent] = a
	}
	if a.Prompt == "" {
		a.Prompt, a.Begun = d.Prompt, e.At
	}
	if d.AgentType != "" {
		a.Type = d.AgentType
	}
	if d.AgentPath != "" {
		a.Path = d.AgentPath
	}
	a.Heard, a.Waited = e.At, false
	if e.Kind == "SubagentStop" {
		a.Stops++
		a.StopAt, a.LastHash, a.StopText = e.At, d.LastHash, d.Text
	}
}

// begin returns a subagent that is heard of for the first time, or again after its
// runs have gone out.
func (r *reducer) begin(e integrations.Event, d *data) *agent {
	for i, a := range r.Rested {
		if a.ID == d.Agent {
			r.Rested = slices.Delete(r.Rested, i, i+1)
			return a
		}
	}
	return &agent{
		ID: d.Agent, Prompt: d.Prompt, Begun: e.At,
		Path: path.Join(strings.TrimSuffix(r.Transcript, ".jsonl"), "subagents", "agent-"+d.Agent+".jsonl"),
	}
}

// releaseAgents lets go of subagents that nothing more will be heard of: all of
// them when the session is over. Of others, the last words are not waited for any more.
func (r *reducer) releaseAgents(all bool) {
	for _, a := range r.Agents {
		a.Forced = a.Forced || all
		a.Waited = a.Stops > 0
	}
}

// endTurnsAgents settles the subagents of a turn that is over: those whose call was
// cut off with it are over too. Those whose call is not known, and those that start
// later, may hang under the root.
func (r *reducer) endTurnsAgents(t *turn, root *runtypes.Run, f *family) {
	r.setAnchor(rootAnchor(t.Prompt), root, f)
	for _, id := range agentkit.SortedKeys(r.Agents) {
		a := r.Agents[id]
		if a.Prompt != t.Prompt {
			continue
		}
		res := f.thread.results[a.Tool]
		if f.end.interrupted && a.Tool != "" && a.From == 0 && (res == nil || res.rejected || res.isError) {
			a.Forced = true
		}
	}
}

// advanceAgents emits the subagents that have ended, outer ones first: an inner
// one's call is part of the outer's runs.
func (r *reducer) advanceAgents(src integrations.Source, hard bool) ([]runtypes.Op, error) {
	var ops []runtypes.Op
	var errs []error
	for again := true; again; {
		again = false
		for _, id := range agentkit.SortedKeys(r.Agents) {
			more, done, err := r.advanceAgent(src, r.Agents[id], hard)
			if err != nil {
				errs = append(errs, err)
			}
			ops = append(ops, more...)
			if done {
				again = true
				r.rest(r.Agents[id])
			}
		}
	}
	return ops, errors.Join(errs...)
}

func (r *reducer) advanceAgent(src integrations.Source, a *agent, hard bool) (ops []runtypes.Op, done bool, err error) {
	if a.Tool == "" {
		r.find(src, a)
	}
	if a.Stops == 0 && a.Notified.IsZero() && !a.Forced {
		return nil, false, nil
	}
	th, err := r.agentThread(src, a)
	if err != nil {
		return nil, false, err
	}
	if !a.Forced && !a.Waited && !th.over && a.LastHash != "" && a.StopText == "" && !th.says(a.LastHash) {
		return nil, false, nil // its last words are not on disk yet
	}
	if len(th.entries) == 0 && (a.Type == "" || a.From > 0) {
		return nil, true, nil // an internal fork, which has no type and no file, or no more than was told
	}
	up := r.above(a)
	if up == nil && a.Forced && len(r.Turns) == 0 && !r.hasOuter(a) { // nothing else will ever be above it
		if up = r.adopter(a); up == nil {
			return nil, true, fmt.Errorf("claudecode: a subagent of a turn that is not known")
		}
	}
	if up == nil {
		return nil, false, nil
	}
	if !a.final(th, up, hard) {
		return nil, false, nil
	}
	return r.emitAgent(src, a, th, up), true, nil
}

// hasOuter reports whether another subagent is still to be emitted, which may hold
// the call that started a.
func (r *reducer) hasOuter(a *agent) bool {
	for _, other := range r.Agents {
		if other != a && r.above(other) != nil {
			return true
		}
	}
	return false
}

// emitAgent builds a subagent's run and everything below it.
func (r *reducer) emitAgent(src integrations.Source, a *agent, th *thread, up *agentkit.Anchor) []runtypes.Op {
	start := th.begun()
	if start.IsZero() {
		start = a.Begun
	}
	native := a.ID
	if a.From > 0 {
		native += fmt.Sprintf(" %d", a.From)
	}
	kind := a.Type
	if kind == "" {
		kind = "unknown"
	}
	run := runtypes.Subagent(up.Run(), r.id(up.Turn, up.Prompt, "subagent", native), start, runtypes.SubagentInfo{ID: a.ID, Type: kind})
	run.Metadata = map[string]any{}
	if len(th.entries) > 0 && th.entries[0].user != nil {
		run.Inputs = runtypes.Messages(firstPrompt(th))
	}
	end := a.outcome(th)
	if end.interrupted {
		th.abandon()
	}
	f := &family{parent: run, thread: th, prompt: up.Prompt, start: up.Turn, end: end, over: true, hard: true}
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: run}}
	for _, reply := range th.order {
		if child := r.llm(f, reply); child != nil {
			ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: child})
		}
		for _, b := range reply.blocks {
			if b.Type != "tool_use" {
				continue
			}
			child := r.tool(f, reply, b)
			ops = append(ops, runtypes.Op{Verb: runtypes.Post, Run: child})
			r.anchor(b.ID, child, f)
			delete(r.Tools, b.ID)
		}
	}
	compacted := 0
	ops = append(ops, r.compactions(f, &compacted)...)
	if !th.over { // else their calls may stand behind the message
		ops = append(ops, r.unrecorded(src, f, a.ID, len(th.entries) == 0 || th.garbled)...)
	}
	t := &turn{StopText: a.StopText}
	t.finish(run, th, end)
	return ops
}

// outcome reads how a subagent ended.
func (a *agent) outcome(th *thread) outcome {
	o, ended := th.outcome()
	if ended {
		return o
	}
	if a.Stops > th.rests { // else it went on after the last of them
		if o.at.IsZero() {
			o.at = a.StopAt
		}
		return o
	}
	o = outcome{at: th.last, interrupted: true, err: "Interrupted"}
	if a.Heard.After(o.at) {
		o.at = a.Heard
	}
	return o
}

func (r *reducer) agentThread(src integrations.Source, a *agent) (*thread, error) {
	key := "agent " + a.ID
	th := r.threads[key]
	if th == nil {
		th = newThread(a.From)
		r.threads[key] = th
	}
	err := th.grow(src, a.Path, "")
	r.heed(th)
	if len(th.entries) > 0 {
		if first := th.entries[0].user; first != nil && first.resumes() {
			a.Messaged = first.Timestamp
		}
		if a.Prompt == "" && th.entries[0].user != nil {
			a.Prompt = th.entries[0].user.PromptID
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return th, nil
	}
	if err != nil {
		return th, fmt.Errorf("claudecode: subagent transcript: %w", err)
	}
	return th, nil
}

// find looks where a subagent's files are: a workflow's stages lie one folder
// deeper, and only their end says where.
func (r *reducer) find(src integrations.Source, a *agent) {
	if a.Type == "workflow-subagent" && a.workflow() == "" {
		pattern := path.Join(strings.TrimSuffix(r.Transcript, ".jsonl"), "subagents", "workflows", "*", "agent-"+a.ID+".jsonl")
		if found, err := src.Glob(pattern); err == nil && len(found) == 1 {
			a.Path = found[0]
		}
	}
	a.readMeta(src)
}

// readMeta finds the call that started a subagent in the file beside its
// transcript, which is there from the start.
func (a *agent) readMeta(src integrations.Source) {
	raw, err := src.File(strings.TrimSuffix(a.Path, ".jsonl") + ".meta.json")
	if err != nil {
		return
	}
	var meta struct {
		Tool string `json:"toolUseId"`
		Type string `json:"agentType"`
	}
	if json.Unmarshal(raw, &meta) != nil {
		return
	}
	a.Tool = meta.Tool
	if a.Type == "" {
		a.Type = meta.Type
	}
}
