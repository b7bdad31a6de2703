package agui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// modelCalls are the model calls among runs.
func modelCalls(runs []runtypes.Run) (calls []runtypes.Run) {
	for _, run := range runs {
		if run.Kind == runtypes.KindLLM {
			calls = append(calls, run)
		}
	}
	return calls
}

const (
	thinks = `{'type':'REASONING_MESSAGE_START','messageId':'r1','metadata':{'tokens':7}}` + "\n" +
		`{'type':'REASONING_MESSAGE_CONTENT','messageId':'r1','delta':'hm'}` + "\n" +
		`{'type':'REASONING_MESSAGE_END','messageId':'r1'}`
	answers = `{'type':'TEXT_MESSAGE_CHUNK','messageId':'a1','delta':'yes'}`
)

// wantThought checks that a model call gave one thought, and was not asked with it.
func wantThought(t *testing.T, call runtypes.Run) {
	t.Helper()
	if strings.Contains(string(call.Inputs), "hm") {
		t.Errorf("the call is asked with what it thought: %s", call.Inputs)
	}
	if !strings.Contains(string(call.Outputs), `{"type":"reasoning","text":"hm"}`) {
		t.Errorf("the call's thought is missing: %s", call.Outputs)
	}
	told, err := json.Marshal(under(t, call, "reasoning"))
	if want := `[{"message_id":"r1","metadata":{"tokens":7}}]`; err != nil || string(told) != want {
		t.Errorf("reasoning is %s, want %s", told, want)
	}
}

func TestReasoningIsWhatTheNextModelCallGives(t *testing.T) {
	for name, events := range map[string]string{
		"streamed":        stream(begins, thinks, answers, ends),
		"in a snapshot":   stream(begins, `{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'u','role':'user','content':'why?'},{'id':'r1','role':'reasoning','content':'hm','metadata':{'tokens':7}},{'id':'a1','role':'assistant','content':'yes'}]}`, ends),
		"in a late one":   stream(begins, answers, `{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'r1','role':'reasoning','content':'hm','metadata':{'tokens':7}},{'id':'a1','role':'assistant','content':'yes'}]}`, ends),
		"dropped by one":  stream(begins, thinks, answers, `{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'a1','role':'assistant','content':'yes'},{'id':'r2','role':'reasoning','content':'other'}]}`, ends),
		"of another role": stream(begins, strings.Replace(thinks, `'r1',`, `'r1','role':'assistant',`, 1), answers, ends),
	} {
		t.Run(name, func(t *testing.T) {
			calls := modelCalls(reduced(t, events, RunOptions{}))
			if len(calls) != 1 {
				t.Fatalf("%d model calls, want 1", len(calls))
			}
			wantThought(t, calls[0])
		})
	}
}

func TestReasoningThatASnapshotHasIsOfTheCallBehindIt(t *testing.T) {
	calls := modelCalls(reduced(t, stream(begins, answers,
		`{'type':'REASONING_MESSAGE_CHUNK','messageId':'r2','delta':'on'}`,
		`{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'r1','role':'reasoning','content':'hm','metadata':{'tokens':7}},{'id':'a1','role':'assistant','content':'yes'},{'id':'r2','role':'reasoning','content':'on'}]}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'a2','delta':'no'}`, ends), RunOptions{}))
	if len(calls) != 2 {
		t.Fatalf("%d model calls, want 2", len(calls))
	}
	wantThought(t, calls[0])
	if out := string(calls[1].Outputs); !strings.Contains(out, `"on"`) || strings.Contains(out, `"hm"`) {
		t.Errorf("the second call gave %s", out)
	}
}

// Of a call streamed without its message, the message is known by the call's id until a
// snapshot names it.
func TestWhatASnapshotTakesOutEndsAndComesBackWithAnother(t *testing.T) {
	events := stream(`{'type':'RUN_STARTED','threadId':'t','runId':'r','timestamp':1760000000000}`,
		`{'type':'TEXT_MESSAGE_START','messageId':'m','timestamp':1760000001000}`,
		`{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'ha'}`,
		`{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'look','parentMessageId':'m'}`,
		`{'type':'MESSAGES_SNAPSHOT','messages':[]}`,
		`{'type':'TOOL_CALL_END','toolCallId':'c','timestamp':1760000002000}`,
		`{'type':'TEXT_MESSAGE_END','messageId':'m','timestamp':1760000002000}`,
		`{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'m','role':'assistant','content':'half','toolCalls':[
			{'id':'c','type':'function','function':{'name':'look','arguments':'{\'at\':1}'}}]}]}`,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r','timestamp':1760000009000}`)
	events = strings.ReplaceAll(events, "\n\t\t\t", "")
	runs := reduced(t, events, RunOptions{})
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, run := range runs[1:] {
		if got := run.End.UnixMilli(); got != 1760000002000 {
			t.Errorf("%s ends at %d", run.Kind, got)
		}
	}
	call, tool := modelCalls(runs)[0], tools(runs)[0]
	if !strings.Contains(string(call.Outputs), "half") || string(tool.Inputs) != `{"at":1}` {
		t.Errorf("said %s, called with %s", call.Outputs, tool.Inputs)
	}
}

func TestASnapshotThatNamesTheMessageOfACallTellsOfNoSecondModelCall(t *testing.T) {
	for _, settled := range []bool{false, true} {
		runs := reduced(t, stream(begins,
			`{'type':'TOOL_CALL_START','toolCallId':'tc','toolCallName':'f'}`,
			`{'type':'TOOL_CALL_ARGS','toolCallId':'tc','delta':'{}'}`,
			`{'type':'TOOL_CALL_END','toolCallId':'tc'}`,
			`{'type':'TOOL_CALL_RESULT','messageId':'t1','toolCallId':'tc','content':'ok'}`,
			`{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'u','role':'user','content':'go'},{'id':'a1','role':'assistant','content':'let me','metadata':{'model':'m'},'toolCalls':[{'id':'tc','type':'function','function':{'name':'f','arguments':'{}'}}]},{'id':'t1','role':'tool','toolCallId':'tc','content':'ok'}]}`,
			`{'type':'TEXT_MESSAGE_CHUNK','messageId':'a2','delta':'done'}`, ends), RunOptions{Settled: settled})
		wantTree(t, runs, `
root AG-UI run
  llm AG-UI
  tool f
  llm AG-UI
`)
		call := modelCalls(runs)[0]
		if got := under(t, call, "message_id"); got != "a1" || call.Model.Name != "m" || !strings.Contains(string(call.Outputs), "let me") {
			t.Errorf("the model call is of message %v, model %q: %s", got, call.Model.Name, call.Outputs)
		}
	}
}

func TestASnapshotThatNamesTheMessageOfACallOfTheRunBeforeTellsOfNone(t *testing.T) {
	runs := reduced(t, stream(begins,
		`{'type':'TOOL_CALL_CHUNK','toolCallId':'tc','toolCallName':'f','delta':'{}'}`,
		`{'type':'TOOL_CALL_RESULT','messageId':'t1','toolCallId':'tc','content':'ok'}`, ends,
		`{'type':'RUN_STARTED','threadId':'t','runId':'r2'}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'a2','delta':'done'}`,
		`{'type':'MESSAGES_SNAPSHOT','messages':[{'id':'u','role':'user','content':'go'},{'id':'a1','role':'assistant','toolCalls':[{'id':'tc','type':'function','function':{'name':'f','arguments':'{}'}}]},{'id':'t1','role':'tool','toolCallId':'tc','content':'ok'},{'id':'a2','role':'assistant','content':'done'}]}`,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r2'}`), RunOptions{})
	wantTree(t, runs, `
root AG-UI run
  llm AG-UI
  tool f
root AG-UI run
  llm AG-UI
`)
}
