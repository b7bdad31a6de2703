//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn is one trace as LangSmith holds it, or a part of one: a run, and runs below
// it sorted by what they are.
type turn struct {
	w                   *world
	root                runtypes.Wire
	llms, tools, others []runtypes.Wire
}

// turns waits until a conversation has so many turns and all that belongs to
// them has arrived, and returns them in order, looked over.
func (w *world) turns(thread string, count int) []turn {
	w.t.Helper()
	w.until("the turns arrive and end", func() bool {
		got := w.threads()[thread]
		return len(got) == count && !slices.ContainsFunc(got, func(t turn) bool { return t.root.EndTime == "" })
	})
	w.settle()
	w.inspect()
	got := w.threads()[thread]
	if len(got) != count {
		w.t.Fatalf("thread %s: %d turns, want %d", thread, len(got), count)
	}
	return got
}

// threads sorts what has arrived into conversations and turns.
func (w *world) threads() map[string][]turn {
	threads := make(map[string][]turn)
	place := make(map[string]*turn) // by trace
	for _, run := range w.arrived() {
		t := place[run.TraceID]
		if t == nil {
			t = &turn{w: w}
			place[run.TraceID] = t
		}
		if run.ParentRunID == "" {
			t.root = run
			continue
		}
		t.add(run)
	}
	for _, t := range place {
		thread, _ := t.root.Metadata()["thread_id"].(string)
		threads[thread] = append(threads[thread], *t)
	}
	for _, turns := range threads {
		slices.SortFunc(turns, func(a, b turn) int { return strings.Compare(a.root.DottedOrder, b.root.DottedOrder) })
	}
	return threads
}

// arrived are the runs that LangSmith holds, but for Deep Agents Code's own of a title that
// it gives a thread: it belongs to none, so that the relay lets it pass.
func (w *world) arrived() []runtypes.Wire {
	return slices.DeleteFunc(w.server.Memory().Runs(), func(run runtypes.Wire) bool {
		return w.name == "deepagents-code" && run.Name == "thread-title"
	})
}

func (t *turn) add(run runtypes.Wire) {
	switch run.Kind() {
	case runtypes.KindLLM:
		t.llms = append(t.llms, run)
	case runtypes.KindTool:
		t.tools = append(t.tools, run)
	default:
		t.others = append(t.others, run)
	}
}

// below is a run of the turn with its children.
func (t turn) below(parent runtypes.Wire) turn {
	part := turn{w: t.w, root: parent}
	for _, run := range slices.Concat(t.llms, t.tools, t.others) {
		if run.ParentRunID == parent.ID {
			part.add(run)
		}
	}
	return part
}

// inspect checks what holds of every session, however it went.
func (w *world) inspect() {
	w.t.Helper()
	runs := w.arrived()
	for _, v := range runtypes.ValidateWire(runs) {
		w.t.Error("contract:", v)
	}
	for _, run := range runs {
		if run.EndTime == "" {
			w.t.Errorf("%s %s was left open", run.Kind(), run.Name)
		}
		w.wants(run, "git_branch", "trunk")
		w.wants(run, "git_commit_sha", w.sha)
		w.wants(run, "git_repo_url", w.remote)
		w.wants(run, "working_directory", w.repo)
		w.wants(run, "ls_integration", w.name)
		w.wants(run, "ls_agent_version", w.version)
	}
	if orphans := w.server.Memory().Orphans(); len(orphans) > 0 {
		w.t.Errorf("patched and never posted: %v", orphans)
	}
	if counts := w.server.Memory().Counts(); counts.Again > 0 {
		w.t.Errorf("%d runs were written again", counts.Again)
	}
	for status, n := range w.server.Stats().Statuses {
		if status >= 400 {
			w.t.Errorf("LangSmith refused %d requests with %d", n, status)
		}
	}
	if !w.silent {
		w.everyReplyOnce(runs)
	}
	if !w.silent && w.name == "claude-code" {
		w.agentNoticedNothing()
	}
}

// everyReplyOnce compares the model calls that were traced with those that were
// answered, and their tokens.
func (w *world) everyReplyOnce(runs []runtypes.Wire) {
	w.t.Helper()
	type tally struct{ Replies, Input, Output int }
	var want, got tally
	for _, request := range w.model.Requests() {
		title := (w.name == "opencode" || w.name == "deepagents-code") && len(request.Tools) == 0 // of the session, and of no turn
		if request.Status == http.StatusOK && !request.Cut && request.Scenario != modelserver.Summary && !title {
			u := request.Usage
			want.Replies++
			want.Input += u.Input + u.CacheRead + u.Write5m + u.Write1h
			want.Output += u.Output
		}
	}
	for _, run := range runs {
		if run.Kind() == runtypes.KindLLM && run.Error == "" {
			counts := usage(run)
			got.Replies++
			got.Input += int(counts["input_tokens"])
			got.Output += int(counts["output_tokens"])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("what the model served (-want +got):\n%s", diff)
	}
}

// agentNoticedNothing looks for traces of the hooks in the agent's own record: it
// writes down every hook that failed, was cancelled, or said something.
func (w *world) agentNoticedNothing() {
	w.t.Helper()
	transcripts, err := filepath.Glob(filepath.Join(w.home, ".claude/projects/*/*.jsonl"))
	if err != nil || len(transcripts) == 0 {
		w.t.Errorf("no transcripts (%v)", err)
	}
	inner, _ := filepath.Glob(filepath.Join(w.home, ".claude/projects/*/*/subagents/*.jsonl"))
	for _, path := range append(transcripts, inner...) {
		text, err := os.ReadFile(path)
		if err != nil {
			w.t.Error(err)
		}
		for _, sign := range []string{"hook_non_blocking_error", "hook_blocking_error", "hook_cancelled", "hook_success", "hook_additional_context"} {
			if bytes.Contains(text, []byte(`"`+sign+`"`)) && !(w.told && sign == "hook_success") {
				w.t.Errorf("the agent noticed a hook: %s in %s", sign, filepath.Base(path))
			}
		}
	}
}

func (w *world) wants(run runtypes.Wire, key, want string) {
	w.t.Helper()
	if got := run.Metadata()[key]; got != want {
		w.t.Errorf("%s %s: %s is %v, want %s", run.Kind(), run.Name, key, got, want)
	}
}

// has checks how many runs the turn is made of.
func (t turn) has(llms, tools int) {
	t.w.t.Helper()
	if len(t.llms) != llms || len(t.tools) != tools || len(t.others) != 0 {
		t.w.t.Errorf("%d llm, %d tool and %d other runs, want %d, %d and 0", len(t.llms), len(t.tools), len(t.others), llms, tools)
	}
}

// completed checks that the turn ran to its end and holds the answer.
func (t turn) completed(answer string) {
	t.w.t.Helper()
	if kind := t.root.Kind(); kind != runtypes.KindRoot || t.root.Error != "" {
		t.w.t.Errorf("the turn is %s with error %q, want a completed root", kind, t.root.Error)
	}
	if !bytes.Contains(t.root.Outputs, quoted(answer)) {
		t.w.t.Errorf("the turn's output is %s, want it to hold %q", t.root.Outputs, answer)
	}
}

// interrupted checks that the turn was stopped.
func (t turn) interrupted() {
	t.w.t.Helper()
	if kind := t.root.Kind(); kind != runtypes.KindInterrupted || t.root.Error == "" {
		t.w.t.Errorf("the turn is %s with error %q, want it interrupted", kind, t.root.Error)
	}
}

// interruptedInTool checks that the turn was stopped after its model call, and
// its tool with it.
func (t turn) interruptedInTool() {
	t.w.t.Helper()
	t.interrupted()
	t.has(1, 1)
	for _, tool := range t.tools {
		if tool.Error == "" || tool.Metadata()["ls_is_error_interrupt"] != true {
			t.w.t.Errorf("tool %s: error %q, want it interrupted", tool.Name, tool.Error)
		}
	}
	t.succeeded(t.llms)
}

// numbered checks where in its conversation the turn stands.
func (t turn) numbered(n int) {
	t.w.t.Helper()
	if got, want := t.root.Metadata()["turn_number"], json.Number(strconv.Itoa(n)); got != want {
		t.w.t.Errorf("turn_number is %v, want %v", got, want)
	}
}

func (t turn) succeeded(runs []runtypes.Wire) {
	t.w.t.Helper()
	for _, run := range runs {
		if run.Error != "" {
			t.w.t.Errorf("%s %s has error %q", run.Kind(), run.Name, run.Error)
		}
	}
}

func (t turn) failed(runs []runtypes.Wire) {
	t.w.t.Helper()
	for _, run := range runs {
		if run.Error == "" || run.Metadata()["ls_is_error_interrupt"] != nil {
			t.w.t.Errorf("%s %s has error %q, want a failure that is no interrupt", run.Kind(), run.Name, run.Error)
		}
	}
}

// toolNames lists the turn's tools, sorted.
func (t turn) toolNames() []string {
	names := make([]string, len(t.tools))
	for i, tool := range t.tools {
		names[i], _ = tool.Metadata()["ls_tool_name"].(string)
	}
	slices.Sort(names)
	return names
}

// usage decodes a run's token counts; details by their own names.
func usage(run runtypes.Wire) map[string]int64 {
	counts := make(map[string]int64)
	var read func(value any, key string)
	read = func(value any, key string) {
		switch v := value.(type) {
		case map[string]any:
			for k, inner := range v {
				read(inner, k)
			}
		case json.Number:
			counts[key], _ = v.Int64()
		}
	}
	read(run.Metadata()["usage_metadata"], "")
	return counts
}

// quoted is text as it stands inside a JSON string.
func quoted(text string) []byte {
	raw, _ := json.Marshal(text)
	return raw[1 : len(raw)-1]
}
