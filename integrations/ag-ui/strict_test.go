package agui

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOfAPropertyThatStandsTwiceTheLastCounts(t *testing.T) {
	s := assemble(t, inRun(
		`{"type":"TEXT_MESSAGE_START","messageId":"wrong","messageId":"m","timestamp":"never","timestamp":1,"metadata":null,"metadata":{"a":1,"a":2}}`,
		`{"type":"RAW","type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":7,"delta":"x","metadata":[],"metadata":{"b":null}}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m","metadata":{"a":3},"metadata":null}`))
	wantMetadata(t, "m", s.MessageMetadata["m"], `{"a":2,"b":null}`)
	if got := string(s.MessageContent["m"]); got != `"x"` {
		t.Errorf("content: %s", got)
	}
	if diff := cmp.Diff([]string{MetadataNull}, s.Diagnostics); diff != "" {
		t.Error(diff)
	}
}

func TestAStrictReaderMissesWhatTheProtocolRequires(t *testing.T) {
	f := func(event, detail string) {
		t.Helper()
		s := assemble(t, inRun(event))
		i := slices.IndexFunc(s.Problems, func(p Problem) bool { return p.Detail == detail })
		if i < 0 || !s.Problems[i].Refused() {
			t.Errorf("%s: %v", event, s.Problems)
		}
		if slices.Contains(s.Diagnostics, MissingField) || slices.Contains(s.Diagnostics, NullField) {
			t.Errorf("%s: nothing was lost, yet %v", event, s.Diagnostics)
		}
	}
	f(`{"type":"RUN_STARTED","threadId":"t"}`, "RUN_STARTED.runId")
	f(`{"type":"RUN_FINISHED","runId":"r"}`, "RUN_FINISHED.threadId")
	f(`{"type":"RUN_ERROR"}`, "RUN_ERROR.message")
	f(`{"type":"RUN_ERROR","message":"m","code":null}`, "RUN_ERROR.code")
	f(`{"type":"STEP_STARTED"}`, "STEP_STARTED.stepName")
	f(`{"type":"TEXT_MESSAGE_START","messageId":"m","name":null}`, "TEXT_MESSAGE_START.name")
	f(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m"}`, "TEXT_MESSAGE_CONTENT.delta")
	f(`{"type":"TOOL_CALL_START","toolCallId":"c"}`, "TOOL_CALL_START.toolCallName")
	f(`{"type":"TOOL_CALL_RESULT","toolCallId":"c","content":""}`, "TOOL_CALL_RESULT.messageId")
	f(`{"type":"STATE_SNAPSHOT"}`, "STATE_SNAPSHOT.snapshot")
	f(`{"type":"CUSTOM","name":"n"}`, "CUSTOM.value")
	f(`{"type":"MESSAGES_SNAPSHOT"}`, "MESSAGES_SNAPSHOT.messages")
	f(`{"type":"SUBAGENT_STARTED","subagentRunId":"s"}`, "SUBAGENT_STARTED.name")
}

func TestNullsThatOlderProducersSendAreNoFault(t *testing.T) {
	s := assemble(t, []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r","rawEvent":null,"input":{"threadId":"t","runId":"r","messages":[],"state":null,"forwardedProps":null,"tools":[{"name":"f","description":"","parameters":null}],"resume":[{"interruptId":"i","status":"resolved","payload":null}]}}
{"type":"STATE_SNAPSHOT","snapshot":null}
{"type":"RAW","event":null}
{"type":"CUSTOM","name":"n","value":null}
{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":null}
{"type":"TOOL_CALL_END","toolCallId":"c"}
{"type":"TOOL_CALL_CHUNK","toolCallId":"d","toolCallName":"f","parentMessageId":null}
{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":null,"result":null}`))
	if len(s.Problems) > 0 {
		t.Error(s.Problems)
	}
}
