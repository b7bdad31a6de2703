package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn makes the runs of a turn, one after the other in time.
type turn struct {
	t      testing.TB
	thread string
	number int
	repo   string
	at     time.Time // where the next run starts
	root   runtypes.Wire
	runs   []runtypes.Wire
	order  map[string]string
}

// newTurn begins a turn that ends when done or fail is called.
func newTurn(t testing.TB, thread string, number int, start time.Time, prompt string) *turn {
	u := &turn{t: t, thread: thread, number: number, repo: "https://github.com/acme/widgets", at: start, order: map[string]string{}}
	id := u.add("", "Claude Code Turn", "chain", time.Minute, messages("user", prompt), nil, nil)
	u.root = u.runs[0]
	u.root.EndTime = ""
	u.runs[0] = u.root
	u.root.ID = id
	u.at = start.Add(100 * time.Millisecond)
	return u
}

func messages(role string, content any) any {
	return map[string]any{"messages": []any{map[string]any{"role": role, "content": content}}}
}

func raw(t testing.TB, v any) json.RawMessage {
	if v == nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// add appends a run below a parent ("" for the root) and returns its id.
func (u *turn) add(parent, name, kind string, long time.Duration, in, out any, meta map[string]any) string {
	id := idgen.Run(u.at, u.thread, fmt.Sprint(u.number), fmt.Sprint(len(u.runs)))
	order := idgen.Segment(u.at, id)
	trace := id.String()
	if parent != "" {
		order, trace = u.order[parent]+"."+order, u.runs[0].TraceID
	}
	u.order[id.String()] = order
	all := map[string]any{
		"ls_integration": "claude-code", "ls_agent_runtime": "Claude Code 2.1.0", "ls_agent_type": "root", "ls_agent_purpose": "coding",
		"ls_trace_schema_version": "coding-agent-v1", "thread_id": u.thread, "turn_id": fmt.Sprint(u.number), "turn_number": u.number,
		"git_repo_url": u.repo, "git_branch": "main", "working_directory": "/home/dev/widgets",
	}
	maps.Copy(all, meta)
	u.runs = append(u.runs, runtypes.Wire{
		ID: id.String(), TraceID: trace, ParentRunID: parent, DottedOrder: order, Name: name, RunType: kind,
		StartTime: u.at.UTC().Format(runtypes.TimeLayout), EndTime: u.at.Add(long).UTC().Format(runtypes.TimeLayout),
		Inputs: raw(u.t, in), Outputs: raw(u.t, out), Extra: raw(u.t, map[string]any{"metadata": all}),
	})
	u.at = u.at.Add(long)
	return id.String()
}

// trace is the turn's id.
func (u *turn) trace() string { return u.runs[0].TraceID }

// model adds a model call that says a text; input is how full its context was.
func (u *turn) model(input int, text string) string {
	return u.add(u.trace(), "Claude", "llm", 1500*time.Millisecond, messages("user", "…"), messages("assistant", []any{map[string]any{"type": "text", "text": text}}),
		map[string]any{"ls_model_name": "claude-opus-4-5", "ls_provider": "anthropic", "usage_metadata": map[string]any{
			"input_tokens": input, "output_tokens": len(text), "total_tokens": input + len(text),
			"input_token_details": map[string]any{"cache_read": input * 8 / 10, "cache_creation": input / 10},
		}})
}

// tool adds a tool call; waited is how long of it a person was asked.
func (u *turn) tool(name string, args any, output string, waited time.Duration) string {
	meta := map[string]any{"ls_tool_name": name}
	if waited > 0 {
		meta["permission_wait_ms"] = waited.Milliseconds()
	}
	return u.add(u.trace(), name, "tool", waited+400*time.Millisecond, args, map[string]any{"output": output}, meta)
}

// subagent adds one, with a model call of its own.
func (u *turn) subagent(kind string, input int) {
	meta := map[string]any{"ls_agent_type": "subagent", "ls_subagent_id": uuid.NewString(), "ls_subagent_type": kind}
	begin := u.at
	id := u.add(u.trace(), kind+" Subagent", "chain", 3*time.Second, messages("user", "Review this"), messages("assistant", "Fine"), meta)
	end := u.at
	u.at = begin.Add(200 * time.Millisecond)
	u.add(id, "Claude", "llm", 2*time.Second, messages("user", "Review this"), messages("assistant", "Fine"), map[string]any{
		"ls_agent_type": "subagent", "ls_model_name": "claude-haiku-4-5", "usage_metadata": map[string]any{"input_tokens": input, "output_tokens": 100, "total_tokens": input + 100}})
	u.at = end
}

// compaction adds one.
func (u *turn) compaction() {
	u.add(u.trace(), "Compaction", "chain", 2*time.Second, nil, messages("assistant", "A summary"), map[string]any{"ls_agent_type": "compaction", "compaction_trigger": "auto"})
}

// fails gives the last run an error in place of its output.
func (u *turn) fails(why string) {
	last := &u.runs[len(u.runs)-1]
	last.Error, last.Outputs = why, nil
}

// done ends the turn with an answer.
func (u *turn) done(answer string) []runtypes.Wire {
	u.runs[0].EndTime = u.at.UTC().Format(runtypes.TimeLayout)
	u.runs[0].Outputs = raw(u.t, messages("assistant", answer))
	return u.runs
}

// plain is a whole turn with one model call and one tool call.
func plain(t testing.TB, thread string, number int, start time.Time, prompt string) *turn {
	u := newTurn(t, thread, number, start, prompt)
	u.model(12_000+number*500, "Looking.")
	u.tool("Read", map[string]any{"file_path": "/home/dev/widgets/main.go"}, "package main", 0)
	u.done("Done.")
	return u
}
