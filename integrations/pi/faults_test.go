package pi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// What other tracers of Pi get wrong, each with a recording that shows it.

func replayed(t *testing.T, name string) []runtypes.Wire {
	t.Helper()
	return play(t, filepath.Join("testdata", name), replay.Options{}).Runs
}

func of(runs []runtypes.Wire, kind runtypes.Kind) []runtypes.Wire {
	var list []runtypes.Wire
	for _, r := range runs {
		if r.Kind() == kind {
			list = append(list, r)
		}
	}
	return list
}

func one(t *testing.T, runs []runtypes.Wire, kind runtypes.Kind) runtypes.Wire {
	t.Helper()
	list := of(runs, kind)
	if len(list) != 1 {
		t.Fatalf("%d %s runs, want 1", len(list), kind)
	}
	return list[0]
}

func messages(raw json.RawMessage) int {
	var m struct{ Messages []json.RawMessage }
	if json.Unmarshal(raw, &m) != nil {
		return -1
	}
	return len(m.Messages)
}

func number(m map[string]any, keys ...string) int64 {
	for _, key := range keys[:len(keys)-1] {
		m, _ = m[key].(map[string]any)
	}
	v, _ := m[keys[len(keys)-1]].(json.Number)
	n, _ := v.Int64()
	return n
}

func TestARetryBelongsToItsTurn(t *testing.T) {
	runs := replayed(t, "flaky")
	root := one(t, runs, runtypes.KindRoot)
	if root.Error != "" || !strings.Contains(string(root.Outputs), "Recovered after one retry.") {
		t.Errorf("the turn has error %q and outputs %s", root.Error, root.Outputs)
	}
	llms := of(runs, runtypes.KindLLM)
	if len(llms) != 2 || llms[0].Error == "" || llms[1].Error != "" || number(llms[1].Metadata(), "usage_metadata", "output_tokens") != 45 {
		t.Errorf("%d model calls: want one that failed and one with its tokens", len(llms))
	}
	if n := messages(llms[1].Inputs); n != 1 {
		t.Errorf("the retry was told %d messages, want the prompt alone", n)
	}
}

func TestACompactionIsTracedWithItsTokens(t *testing.T) {
	runs := replayed(t, "rpc-compact")
	chain := one(t, runs, runtypes.KindChain)
	if m := chain.Metadata(); m["ls_agent_type"] != "compaction" || m["compaction_trigger"] != "manual" || number(m, "context_tokens") != 1245 {
		t.Errorf("compaction: %v", m)
	}
	for _, r := range of(runs, runtypes.KindLLM) {
		if r.ParentRunID == chain.ID {
			if got := number(r.Metadata(), "usage_metadata", "output_tokens"); got != 90 {
				t.Errorf("output tokens %d, want 90", got)
			}
			return
		}
	}
	t.Error("the compaction has no model call")
}

// edited plays a recording with its lines changed.
func edited(t *testing.T, name string, change func(lines []string) []string) []runtypes.Wire {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lines := change(strings.SplitAfter(string(raw), "\n"))
	if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "home"), os.DirFS(filepath.Join("testdata", name, "home"))); err != nil {
		t.Fatal(err)
	}
	want := indent(t, play(t, dir, replay.Options{}).Runs)
	if got := indent(t, play(t, dir, replay.Options{Cut: true}).Runs); string(got) != string(want) {
		t.Errorf("cut at every line: runs differ:\n%s", cmp.Diff(string(want), string(got)))
	}
	return play(t, dir, replay.Options{}).Runs
}

// has reports whether a line is of an event.
func has(line, event string) bool { return strings.Contains(line, `"name":"`+event+`"`) }

func TestACompactionBeforeARetryIsInsideTheTurn(t *testing.T) {
	var compaction []string
	edited(t, "rpc-compact", func(lines []string) []string {
		for _, l := range lines {
			if has(l, "session_before_compact") || has(l, "session_compact") {
				compaction = append(compaction, strings.Replace(l, `"reason":"manual"`, `"reason":"overflow"`, 1))
			}
		}
		return lines
	})
	runs := edited(t, "flaky", func(lines []string) []string {
		for i, l := range lines {
			if has(l, "agent_end") {
				var session struct {
					Context json.RawMessage `json:"ctx"`
				}
				if err := json.Unmarshal([]byte(l), &session); err != nil {
					t.Fatal(err)
				}
				for j, c := range compaction {
					var line map[string]any
					if err := json.Unmarshal([]byte(c), &line); err != nil {
						t.Fatal(err)
					}
					line["ctx"], line["t"], line["pid"], line["ppid"] = session.Context, 1796015504100+int64(j), 2898, 2891
					raw, err := json.Marshal(line)
					if err != nil {
						t.Fatal(err)
					}
					compaction[j] = string(raw) + "\n"
				}
				return slices.Concat(lines[:i+1], compaction, lines[i+1:])
			}
		}
		return lines
	})
	root := one(t, runs, runtypes.KindRoot)
	if chain := one(t, runs, runtypes.KindChain); chain.ParentRunID != root.ID || chain.Metadata()["compaction_trigger"] != "auto" {
		t.Errorf("the compaction hangs under %q (%v)", chain.ParentRunID, chain.Metadata()["compaction_trigger"])
	}
	if !strings.Contains(string(root.Outputs), "Recovered") {
		t.Errorf("the turn's outputs are %s", root.Outputs)
	}
	llms := of(runs, runtypes.KindLLM)
	if last := llms[len(llms)-1]; !strings.Contains(string(last.Inputs), "Summary of the conversation") {
		t.Errorf("the call after the compaction was told %s", last.Inputs)
	}
}

func TestAnInterruptInPrintModeLeavesNothingOpen(t *testing.T) {
	for _, name := range []string{"slow-sigint", "slowtool-sigint"} {
		for _, r := range replayed(t, name) {
			if r.EndTime == "" {
				t.Errorf("%s: %s %s is open", name, r.Kind(), r.Name)
			}
		}
		one(t, replayed(t, name), runtypes.KindInterrupted)
	}
}

func TestASubagentHangsUnderTheCallThatAskedForIt(t *testing.T) {
	for _, name := range []string{"task", "rpc-task"} {
		runs := replayed(t, name)
		sub := one(t, runs, runtypes.KindSubagent)
		for _, r := range runs {
			if r.ID == sub.ParentRunID && (r.Kind() != runtypes.KindTool || r.Name != "subagent") {
				t.Errorf("%s: the subagent hangs under %s %s", name, r.Kind(), r.Name)
			}
			if r.TraceID != sub.TraceID {
				t.Errorf("%s: %s %s is in a trace of its own", name, r.Kind(), r.Name)
			}
		}
		if m := sub.Metadata(); m["ls_subagent_type"] != "scout" || m["ls_subagent_id"] == nil || m["thread_id"] != runs[0].Metadata()["thread_id"] {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// Without a stream of its own a subagent is told by its call's result: the same runs.
func TestASubagentWithoutItsStreamIsToldByItsCall(t *testing.T) {
	want := essences(replayed(t, "task"))
	got := essences(edited(t, "task", func(lines []string) []string {
		return slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, `"pid":2861`) })
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs differ (-streamed +told by the call):\n%s", diff)
	}
}

// The lines of two processes come by two pipes: the subagent's last may be late.
func TestASubagentMayEndAfterItsCall(t *testing.T) {
	want := essences(replayed(t, "task"))
	got := essences(edited(t, "task", func(lines []string) []string {
		var late, rest []string
		for _, l := range lines {
			if strings.Contains(l, `"pid":2861`) && (has(l, "agent_settled") || has(l, "agent_end") || has(l, "session_shutdown")) {
				late = append(late, l)
				continue
			}
			rest = append(rest, l)
		}
		return append(rest, late...)
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs differ (-in order +late):\n%s", diff)
	}
}

func TestAnInterruptedReplyAndToolSaySo(t *testing.T) {
	for _, r := range of(replayed(t, "rpc-abortstream"), runtypes.KindLLM)[:1] {
		if r.Error != "Interrupted by user" || r.Metadata()["ls_is_error_interrupt"] != true || !strings.Contains(string(r.Outputs), "This is a very long ") {
			t.Errorf("the reply has error %q and outputs %s", r.Error, r.Outputs)
		}
	}
	for _, name := range []string{"rpc-aborttool", "slowtool-sigterm", "slowtool-sighup"} {
		runs := replayed(t, name)
		tool := one(t, runs, runtypes.KindTool)
		if tool.Error != "Interrupted by user" || tool.Metadata()["ls_is_error_interrupt"] != true {
			t.Errorf("%s: the tool has error %q", name, tool.Error)
		}
		one(t, runs, runtypes.KindLLM) // the empty reply after it was no call
		one(t, runs, runtypes.KindInterrupted)
	}
}

// The empty reply after an interrupt may take its time: no request was made for it.
func TestAReplyThatNoModelWasAskedForIsNoCall(t *testing.T) {
	runs := edited(t, "rpc-aborttool", func(lines []string) []string {
		for i, l := range lines {
			if has(l, "message_start") || has(l, "message_end") {
				lines[i] = strings.ReplaceAll(l, `"durationMs":0`, `"durationMs":12`)
			}
		}
		return lines
	})
	one(t, runs, runtypes.KindLLM)
}

func TestASubagentThatTheUserStoppedInterruptsItsCall(t *testing.T) {
	runs := edited(t, "rpc-aborttool", func(lines []string) []string {
		for i, l := range lines {
			if has(l, "tool_execution_end") {
				lines[i] = strings.Replace(l, "Command aborted", "Agent toolUse: Error: Subagent was aborted", 1)
			}
		}
		return lines
	})
	if tool := one(t, runs, runtypes.KindTool); tool.Error != "Interrupted by user" || tool.Metadata()["ls_is_error_interrupt"] != true {
		t.Errorf("error %q", tool.Error)
	}
}

// Nobody tells of a compaction, or of a command of the user's, that went with its process.
func TestAKillInterruptsACompaction(t *testing.T) {
	runs := edited(t, "rpc-compact", func(lines []string) []string {
		return lines[:1+slices.IndexFunc(lines, func(l string) bool { return has(l, "session_before_compact") })]
	})
	last := runs[len(runs)-1]
	if m := last.Metadata(); last.Error != "Interrupted: the process ended" || m["ls_agent_type"] != "compaction" || m["compaction_trigger"] != "manual" {
		t.Errorf("error %q, %v", last.Error, m)
	}
}

// Pi's clock of a reply may run ahead of that of what it tells.
func TestATurnEndsAfterAllOfItsRuns(t *testing.T) {
	runs := edited(t, "slowtool-sigint", func(lines []string) []string {
		lines = lines[:1+slices.IndexFunc(lines, func(l string) bool { return has(l, "tool_execution_start") })]
		for i, l := range lines {
			if has(l, "message_end") {
				lines[i] = strings.Replace(l, `"durationMs":`, `"durationMs":1`, 1)
			}
		}
		return lines
	})
	root, tool := one(t, runs, runtypes.KindInterrupted), one(t, runs, runtypes.KindTool)
	if root.EndTime < tool.EndTime {
		t.Errorf("the turn ends at %s, its tool at %s", root.EndTime, tool.EndTime)
	}
}

func TestAKillInterruptsACommandThatTheUserTyped(t *testing.T) {
	runs := edited(t, "rpc-bash", func(lines []string) []string {
		for i, l := range lines {
			if has(l, "user_bash") {
				lines[i] = strings.Replace(l, `"command":"`, `"command":"sleep 20; `, 1)
			}
		}
		return lines[:slices.IndexFunc(lines, func(l string) bool { return has(l, "session_shutdown") })]
	})
	for _, run := range runs {
		if run.Metadata()["turn_origin"] == "user_shell" || run.Kind() == runtypes.KindTool {
			if run.Error != "Interrupted: the process ended" || run.EndTime <= run.StartTime {
				t.Errorf("%s has error %q, %s to %s", run.Kind(), run.Error, run.StartTime, run.EndTime)
			}
		}
	}
}

func TestAnAbortWhileWaitingForARetryIsAnInterrupt(t *testing.T) {
	root := one(t, replayed(t, "rpc-abortretry"), runtypes.KindInterrupted)
	if root.Error != "Interrupted by user" {
		t.Errorf("error %q", root.Error)
	}
}

func TestAToolsErrorIsItsText(t *testing.T) {
	var got []string
	for _, name := range []string{"fail", "badargs"} {
		for _, r := range of(replayed(t, name), runtypes.KindTool) {
			class, _ := r.Metadata()["tool_error_class"].(string)
			first, _, _ := strings.Cut(r.Error, "\n")
			got = append(got, class+": "+first)
		}
	}
	want := []string{
		"failed: ENOENT: no such file or directory, access '/home/dev/widgets/does-not-exist.txt'",
		"exit_code: oops",
		`invalid_input: Validation failed for tool "read":`,
		"unknown_tool: Tool no_such_tool not found",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestTheModelIsNamedByItsID(t *testing.T) {
	var got []string
	for _, r := range of(replayed(t, "rpc-model"), runtypes.KindLLM) {
		m := r.Metadata()
		name, _ := m["ls_model_name"].(string)
		provider, _ := m["ls_provider"].(string)
		got = append(got, provider+"/"+name)
		if r.Name == provider {
			t.Errorf("a model call is named after its provider: %s", r.Name)
		}
	}
	want := []string{"acme/acme-large", "acmeanth/claude-acme", "acmeanth/claude-acme", "acmeanth/claude-acme"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
}

func TestTurnsAreNumberedOnAfterContinueAndAnewInANewSession(t *testing.T) {
	f := func(name string, want ...int64) {
		t.Helper()
		var got []int64
		for _, r := range replayed(t, name) {
			if r.ParentRunID == "" {
				got = append(got, number(r.Metadata(), "turn_number"))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: turn numbers (-want +got):\n%s", name, diff)
		}
	}
	f("continue", 2)
	f("rpc-twoturns", 1, 2)
	f("rpc-newsession", 1, 1)
	f("rpc-bash", 1, 2)
}

func TestImagesAreInThePrompt(t *testing.T) {
	root := one(t, replayed(t, "rpc-image"), runtypes.KindRoot)
	if !strings.Contains(string(root.Inputs), `"type":"image"`) || !strings.Contains(string(root.Inputs), "iVBORw0KGgo") {
		t.Errorf("inputs %s", root.Inputs)
	}
}

func TestAModelCallSaysHowItWasMade(t *testing.T) {
	r := one(t, replayed(t, "think"), runtypes.KindLLM)
	m := r.Metadata()
	params, _ := m["ls_invocation_params"].(map[string]any)
	if params["thinking_level"] != "medium" || params["max_completion_tokens"] != json.Number("8192") || m["response_id"] == nil || m["stop_reason"] != "stop" {
		t.Errorf("%v", m)
	}
	if r.StartTime != "2026-11-30T04:59:54.887000Z" || r.EndTime != "2026-11-30T04:59:55.024000Z" {
		t.Errorf("from %s to %s", r.StartTime, r.EndTime)
	}
	if !strings.Contains(string(r.Events), "new_token") {
		t.Errorf("events %s", r.Events)
	}
}

func TestAQueuedMessageIsInTheTurnThatAnsweredIt(t *testing.T) {
	runs := replayed(t, "rpc-followup")
	root := one(t, runs, runtypes.KindRoot)
	if messages(root.Outputs) != 3 || !strings.Contains(string(root.Outputs), "[[plain]] follow up") {
		t.Errorf("outputs %s", root.Outputs)
	}
	llms := of(runs, runtypes.KindLLM)
	if last := llms[len(llms)-1]; !strings.Contains(string(last.Inputs), "[[plain]] follow up") {
		t.Errorf("the last call was told %s", last.Inputs)
	}
}

func TestSecretsDoNotLeave(t *testing.T) {
	for _, r := range replayed(t, "secret") {
		if raw, _ := json.Marshal(r); strings.Contains(string(raw), "AKIAIOSFODNN7EXAMPLE") {
			t.Errorf("%s %s holds a key", r.Kind(), r.Name)
		}
	}
}

func TestWhatTheCacheHeldIsInput(t *testing.T) {
	m := of(replayed(t, "rpc-model"), runtypes.KindLLM)[1].Metadata()
	for key, want := range map[string]int64{"input_tokens": 1200, "output_tokens": 45} {
		if got := number(m, "usage_metadata", key); got != want {
			t.Errorf("%s %d, want %d", key, got, want)
		}
	}
	if read, made := number(m, "usage_metadata", "input_token_details", "cache_read"), number(m, "usage_metadata", "input_token_details", "cache_creation"); read != 500 || made != 300 {
		t.Errorf("cache: %d read, %d made", read, made)
	}
}

func TestACommandThatTheUserTypedIsATurnOfItsOwn(t *testing.T) {
	runs := replayed(t, "rpc-bash")
	if runs[0].Metadata()["turn_origin"] != "user_shell" || !strings.Contains(string(runs[1].Outputs), "from-user") {
		t.Errorf("%v %s", runs[0].Metadata(), runs[1].Outputs)
	}
}

// What the user's command gave is written down when the agent is done, which here it never
// was: whether the command ended is not known.
func TestACommandThatRanWhileTheAgentWasBusyIsNotSaidToBeInterrupted(t *testing.T) {
	runs := edited(t, "slowtool-sigint", func(lines []string) []string {
		var out []string
		for _, l := range lines {
			if out = append(out, l); has(l, "tool_execution_start") {
				out = append(out, strings.Replace(strings.Replace(l, `"name":"tool_execution_start"`, `"name":"user_bash"`, 1), `"event":{`, `"event":{"command":"ls",`, 1))
			}
		}
		return out
	})
	told := 0
	for _, r := range runs {
		if r.Metadata()["turn_origin"] != "user_shell" {
			continue
		}
		told++
		if r.Error != "" || r.EndTime == "" {
			t.Errorf("error %q, ended %q", r.Error, r.EndTime)
		}
	}
	if told != 1 {
		t.Errorf("%d commands, want 1", told)
	}
}

// A process that is gone before its end was told closes its own turn only when another
// process takes the session up, or the stream ends.
func TestAReloadedExtensionEndsNothing(t *testing.T) {
	// The old stream's end may be heard after the new one's beginning: what it says then
	// is about nothing that is open.
	runs := edited(t, "rpc-twoturns", func(lines []string) []string {
		var out []string
		settled := false
		for _, l := range lines {
			out = append(out, l)
			if has(l, "agent_settled") && !settled {
				settled = true
				out = append(out,
					strings.Replace(strings.Replace(l, `"name":"agent_settled"`, `"name":"session_shutdown"`, 1), `"aborted":false`, `"reason":"reload"`, 1),
					strings.Replace(strings.Replace(l, `"name":"agent_settled"`, `"name":"session_start"`, 1), `"aborted":false`, `"reason":"reload"`, 1))
			}
		}
		return out
	})
	if got := essences(runs); len(got) != len(essences(replayed(t, "rpc-twoturns"))) {
		t.Errorf("%d runs", len(got))
	}
	for _, r := range runs {
		if r.Error != "" {
			t.Errorf("%s %s: %s", r.Kind(), r.Name, r.Error)
		}
	}
}
