package opencode_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// What other tracers of OpenCode get wrong, LangSmith's own first, each with a session
// in which it happens.

func runsOf(t *testing.T, name string) []runtypes.Wire {
	t.Helper()
	return play(t, filepath.Join("testdata", name), replay.Options{}).Runs
}

func kinds(runs []runtypes.Wire, kind runtypes.Kind) []runtypes.Wire {
	return slices.DeleteFunc(slices.Clone(runs), func(r runtypes.Wire) bool { return r.Kind() != kind })
}

func roots(runs []runtypes.Wire) []runtypes.Wire {
	return slices.DeleteFunc(slices.Clone(runs), func(r runtypes.Wire) bool { return r.ParentRunID != "" })
}

func below(runs []runtypes.Wire, parent string) []runtypes.Wire {
	return slices.DeleteFunc(slices.Clone(runs), func(r runtypes.Wire) bool { return r.ParentRunID != parent })
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func count1(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

func TestTurnsThatFailAreTraced(t *testing.T) {
	for name, want := range map[string]string{
		"run-error": "APIError: acme: the prompt is not acceptable", "run-error401": "APIError: acme: invalid api key",
		"run-toolthenerror": "APIError: acme: context too strange",
	} {
		runs := runsOf(t, name)
		root := roots(runs)[0]
		if root.Error != want || root.Kind() != runtypes.KindRoot {
			t.Errorf("%s: %s with error %q", name, root.Kind(), root.Error)
		}
		failed := 0
		for _, run := range kinds(runs, runtypes.KindLLM) {
			if run.Error == want {
				failed++
			}
		}
		count1(t, name+": failed calls", failed, 1)
	}
}

func TestAnAbortedReplyKeepsWhatWasSaid(t *testing.T) {
	runs := runsOf(t, "serve-abortstream")
	all := roots(runs)
	count1(t, "turns", len(all), 2)
	call := below(runs, all[0].ID)[0]
	for _, run := range []runtypes.Wire{all[0], call} {
		if run.Error != "Interrupted by user" || run.Metadata()["ls_is_error_interrupt"] != true || !bytes.Contains(run.Outputs, []byte("This is a very long answer ")) {
			t.Errorf("%s: error %q, outputs %s", run.Kind(), run.Error, run.Outputs)
		}
	}
	if all[1].Error != "" {
		t.Errorf("the turn after it has error %q", all[1].Error)
	}
}

func TestAnAbortedToolIsInterruptedThoughOpenCodeCallsItComplete(t *testing.T) {
	runs := runsOf(t, "serve-aborttool")
	tool := kinds(runs, runtypes.KindTool)[0]
	if tool.Error != "Interrupted by user" || tool.Metadata()["ls_is_error_interrupt"] != true {
		t.Errorf("the tool has error %q", tool.Error)
	}
	if call := kinds(runs, runtypes.KindLLM)[0]; call.Error != "" {
		t.Errorf("the reply, which was whole, has error %q", call.Error)
	}
	if root := roots(runs)[0]; root.Kind() != runtypes.KindInterrupted {
		t.Errorf("the turn is %s", root.Kind())
	}
}

func TestAPromptTypedWhileBusyIsATurnOfItsOwnAndTheOneBeforeIsWhole(t *testing.T) {
	runs := runsOf(t, "serve-queued")
	all := roots(runs)
	count1(t, "turns", len(all), 2)
	count1(t, "runs of the first", len(below(runs, all[0].ID)), 3)
	count1(t, "runs of the second", len(below(runs, all[1].ID)), 1)
	for i, root := range all {
		if root.Error != "" || root.Metadata()["turn_number"] != json.Number(string(rune('1'+i))) {
			t.Errorf("turn %v: error %q", root.Metadata()["turn_number"], root.Error)
		}
	}
}

func TestACompactionThatTheUserAskedForIsNoTurnWithAPrompt(t *testing.T) {
	runs := runsOf(t, "serve-compact")
	all := roots(runs)
	count1(t, "roots", len(all), 3)
	merge := all[1]
	if merge.Kind() != runtypes.KindChain || merge.Metadata()["ls_agent_type"] != "compaction" || merge.Metadata()["turn_number"] != nil {
		t.Errorf("the compaction is %s of %v, turn %v", merge.Kind(), merge.Metadata()["ls_agent_type"], merge.Metadata()["turn_number"])
	}
	calls := kinds(below(runs, merge.ID), runtypes.KindLLM)
	count1(t, "its calls", len(calls), 1)
	if !bytes.Contains(calls[0].Inputs, []byte("first")) || calls[0].Metadata()["usage_metadata"] == nil {
		t.Errorf("its call: inputs %s", calls[0].Inputs)
	}
	if all[2].Metadata()["turn_number"] != json.Number("2") {
		t.Errorf("the turn after it is %v", all[2].Metadata()["turn_number"])
	}
}

func TestAFailedSubagentKeepsItsCallOfTheModel(t *testing.T) {
	runs := runsOf(t, "run-taskerr")
	sub := kinds(runs, runtypes.KindSubagent)
	count1(t, "subagents", len(sub), 1)
	calls := below(runs, sub[0].ID)
	count1(t, "its runs", len(calls), 1)
	if calls[0].Error == "" || sub[0].Error == "" {
		t.Errorf("errors %q and %q", calls[0].Error, sub[0].Error)
	}
}

func TestTheTaskIsARunAboveItsSubagent(t *testing.T) {
	for _, name := range []string{"run-task", "serve-task2", "run-taskerr", "run-slowtask-sigint"} {
		runs := runsOf(t, name)
		for _, sub := range kinds(runs, runtypes.KindSubagent) {
			i := slices.IndexFunc(runs, func(r runtypes.Wire) bool { return r.ID == sub.ParentRunID })
			if i < 0 || runs[i].Name != "task" || runs[i].Kind() != runtypes.KindTool {
				t.Errorf("%s: the subagent hangs under no task", name)
				continue
			}
			if begin, end := runs[i].StartTime, runs[i].EndTime; sub.StartTime < begin || sub.EndTime > end {
				t.Errorf("%s: the subagent ran from %s to %s, its task from %s to %s", name, sub.StartTime, sub.EndTime, begin, end)
			}
		}
	}
}

func TestParallelSubagentsHaveTheirOwnTasksAndKeepTheTurnOpen(t *testing.T) {
	runs := runsOf(t, "serve-task2")
	subs := kinds(runs, runtypes.KindSubagent)
	count1(t, "subagents", len(subs), 2)
	if subs[0].ParentRunID == subs[1].ParentRunID {
		t.Error("both hang under one task")
	}
	// The first to be idle did not end the turn: what came after is there.
	root := roots(runs)[0]
	count1(t, "calls of the main agent", len(kinds(below(runs, root.ID), runtypes.KindLLM)), 2)
	for _, sub := range subs {
		m := sub.Metadata()
		if m["thread_id"] != root.Metadata()["thread_id"] || m["turn_number"] != json.Number("1") || m["ls_subagent_type"] == "" {
			t.Errorf("thread %v, turn %v, type %v", m["thread_id"], m["turn_number"], m["ls_subagent_type"])
		}
		count1(t, "calls of a subagent", len(kinds(below(runs, sub.ID), runtypes.KindLLM)), 2)
	}
}

func TestASubagentsPromptIsToldOnceInEachCall(t *testing.T) {
	runs := runsOf(t, "run-task")
	for _, call := range below(runs, kinds(runs, runtypes.KindSubagent)[0].ID) {
		if call.Kind() == runtypes.KindLLM {
			count1(t, "prompts", bytes.Count(call.Inputs, []byte("[[child]] count the files")), 1)
		}
	}
}

func TestUsageStandsOnModelCallsOnlyAndIncludesTheCache(t *testing.T) {
	for _, name := range []string{"run-task", "run-think", "serve-anthropic"} {
		for _, run := range runsOf(t, name) {
			raw, err := json.Marshal(run.Metadata()["usage_metadata"])
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case run.Kind() != runtypes.KindLLM:
				if string(raw) != "null" || run.Metadata()["ls_invocation_params"] != nil {
					t.Errorf("%s: %s has usage %s", name, run.Kind(), raw)
				}
			case !bytes.Contains(raw, []byte(`"input_tokens":1200`)) || !bytes.Contains(raw, []byte(`"total_tokens":1245`)) || !bytes.Contains(raw, []byte(`"cache_read"`)) || !bytes.Contains(raw, []byte(`"total_cost"`)):
				t.Errorf("%s: usage %s", name, raw)
			}
		}
	}
	if call := kinds(runsOf(t, "run-think"), runtypes.KindLLM)[0]; call.Metadata()["usage_metadata"] != nil {
		raw, _ := json.Marshal(call.Metadata()["usage_metadata"])
		if !bytes.Contains(raw, []byte(`"reasoning":12`)) || !bytes.Contains(raw, []byte(`"output_tokens":45`)) {
			t.Errorf("reasoning is part of the output: %s", raw)
		}
	}
}

func TestAModelCallEndsBeforeItsToolsDo(t *testing.T) {
	runs := runsOf(t, "run-parallel")
	call := kinds(runs, runtypes.KindLLM)[0]
	tools := kinds(runs, runtypes.KindTool)
	for _, tool := range tools {
		if !moment(t, call.EndTime).Before(moment(t, tool.EndTime)) {
			t.Errorf("the call ended at %s, the tool at %s", call.EndTime, tool.EndTime)
		}
	}
	// It begins with its request, two seconds after OpenCode noted the message.
	if wait := moment(t, call.StartTime).Sub(moment(t, roots(runs)[0].StartTime)); wait < time.Second {
		t.Errorf("the call began %v after the prompt", wait)
	}
}

func TestACrashLosesNothing(t *testing.T) {
	for _, name := range []string{"run-slow-sigint", "run-slowtool-sigint", "run-slowtool-sigterm", "run-slowtool-sigkill", "serve-killserver", "run-slowtask-sigint"} {
		runs := runsOf(t, name)
		root := roots(runs)[0]
		if root.Kind() != runtypes.KindInterrupted || root.Error != "interrupted: OpenCode exited" {
			t.Errorf("%s: %s with error %q", name, root.Kind(), root.Error)
		}
		for _, tool := range kinds(runs, runtypes.KindTool) {
			if tool.Metadata()["ls_is_error_interrupt"] != true {
				t.Errorf("%s: tool %s has error %q", name, tool.Name, tool.Error)
			}
		}
	}
	if call := kinds(runsOf(t, "run-slow-sigint"), runtypes.KindLLM)[0]; !bytes.Contains(call.Outputs, []byte("This is a very long")) {
		t.Errorf("what was said before it: %s", call.Outputs)
	}
}

func TestATitleIsNoCallOfTheTurn(t *testing.T) {
	for _, run := range kinds(runsOf(t, "run-plain"), runtypes.KindLLM) {
		if run.Metadata()["ls_model_name"] != "acme-large" {
			t.Errorf("model %v", run.Metadata()["ls_model_name"])
		}
	}
}

func TestSecretsDoNotLeave(t *testing.T) {
	raw, err := json.Marshal(runsOf(t, "run-secret"))
	if err != nil || bytes.Contains(raw, []byte("AKIAIOSFODNN7EXAMPLE")) {
		t.Errorf("a key left (%v)", err)
	}
}

func TestARejectedPermissionEndsTheTurnWithoutFailure(t *testing.T) {
	runs := runsOf(t, "run-permission-autoreject")
	if root := roots(runs)[0]; root.Error != "" {
		t.Errorf("the turn has error %q", root.Error)
	}
	rejected := 0
	for _, tool := range kinds(runs, runtypes.KindTool) {
		if strings.Contains(tool.Error, "rejected permission") {
			rejected++
			if tool.Metadata()["permission_decision"] != "reject" {
				t.Errorf("decision %v", tool.Metadata()["permission_decision"])
			}
		}
	}
	count1(t, "rejected tools", rejected, 1)
}

func TestWaitingForAPersonIsTold(t *testing.T) {
	for _, tool := range kinds(runsOf(t, "serve-permission-once"), runtypes.KindTool) {
		if tool.Name != "bash" {
			continue
		}
		wait, err := tool.Metadata()["permission_wait_ms"].(json.Number).Int64()
		if err != nil || wait < 500 || tool.Metadata()["permission_decision"] != "accept" {
			t.Errorf("waited %d ms, %v", wait, tool.Metadata()["permission_decision"])
		}
	}
}

func TestAFailedToolHasAnErrorWhereOpenCodeCallsItComplete(t *testing.T) {
	for name, want := range map[string][]string{
		"run-fail":    {"File not found", "exit code 3"},
		"run-badargs": {"invalid arguments", "unavailable tool"},
	} {
		tools := kinds(runsOf(t, name), runtypes.KindTool)
		count1(t, name+": tools", len(tools), len(want))
		for i, tool := range tools {
			if !strings.Contains(tool.Error, want[i]) {
				t.Errorf("%s: %s has error %q, want %q", name, tool.Name, tool.Error, want[i])
			}
		}
	}
}

func TestARetryIsOneCall(t *testing.T) {
	calls := kinds(runsOf(t, "run-flaky"), runtypes.KindLLM)
	count1(t, "calls", len(calls), 1)
	if calls[0].Error != "" || calls[0].Metadata()["retries"] != json.Number("1") || calls[0].Metadata()["retry_reason"] == nil {
		t.Errorf("error %q, %v retries: %v", calls[0].Error, calls[0].Metadata()["retries"], calls[0].Metadata()["retry_reason"])
	}
}

func TestACommandOfTheUsersIsATurnWithoutAModel(t *testing.T) {
	runs := runsOf(t, "serve-shell")
	root := roots(runs)[0]
	if root.Metadata()["turn_origin"] != "user_shell" || !bytes.Contains(root.Inputs, []byte("!echo from-user-shell")) || root.Error != "" {
		t.Errorf("origin %v, inputs %s, error %q", root.Metadata()["turn_origin"], root.Inputs, root.Error)
	}
	count1(t, "its runs", len(below(runs, root.ID)), 1)
	count1(t, "its tools", len(kinds(below(runs, root.ID), runtypes.KindTool)), 1)
}

func TestAnImageIsPartOfThePrompt(t *testing.T) {
	root := roots(runsOf(t, "serve-image"))[0]
	if !bytes.Contains(root.Inputs, []byte(`"image"`)) || !bytes.Contains(root.Inputs, []byte("image/png")) {
		t.Errorf("inputs %s", root.Inputs)
	}
}

func TestADeletedOrRevertedTurnStaysAsItWas(t *testing.T) {
	for name, want := range map[string]int{"serve-revert": 3, "serve-sessiondelete": 1} {
		all := roots(runsOf(t, name))
		count1(t, name+": turns", len(all), want)
		for _, root := range all {
			if root.Error != "" {
				t.Errorf("%s: error %q", name, root.Error)
			}
		}
	}
}

func TestSessionsOfOneServerAreThreadsOfTheirOwn(t *testing.T) {
	all := roots(runsOf(t, "serve-twosessions"))
	count1(t, "turns", len(all), 2)
	if all[0].Metadata()["thread_id"] == all[1].Metadata()["thread_id"] {
		t.Error("one thread")
	}
}

func TestInputsAreRepeatedAsFarAsTheUserWants(t *testing.T) {
	size := func(inputs integrations.Inputs) (n int, last string) {
		for _, run := range kinds(play(t, "testdata/serve-twoturns", replay.Options{Inputs: inputs}).Runs, runtypes.KindLLM) {
			n += len(run.Inputs)
			last = string(run.Inputs)
		}
		return n, last
	}
	delta, last := size(integrations.InputsDelta)
	if strings.Contains(last, "[[parallel]]") || !strings.Contains(last, "main.go") {
		t.Errorf("what is new: %s", last)
	}
	turn, _ := size("")
	thread, last := size(integrations.InputsThread)
	if !strings.Contains(last, "Hello! The widgets repo is ready.") {
		t.Errorf("the thread: %s", last)
	}
	if delta >= turn || turn >= thread {
		t.Errorf("%d, %d and %d bytes", delta, turn, thread)
	}
}

func TestAForkTracesNothingAgain(t *testing.T) {
	runs := runsOf(t, "serve-fork")
	all := roots(runs)
	count1(t, "turns", len(all), 3) // two before the fork, one in it
	count1(t, "calls", len(kinds(runs, runtypes.KindLLM)), 4)
	count1(t, "tools", len(kinds(runs, runtypes.KindTool)), 2)
	if all[2].Metadata()["turn_number"] != json.Number("1") || all[2].Metadata()["thread_id"] == all[0].Metadata()["thread_id"] {
		t.Errorf("turn %v of %v", all[2].Metadata()["turn_number"], all[2].Metadata()["thread_id"])
	}
}

func TestASubagentThatIsResumedWorksForTheCallThatResumedIt(t *testing.T) {
	runs := runsOf(t, "run-taskresume")
	subs := kinds(runs, runtypes.KindSubagent)
	count1(t, "subagents", len(subs), 2)
	if subs[0].Metadata()["ls_subagent_id"] != subs[1].Metadata()["ls_subagent_id"] || subs[0].ParentRunID == subs[1].ParentRunID {
		t.Error("one session should work for two calls")
	}
	count1(t, "runs", len(runs), 14)
	for i, words := range []string{"[[child]] first", "[[childb]] second"} {
		if !bytes.Contains(subs[i].Inputs, []byte(words)) {
			t.Errorf("subagent %d: inputs %s", i+1, subs[i].Inputs)
		}
		count1(t, "its calls", len(kinds(below(runs, subs[i].ID), runtypes.KindLLM)), 2)
	}
}
