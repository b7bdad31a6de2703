package agui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// stream joins events, written with single quotes, to JSON lines.
func stream(events ...string) string {
	return strings.ReplaceAll(strings.Join(events, "\n"), "'", `"`) + "\n"
}

const (
	begins = `{'type':'RUN_STARTED','threadId':'t','runId':'r'}`
	ends   = `{'type':'RUN_FINISHED','threadId':'t','runId':'r'}`
)

// under follows keys into a run's ag_ui metadata.
func under(t *testing.T, run runtypes.Run, path ...string) any {
	t.Helper()
	at := metadata(t, run)[ownKey]
	for _, key := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[key]
	}
	return at
}

func TestSubagentsNestUnderTheCallOrTheAgentThatStartedThem(t *testing.T) {
	runs := reduced(t, stream(begins,
		`{'type':'TOOL_CALL_START','toolCallId':'tc1','toolCallName':'task','parentMessageId':'a1'}`,
		`{'type':'TOOL_CALL_ARGS','toolCallId':'tc1','delta':'{}'}`,
		`{'type':'TOOL_CALL_END','toolCallId':'tc1'}`,
		`{'type':'SUBAGENT_STARTED','subagentRunId':'s1','name':'researcher','description':'look','parentToolCallId':'tc1','metadata':{'depth':1}}`,
		`{'type':'TEXT_MESSAGE_START','messageId':'sm1','subagentRunId':'s1','metadata':{'model':'small'}}`,
		`{'type':'TEXT_MESSAGE_CONTENT','messageId':'sm1','subagentRunId':'s1','delta':'found'}`,
		`{'type':'TEXT_MESSAGE_END','messageId':'sm1','subagentRunId':'s1'}`,
		`{'type':'SUBAGENT_STARTED','subagentRunId':'s2','name':'critic','parentSubagentRunId':'s1'}`,
		`{'type':'TEXT_MESSAGE_START','messageId':'sm2','subagentRunId':'s2'}`,
		`{'type':'TEXT_MESSAGE_CONTENT','messageId':'sm2','subagentRunId':'s2','delta':'hm'}`,
		`{'type':'SUBAGENT_ERROR','subagentRunId':'s2','message':'gave up','code':'E'}`,
		`{'type':'SUBAGENT_FINISHED','subagentRunId':'s1','result':{'n':1},'metadata':{'depth':2}}`,
		`{'type':'TOOL_CALL_RESULT','messageId':'t1','toolCallId':'tc1','content':'done'}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'x','subagentRunId':'ghost','delta':'boo'}`,
		ends), RunOptions{})
	wantTree(t, runs, `
root AG-UI run
  llm AG-UI
  tool task
    subagent researcher Subagent
      llm AG-UI
      subagent critic Subagent: gave up
        llm AG-UI
  subagent subagent Subagent
    llm AG-UI
`)
	for _, run := range runs {
		want := "root"
		if strings.Count(run.DottedOrder, ".") > 1 || run.Kind == runtypes.KindSubagent {
			want = "subagent"
		}
		md := metadata(t, run)
		if md["ls_agent_type"] != want {
			t.Errorf("%s: agent type %v, want %s", run.Name, md["ls_agent_type"], want)
		}
		if run.Kind == runtypes.KindLLM && md["ls_model_name"] != "small" {
			t.Errorf("%s names the model %v", run.Name, md["ls_model_name"])
		}
	}
	researcher := runs[3]
	if string(researcher.Outputs) != `{"n":1}` || string(researcher.Inputs) != `"look"` || metadata(t, researcher)["depth"] != json.Number("2") {
		t.Errorf("researcher: inputs %s, outputs %s", researcher.Inputs, researcher.Outputs)
	}
	if under(t, runs[1], "inferred") == nil || under(t, runs[4], "inferred") != nil {
		t.Error("a model that another call named is not told from one of its own")
	}
}

func TestARunThatIsNotFinishedIsInterruptedAndSoIsWhatItHadOpen(t *testing.T) {
	open := stream(begins,
		`{'type':'SUBAGENT_STARTED','subagentRunId':'s','name':'scout'}`,
		`{'type':'TOOL_CALL_START','toolCallId':'done','toolCallName':'ls'}`,
		`{'type':'TOOL_CALL_END','toolCallId':'done'}`,
		`{'type':'TOOL_CALL_RESULT','messageId':'x','toolCallId':'done','content':'ok'}`,
		`{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'bash'}`,
		`{'type':'TOOL_CALL_END','toolCallId':'c'}`,
		`{'type':'TEXT_MESSAGE_START','messageId':'m'}`,
		`{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'par'}`)
	for end, reason := range map[End]string{
		EndOfStream:  "The stream ended before the run did",
		Disconnected: "The client disconnected",
		Lost:         "The rest was not recorded",
	} {
		var sink runtypes.Recorder
		feed(t, NewReducer(&sink, RunOptions{}), open, end)
		runs := kept(t, &sink)
		wantTree(t, runs, strings.ReplaceAll(`
interrupted AG-UI run: WHY
  subagent scout Subagent: WHY
  llm AG-UI
  tool ls
  llm AG-UI
  tool bash: WHY
  llm AG-UI: WHY
`, "WHY", reason))
		for _, run := range runs {
			if interrupted := metadata(t, run)["ls_is_error_interrupt"] == true; interrupted != (run.Error != "") {
				t.Errorf("%s: error %q, interrupted %v", run.Name, run.Error, interrupted)
			}
		}
		if got := under(t, runs[0], "end_reason"); got != string(end) {
			t.Errorf("end_reason is %v, want %s", got, end)
		}
	}
}

func TestEachRunOfAStreamIsATraceOfItsThread(t *testing.T) {
	runs := reduced(t, stream(begins,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r','outcome':{'type':'cancelled'}}`,
		`{'type':'RUN_STARTED','threadId':'t','runId':'r2','protocolVersion':'1.0','parentRunId':'r'}`,
		`{'type':'RUN_STARTED','threadId':'t','runId':'r3'}`,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r3'}`,
		`{'type':'RUN_ERROR','message':'too late'}`,
		`{'type':'RUN_STARTED','threadId':'t','runId':'r4'}`,
		`{'type':'RUN_ERROR','message':'first'}`,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r4','metadata':{'no':1}}`,
		`{'type':'RUN_STARTED','threadId':'t','runId':'r4'}`,
		`{'type':'RUN_ERROR'}`), RunOptions{})
	wantTree(t, runs, `
interrupted AG-UI run: Cancelled
interrupted AG-UI run: Another run started first
root AG-UI run: too late
root AG-UI run: first
root AG-UI run: run failed without a message
`)
	if runs[1].Identity.AgentRuntime() != "AG-UI 1.0" || under(t, runs[1], "parent_run_id") != "r" {
		t.Errorf("the second run is of %q", runs[1].Identity.AgentRuntime())
	}
}

func TestAStreamWithoutRunStartedIsARunOfItsOwnThread(t *testing.T) {
	events := stream(`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'hi'}`, `{'type':'RUN_FINISHED','threadId':'t','runId':'r'}`)
	runs := reduced(t, events, RunOptions{})
	wantTree(t, runs, "root AG-UI run\n  llm AG-UI\n")
	if runs[0].Identity.ThreadID != runs[0].ID.String() {
		t.Errorf("thread %q", runs[0].Identity.ThreadID)
	}
	thread, run := "asked", "run"
	runs = reduced(t, events, RunOptions{Request: &RunAgentInput{ThreadID: &thread, RunID: &run}})
	if runs[0].Identity.ThreadID != thread || runs[0].Identity.TurnID != run {
		t.Errorf("of the client's request only %q and %q are known", runs[0].Identity.ThreadID, runs[0].Identity.TurnID)
	}
}

func TestWhatComesLateStillCounts(t *testing.T) {
	runs := reduced(t, stream(begins,
		`{'type':'TEXT_MESSAGE_START','messageId':'m'}`,
		`{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':'all'}`,
		`{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'f','parentMessageId':'m'}`,
		`{'type':'TOOL_CALL_ARGS','toolCallId':'c','delta':'{\"a\":1}'}`,
		`{'type':'TOOL_CALL_END','toolCallId':'c'}`,
		`{'type':'TOOL_CALL_ARGS','toolCallId':'c','delta':'}','metadata':{'stray':true}}`,
		`{'type':'TOOL_CALL_RESULT','messageId':'x','toolCallId':'c','content':'ok'}`,
		`{'type':'TEXT_MESSAGE_END','messageId':'m'}`,
		`{'type':'TEXT_MESSAGE_CONTENT','messageId':'m','delta':' done'}`,
		ends,
		`{'type':'TEXT_MESSAGE_END','messageId':'m','metadata':{'usage':{'prompt_tokens':9,'completion_tokens':1,'completion_tokens_details':{'reasoning_tokens':5}}}}`,
	), RunOptions{})
	wantTree(t, runs, "root AG-UI run\n  llm AG-UI\n  tool f\n")
	if u := runs[1].Usage; u == nil || u.Input != 9 || u.Output != 1 || u.Reasoning != 0 {
		t.Errorf("usage %+v: a part beyond its whole is no part", u)
	}
	if !strings.Contains(string(runs[1].Outputs), "all done") || string(runs[2].Inputs) != `{"a":1}` || under(t, runs[2], "metadata", "stray") != true {
		t.Errorf("outputs %s, arguments %s", runs[1].Outputs, runs[2].Inputs)
	}
}

func TestUsageOfTheWholeRunIsItsOnlyModelCalls(t *testing.T) {
	call := func(id string) string {
		return `{'type':'TEXT_MESSAGE_CHUNK','messageId':'` + id + `','delta':'x'}`
	}
	end := `{'type':'RUN_FINISHED','threadId':'t','runId':'r','usage':[{'provider':'acme','model':'big','inputTokens':7,'totalTokens':9}]}`
	one := reduced(t, stream(begins, call("a"), end), RunOptions{})
	if u := one[1].Usage; u == nil || u.Input != 7 || u.Output != 2 || one[1].Model.Provider != "acme" {
		t.Errorf("usage %+v of %+v", u, one[1].Model)
	}
	two := reduced(t, stream(begins, call("a"), call("b"), end), RunOptions{})
	for _, run := range two {
		if run.Usage != nil {
			t.Errorf("%s has usage that nobody can split", run.Name)
		}
	}
	if under(t, two[0], "usage") == nil || two[2].Model.Name != "big" {
		t.Error("the run's usage is lost")
	}
}

func TestACountThatNoModelReachesIsNoUsage(t *testing.T) {
	runs := reduced(t, stream(begins,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'x','metadata':{'usage':{'input':9223372036854775807,'output':9223372036854775807}}}`, ends), RunOptions{})
	if runs[1].Usage != nil {
		t.Errorf("usage %+v", runs[1].Usage)
	}
}

func TestOneCountAloneIsNoUsage(t *testing.T) {
	runs := reduced(t, stream(begins,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'x','metadata':{'usage':{'output':340}}}`, ends), RunOptions{})
	if runs[1].Usage != nil || metadata(t, runs[1])["usage"] == nil {
		t.Errorf("usage %+v", runs[1].Usage)
	}
}

func TestAStreamNeverSaysWhoTheRunIs(t *testing.T) {
	spoof := `'metadata':{'thread_id':'no','session_id':'no','conversation_id':'no','run_id':'no','trace_id':'no','ls_agent_type':'no',
		'ls_integration':'no','git_branch':'no','repository_name':'no','working_directory':'no','cwd':'no','usage_metadata':{'no':1},'revision_id':'no',
		'ag_ui':'no','ag-ui':{'no':1},'user_id':'no','turn_id':'no','fine':'yes','':'no','none':null}`
	spoof = strings.Join(strings.Fields(spoof), "")
	who := runtypes.Identity{Integration: "acme", Runtime: "Acme", WorkingDirectory: "/home/dev/widgets"}
	runs := reduced(t, stream(
		`{'type':'RUN_STARTED','threadId':'t','runId':'r',`+spoof+`}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'x',`+spoof+`}`,
		`{'type':'TOOL_CALL_CHUNK','toolCallId':'c','toolCallName':'f','parentMessageId':'m',`+spoof+`}`,
		ends), RunOptions{Identity: who})
	for _, run := range runs {
		md := metadata(t, run)
		if md["fine"] != "yes" || md["thread_id"] != "t" || md["ls_integration"] != "acme" || md["working_directory"] != "/home/dev/widgets" {
			t.Errorf("%s: %v", run.Name, md)
		}
		delete(md, ownKey)
		for key, value := range md {
			if value == "no" || key == ReservedKey || key == "usage_metadata" {
				t.Errorf("%s: %s is the stream's", run.Name, key)
			}
		}
	}
	exact, err := json.Marshal(runs[1].Metadata[ownKey].(facts)["metadata"])
	if want := "{" + strings.TrimPrefix(strings.ReplaceAll(spoof, "'", `"`), `"metadata":{`); err != nil || string(exact) != want {
		t.Errorf("the exact object is\n%s\nnot\n%s", exact, want)
	}
}

func TestARunThatTracesItselfIsLeftToItself(t *testing.T) {
	events := stream(`{'type':'RUN_STARTED','threadId':'t','runId':'r','metadata':{'langsmith':{'trace_id':'abc'}}}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'x'}`, ends)
	var sink runtypes.Recorder
	r := NewReducer(&sink, RunOptions{})
	feed(t, r, events, EndOfStream)
	if runs := kept(t, &sink); len(runs) != 0 || r.Counts().Skipped != 1 || r.Counts().LLM != 0 {
		t.Errorf("%d runs, %+v", len(runs), r.Counts())
	}
	if runs := reduced(t, events, RunOptions{Force: true}); len(runs) != 2 {
		t.Errorf("%d runs by force", len(runs))
	}
}

// The next run is another request, and so another stream.
func TestACallThatTheClientAnswersIsFinishedByTheNextRun(t *testing.T) {
	first := stream(begins,
		`{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'confirm'}`,
		`{'type':'TOOL_CALL_END','toolCallId':'c'}`, ends)
	next := stream(`{'type':'RUN_STARTED','threadId':'t','runId':'r2','input':{'threadId':'t','runId':'r2','messages':[
		{'id':'u','role':'user','content':'go'},
		{'id':'c','role':'assistant','toolCalls':[{'id':'c','type':'function','function':{'name':'confirm','arguments':''}}]},
		{'id':'x','role':'tool','toolCallId':'c','content':'yes','metadata':{'by':'dev'}}]}}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m','delta':'ok'}`,
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r2'}`)
	next = strings.ReplaceAll(next, "\n\t\t", "")
	var sink runtypes.Recorder
	memory := &Memory{}
	feed(t, NewReducer(&sink, RunOptions{Memory: memory}), first, EndOfStream)
	feed(t, NewReducer(&sink, RunOptions{Memory: memory}), next, EndOfStream)
	runs := kept(t, &sink)
	var tool, asked runtypes.Run
	for _, run := range runs {
		if run.Kind == runtypes.KindTool {
			tool = run
		}
		if run.Identity.TurnID == "r2" && run.Kind == runtypes.KindLLM {
			asked = run
		}
	}
	if len(runs) != 5 || string(tool.Outputs) != `"yes"` || under(t, tool, "pending") != nil || under(t, tool, "result_metadata", "by") != "dev" {
		t.Errorf("%d runs; the call's output is %s, %v", len(runs), tool.Outputs, under(t, tool))
	}
	if got := string(asked.Inputs); !strings.Contains(got, `"go"`) || !strings.Contains(got, `"yes"`) {
		t.Errorf("the model was asked %s", got)
	}
}

func TestAModelCallRepeatsWhatTheUserChose(t *testing.T) {
	events := strings.ReplaceAll(stream(`{'type':'RUN_STARTED','threadId':'t','runId':'r','input':{'threadId':'t','runId':'r','messages':[
		{'id':'u0','role':'user','content':'old'},{'id':'a0','role':'assistant','content':'older'},
		{'id':'u','role':'user','content':[{'type':'text','text':'look'},{'type':'image','source':{'type':'data','value':'aGVsbG8=','mimeType':'image/png'}},
		{'type':'image','source':{'type':'url','value':'data:image/png;base64,aGVsbG8='}},{'type':'binary','mimeType':'a/b','data':'aGk='}]}]}}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m1','delta':'one'}`,
		`{'type':'TEXT_MESSAGE_CHUNK','messageId':'m2','delta':'two'}`, ends), "\n\t\t", "")
	has := map[integrations.Inputs][]string{
		"":                        {"look", "one"},
		integrations.InputsTurn:   {"look", "one"},
		integrations.InputsDelta:  nil,
		integrations.InputsThread: {"older", "look", "one"},
	}
	for choice, want := range has {
		runs := reduced(t, events, RunOptions{Inputs: choice})
		for _, text := range []string{"older", "look", "one", "aGVsbG8", "aGk"} {
			wanted := false
			for _, each := range want {
				wanted = wanted || each == text
			}
			if strings.Contains(string(runs[2].Inputs), text) != wanted {
				t.Errorf("%q: the second call repeats %s", choice, runs[2].Inputs)
			}
		}
		if got := string(runs[0].Inputs); strings.Contains(got, "old") || strings.Count(got, `"size":5`) != 2 || !strings.Contains(got, `"size":2`) {
			t.Errorf("the root is asked %s", got)
		}
	}
}

func TestTimestampsOrderNothing(t *testing.T) {
	at := func(stamp string) string {
		return `{'type':'TEXT_MESSAGE_START','messageId':'` + stamp + `','timestamp':` + stamp + `}`
	}
	events := stream(`{'type':'RUN_STARTED','threadId':'t','runId':'r','timestamp':1767225600000}`,
		at("1767225601000"), at("1767225600500"), at("7"),
		`{'type':'RUN_FINISHED','threadId':'t','runId':'r','timestamp':1767225602000}`)
	runs := reduced(t, events, RunOptions{})
	for i, want := range []string{"", "1767225601000", "1767225600500", "7"} {
		if id := under(t, runs[i], "message_id"); want != "" && id != want {
			t.Errorf("run %d is of message %v", i, id)
		}
	}
	if begin := time.UnixMilli(1767225600000).UTC(); !runs[0].Start.Equal(begin) || runs[0].End.Sub(begin) != 2*time.Second {
		t.Errorf("the run lasts from %v to %v", runs[0].Start, runs[0].End)
	}
	seconds := reduced(t, stream(`{'type':'RUN_STARTED','threadId':'t','runId':'r','timestamp':1767225600}`, ends), RunOptions{Unit: time.Second})
	if !seconds[0].Start.Equal(time.Unix(1767225600, 0)) {
		t.Errorf("the run began at %v", seconds[0].Start)
	}
}

func TestASettledReducerWritesEachRunOnce(t *testing.T) {
	events := string(readFile(t, "testdata/31-usage-and-finish-reason/events.jsonl"))
	var once, live counting
	feed(t, NewReducer(&once, RunOptions{Settled: true}), events, EndOfStream)
	feed(t, NewReducer(&live, RunOptions{}), events, EndOfStream)
	if once.posts != 4 || once.patches != 0 {
		t.Errorf("settled: %d posts, %d patches", once.posts, once.patches)
	}
	if live.posts != 4 || live.patches != 1 { // the root's
		t.Errorf("live: %d posts, %d patches", live.posts, live.patches)
	}
	a, b := kept(t, &once.Recorder), kept(t, &live.Recorder)
	if tree(a) != tree(b) {
		t.Errorf("%s is not %s", tree(a), tree(b))
	}
}

type counting struct {
	runtypes.Recorder
	posts, patches int
}

func (c *counting) Submit(op runtypes.Op) error {
	if op.Verb == runtypes.Post {
		c.posts++
	} else {
		c.patches++
	}
	return c.Recorder.Submit(op)
}

func TestAnEventTellsTheReaderWhichRunsWereWritten(t *testing.T) {
	who := runtypes.Identity{Integration: "acme", Runtime: "Acme", WorkingDirectory: "/home/dev", Repo: runtypes.Repo{Branch: "trunk"}}
	var sink runtypes.Recorder
	r := NewReducer(&sink, RunOptions{Identity: who})
	mark := func(event string, show Marks) string {
		e, problems := DecodeJSON([]byte(strings.ReplaceAll(event, "'", `"`)))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		before := string(marshal(t, e))
		r.Add(Frame{Event: e}, arrival)
		marked := string(marshal(t, r.Mark(e, show)))
		if string(marshal(t, e)) != before {
			t.Error("the event was changed")
		}
		return marked
	}
	began := mark(begins, Marks{})
	mark(`{'type':'TEXT_MESSAGE_START','messageId':'m'}`, Marks{})
	ended := mark(`{'type':'TEXT_MESSAGE_END','messageId':'m','metadata':{'model':'big','ag-ui':{'k':1}}}`, Marks{})
	mark(`{'type':'TOOL_CALL_START','toolCallId':'c','toolCallName':'f'}`, Marks{})
	call := mark(`{'type':'TOOL_CALL_END','toolCallId':'c'}`, Marks{})
	r.Close(EndOfStream, arrival)
	runs := kept(t, &sink)
	for _, want := range []string{runs[0].ID.String(), `"ls_integration":"acme"`, `"ls_trace_schema_version":"coding-agent-v1"`, `"trace_id"`} {
		if !strings.Contains(began, want) {
			t.Errorf("%s lacks %s", began, want)
		}
	}
	if strings.Contains(began, "trunk") || strings.Contains(began, "/home/dev") {
		t.Errorf("%s tells what nobody asked for", began)
	}
	if !strings.Contains(ended, runs[1].ID.String()) || !strings.Contains(ended, `"ls_model_name":"big"`) || !strings.Contains(ended, `"ag-ui":{"k":1}`) {
		t.Errorf("the message's end is %s", ended)
	}
	if tool := runs[len(runs)-1]; tool.Kind != runtypes.KindTool || !strings.Contains(call, tool.ID.String()) {
		t.Errorf("the call's end is %s", call)
	}
	open := mark2(t, who)
	if !strings.Contains(open, `"git_branch":"trunk"`) || !strings.Contains(open, `"working_directory":"/home/dev"`) {
		t.Errorf("%s lacks what was asked for", open)
	}
}

// mark2 marks a beginning with everything.
func mark2(t *testing.T, who runtypes.Identity) string {
	t.Helper()
	r := NewReducer(nil, RunOptions{Identity: who})
	e, _ := DecodeJSON([]byte(strings.ReplaceAll(begins, "'", `"`)))
	r.Add(Frame{Event: e}, arrival)
	return string(marshal(t, r.Mark(e, Marks{Git: true, Path: true})))
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
