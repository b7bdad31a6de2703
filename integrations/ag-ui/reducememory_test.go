package agui

import (
	"slices"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// answering is a run that calls a tool and ends, and one whose input has the answer and
// whose stream repeats it.
func answering(outcome string) string {
	return stream(begins,
		`{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'confirm'}`,
		`{'type':'TOOL_CALL_END','toolCallId':'c'}`,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r'`+outcome+`}`,
		`{'type':'RUN_STARTED','threadId':'t','runId':'r2','input':{'threadId':'t','runId':'r2','messages':[`+
			`{'id':'c','role':'assistant','toolCalls':[{'id':'c','type':'function','function':{'name':'confirm','arguments':''}}]},`+
			`{'id':'x','role':'tool','toolCallId':'c','content':'yes'}]}}`,
		`{'type':'TOOL_CALL_RESULT','messageId':'x','toolCallId':'c','content':'yes','metadata':{'by':'agent'}}`,
		`{'type':'TOOL_CALL_RESULT','messageId':'x','toolCallId':'c','content':'yes','metadata':{'by':'agent'}}`,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r2'}`)
}

func tools(runs []runtypes.Run) []runtypes.Run {
	return slices.DeleteFunc(runs, func(run runtypes.Run) bool { return run.Kind != runtypes.KindTool })
}

func TestAnAnswerThatTheClientBringsAndTheStreamRepeatsIsOfOneCall(t *testing.T) {
	calls := tools(reduced(t, answering(""), RunOptions{}))
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	if call := calls[0]; call.Identity.TurnID != "r" || string(call.Outputs) != `"yes"` || under(t, call, "result_metadata", "by") != "agent" {
		t.Errorf("of %s, with %s, %v", call.Identity.TurnID, call.Outputs, under(t, call))
	}
}

func TestAnAnswerToARunThatAskedNamesThatRunThoughTheClientBringsItToo(t *testing.T) {
	calls := tools(reduced(t, answering(`,'outcome':{'type':'interrupt','interrupts':[{'id':'i','reason':'tool_call','toolCallId':'c'}]}`), RunOptions{}))
	if len(calls) != 2 {
		t.Fatalf("%d calls", len(calls))
	}
	if of := under(t, calls[1], "original_run_id"); of != "r" {
		t.Errorf("the call of the run that goes on is one of %v", of)
	}
}
