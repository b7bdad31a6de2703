package agui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// A run may have a thousand model calls: what they repeat of each other is bounded.
func TestWhatTheModelCallsOfARunRepeatIsBounded(t *testing.T) {
	const calls, size = 400, 1000
	var lines []string
	for i := range calls {
		lines = append(lines, fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m%d","delta":"%s"}`, i, strings.Repeat("x", size)),
			fmt.Sprintf(`{"type":"TOOL_CALL_CHUNK","toolCallId":"c%d","toolCallName":"f","parentMessageId":"m%d"}`, i, i),
			fmt.Sprintf(`{"type":"TOOL_CALL_RESULT","messageId":"r%d","toolCallId":"c%d","content":"result %d"}`, i, i, i))
	}
	whole := 0
	for i := range calls {
		whole += i * size
	}
	if whole < 2*maxRepeated {
		t.Fatal("too little to see a bound")
	}
	repeated := 0
	var last runtypes.Run
	for _, run := range reduced(t, string(inRun(lines...)), RunOptions{}) {
		if run.Kind == runtypes.KindLLM {
			repeated += len(run.Inputs)
			last = run
		}
	}
	if repeated > maxRepeated+maxRepeated/8 {
		t.Errorf("the calls repeat %d bytes", repeated)
	}
	if want := fmt.Sprintf("result %d", calls-2); strings.Count(string(last.Inputs), "result") != 1 || !strings.Contains(string(last.Inputs), want) {
		t.Errorf("the last call repeats %s", last.Inputs)
	}
}

// Whoever sends nothing but faults is not remembered every one of them.
func TestTheProblemsThatAreKeptAreBoundedAndTheOthersCounted(t *testing.T) {
	const events = maxStreamProblems + 7
	s := assemble(t, inRun(strings.Repeat("no event\n", events)))
	last := s.Problems[len(s.Problems)-1]
	if len(s.Problems) != maxStreamProblems+1 || last.Code != MoreProblems || last.Detail != "7" || last.Event != events+1 || !last.Refused() {
		t.Errorf("%d problems, the last %+v", len(s.Problems), last)
	}
	if n := len(s.Diagnostics); n != maxStreamProblems+1 {
		t.Errorf("%d diagnostics", n)
	}
	e, problems := DecodeJSON([]byte(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[` + strings.Repeat("0,", 5000) + `{"model":"m"}]}`))
	if len(problems) != maxEventProblems+1 || problems[maxEventProblems].Detail != "4900" || len(e.Usage) != 1 {
		t.Errorf("%d problems, the last %+v", len(problems), problems[len(problems)-1])
	}
}

func TestNoEventOfARunPrecedesIt(t *testing.T) {
	var lines []string
	for i := range 5 { // all at one time, so that each run is given a later start
		lines = append(lines,
			fmt.Sprintf(`{"type":"SUBAGENT_STARTED","subagentRunId":"s%d","name":"n","timestamp":1767225600000}`, i),
			fmt.Sprintf(`{"type":"STEP_STARTED","stepName":"p","subagentRunId":"s%d","timestamp":1767225600000}`, i),
			fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m%d","subagentRunId":"s%d","delta":"x","timestamp":1767225600000}`, i, i))
	}
	events := 0
	for _, run := range reduced(t, string(inRun(lines...)), RunOptions{}) {
		for _, e := range run.Events {
			events++
			if e.Time.Before(run.Start) || e.Time.After(run.End) {
				t.Errorf("%s from %s to %s: %s at %s", run.Name, run.Start, run.End, e.Name, e.Time)
			}
		}
	}
	if events != 10 {
		t.Errorf("%d events", events)
	}
}
