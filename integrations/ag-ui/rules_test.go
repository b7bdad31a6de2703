package agui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMetadataMergesPerKeyAndWhole(t *testing.T) {
	f := func(existing, incoming, want string) {
		t.Helper()
		read := func(text string) (m Metadata) {
			if text == "" {
				return nil
			}
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
		before, after := read(existing), read(incoming)
		got := MergeMetadata(before, after)
		if want == "" {
			want = "none"
		}
		wantMetadata(t, existing+" + "+incoming, got, want)
		if existing != "" && before.text() != existing || incoming != "" && after.text() != incoming {
			t.Error("an argument was changed")
		}
	}
	f(``, ``, ``)
	f(`{"a":1}`, ``, `{"a":1}`)
	f(``, `{"a":1}`, `{"a":1}`)
	f(`{"a":1}`, `{}`, `{"a":1}`)
	f(``, `{}`, `{}`)
	f(`{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`)
	f(`{"a":1}`, `{"a":null}`, `{"a":null}`)
	f(`{"a":null}`, `{"a":0}`, `{"a":0}`)
	f(`{"ag-ui":{"usage":{"input":1},"x":1}}`, `{"ag-ui":{"usage":{"output":2}}}`, `{"ag-ui":{"usage":{"output":2}}}`)
	f(`{"l":[1,2,3]}`, `{"l":[4]}`, `{"l":[4]}`)
	f(`{"n":9007199254740993}`, `{"m":1.50,"e":1e3}`, `{"n":9007199254740993,"m":1.50,"e":1e3}`)
	f(`{"\u00e9":1}`, `{"é":2}`, `{"\u00e9":2}`)
}

func TestMetadataIsNeverNull(t *testing.T) {
	var m Metadata
	for _, text := range []string{`null`, `[]`, `"x"`, `7`, `true`} {
		if json.Unmarshal([]byte(text), &m) == nil && text != `null` { // encoding/json never asks about a null
			t.Errorf("%s is taken for metadata", text)
		}
	}
	event := Event{Type: StepStarted}
	raw, err := json.Marshal(event)
	if err != nil || strings.Contains(string(raw), "metadata") {
		t.Errorf("%s %v", raw, err)
	}
}

func TestAnEmptyMetadataObjectStaysOneWhenItIsEncodedAgain(t *testing.T) {
	const text = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""},"metadata":{}},{"id":"d","type":"function","function":{"name":"f","arguments":""}}],"metadata":{}},{"id":"b","role":"assistant"}],"metadata":{}}`
	event, problems := DecodeJSON([]byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	binary, err := EncodeProtobuf(event, PeerUnknown)
	if err != nil {
		t.Fatal(err)
	}
	crossed, problems := DecodeProtobuf(binary)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, e := range []*Event{event, crossed} {
		raw, err := e.MarshalJSON()
		if err != nil || string(raw) != text {
			t.Errorf("%v\n%s\n%s", err, raw, text)
		}
	}
}

// TestStreams holds the assembler to the protocol's rules, a stream at a time.
func TestStreams(t *testing.T) {
	for name, f := range streamRules {
		t.Run(name, func(t *testing.T) {
			s := assemble(t, f.stream)
			if diff := cmp.Diff(f.problems, codes(s)); diff != "" {
				t.Errorf("problems:\n%s", diff)
			}
			if f.runs != "" {
				var all []string
				for _, r := range s.Runs {
					all = append(all, strings.Trim(Text(r.RunID)+" "+string(r.Status)+" "+r.Reason+Text(r.Error), " "))
				}
				if got := strings.Join(all, ", "); got != f.runs {
					t.Errorf("runs: %s, want %s", got, f.runs)
				}
			}
			for id, want := range f.messages {
				wantMetadata(t, "message "+id, s.MessageMetadata[id], want)
			}
			for id, want := range f.calls {
				wantMetadata(t, "call "+id, s.ToolCallMetadata[id], want)
			}
			for id, want := range f.content {
				if got := string(s.MessageContent[id]); got != want {
					t.Errorf("content of %s: %s, want %s", id, got, want)
				}
			}
			for id, want := range f.args {
				if got := s.ToolCallArgs[id]; got != want {
					t.Errorf("arguments of %s: %s, want %s", id, got, want)
				}
			}
			for id, want := range f.roles {
				if got := s.MessageRoles[id]; got != want {
					t.Errorf("role of %s: %s, want %s", id, got, want)
				}
			}
			if f.order != "" && strings.Join(s.MessageOrder, " ") != f.order {
				t.Errorf("order: %v, want %s", s.MessageOrder, f.order)
			}
		})
	}
}

type streamRule struct {
	stream                         []byte
	problems                       []string
	runs, order                    string
	messages, calls, content, args map[string]string
	roles                          map[string]string
}

type byID = map[string]string

var streamRules = map[string]streamRule{
	"a snapshot inside an open message replaces what was built and grows on": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_START","messageId":"m","metadata":{"a":1}}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"built"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"said ","metadata":{"b":2}}]}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"more","metadata":{"c":3}}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`),
		messages: byID{"m": `{"b":2,"c":3}`}, content: byID{"m": `"said more"`},
	},
	"a snapshot drops what it does not hold, but for kinds it has none of": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"gone","delta":"x"}`,
			`{"type":"REASONING_MESSAGE_CHUNK","messageId":"thought","delta":"x"}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"old","activityType":"P","content":{}}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"new","role":"user","content":"u"},{"id":"now","role":"activity","activityType":"P","content":{}}]}`),
		order: "thought new now",
	},
	"what is open stays open where a snapshot drops it": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_START","messageId":"m"}`,
			`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[]}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"lost"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"back ","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"}}]}]}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"again"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}"}`,
			`{"type":"TOOL_CALL_END","toolCallId":"c"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[]}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`),
	},
	"a known message keeps its role and name": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"Bob","metadata":{"k":1}}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`),
		messages: byID{"m": `{"k":1}`}, content: byID{"m": `"a"`},
	},
	"chunks of calls, one after the other": {
		stream: inRun(
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"m","delta":"{","metadata":{"n":1}}`,
			`{"type":"TOOL_CALL_CHUNK","delta":"}","metadata":{"n":2}}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"d","toolCallName":"g","metadata":{"first":true}}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"after","delta":"x"}`),
		calls: byID{"c": `{"n":2}`, "d": `{"first":true}`}, args: byID{"c": "{}", "d": ""},
		messages: byID{"m": "none", "d": "none", "after": "none"},
	},
	"a chunk that continues nothing is dropped": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_CHUNK","delta":"x","metadata":{"n":1}}`,
			`{"type":"TEXT_MESSAGE_CHUNK","subagentRunId":"a","messageId":"x","delta":"x"}`,
			`{"type":"TEXT_MESSAGE_CHUNK","subagentRunId":"b","messageId":"y","delta":"y"}`,
			`{"type":"TEXT_MESSAGE_CHUNK","delta":"whose?"}`),
		problems: []string{ChunkWithoutID, ChunkWithoutID}, content: byID{"x": `"x"`, "y": `"y"`},
	},
	"what closes a stream of chunks": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"P","content":{}}`,
			`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`,
			`{"type":"STEP_STARTED","stepName":"theirs","subagentRunId":"s"}`,
			`{"type":"STEP_FINISHED","stepName":"theirs","subagentRunId":"s"}`,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`,
			`{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}`,
			`{"type":"CUSTOM","name":"n","value":null}`,
			`{"type":"TEXT_MESSAGE_CHUNK","delta":"lost"}`),
		problems: []string{ChunkWithoutID}, content: byID{"m": `"ab"`},
	},
	"a stray delta after complete arguments is dropped and its metadata merges": {
		stream: inRun(
			`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\":{}"}`,
			`{"type":"TOOL_CALL_END","toolCallId":"c"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}","metadata":{"late":1}}`),
		problems: []string{ArgsNotOpen, ArgsNotOpen}, args: byID{"c": `{"a":{}}`}, calls: byID{"c": `{"late":1}`},
	},
	"content after the end of its message is kept": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_START","messageId":"m"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"late","metadata":{"k":1}}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`),
		problems: []string{ContentNotOpen, EndNotOpen}, content: byID{"m": `"late"`}, messages: byID{"m": `{"k":1}`},
	},
	"events about what is not known are dropped": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"x"}`,
			`{"type":"TOOL_CALL_END","toolCallId":"c"}`,
			`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"P","patch":[]}`),
		problems: []string{ActivityUnknownID, ArgsUnknownID, ContentUnknownID, EndUnknownID}, order: "",
	},
	"the usage of a message comes after its run": {
		stream: append(inRun(`{"type":"TEXT_MESSAGE_START","messageId":"m"}`),
			"\n"+`{"type":"TEXT_MESSAGE_END","messageId":"m","metadata":{"usage":1}}`...),
		problems: []string{EventAfterRun, OpenItemsAtEnd}, messages: byID{"m": `{"usage":1}`}, runs: "r success",
	},
	"a failure after a run's end fails it, and stands": {
		stream: append(inRun(), "\n"+`{"type":"RUN_ERROR","message":"late","code":"E"}`+"\n"+finished+"\n"+`{"type":"RUN_ERROR","message":"again"}`...),
		runs:   "r error late", problems: []string{EventAfterRun, EventAfterRun},
	},
	"a failure need not say why": {
		stream:   []byte(started + "\n" + `{"type":"RUN_ERROR"}`),
		problems: []string{MissingField}, runs: "r error run failed without a message",
	},
	"a run within a run ends the first": {
		stream: []byte(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}` + "\n" + started + "\n" +
			`{"type":"RUN_STARTED","threadId":"t","runId":"r2"}` + "\n" + `{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}`),
		problems: []string{EventBeforeRun, NestedRun},
		runs:     "interrupted superseded, r interrupted superseded, r2 success",
	},
	"a run that only its end tells of": {
		stream:   []byte(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}` + "\n" + finished),
		problems: []string{EventBeforeRun}, runs: "r success",
	},
	"a run that was stopped on purpose": {
		stream: []byte(started + "\n" + `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}`),
		runs:   "r interrupted cancelled",
	},
	"a stream that ends too soon": {
		stream:   []byte(started + "\n" + `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"partial"}`),
		problems: []string{Truncated}, runs: "r interrupted truncated", content: byID{"m": `"partial"`},
	},
	"a START that comes again makes no second item": {
		stream: inRun(
			`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m","metadata":{"n":1}}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`,
			`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"g","parentMessageId":"other","metadata":{"n":2}}`,
			`{"type":"TOOL_CALL_END","toolCallId":"c"}`),
		problems: []string{StartAlreadyOpen}, order: "m", args: byID{"c": "{}"}, calls: byID{"c": `{"n":2}`},
	},
	"a call under what is no assistant's message makes its own": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_START","messageId":"u","role":"user"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"u"}`,
			`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"u"}`,
			`{"type":"TOOL_CALL_END","toolCallId":"c"}`),
		order: "u c",
	},
	"results stand behind their call's message": {
		stream: inRun(
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"a"}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"d","toolCallName":"f","parentMessageId":"a"}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"b","delta":"x"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"rd","toolCallId":"d","content":"D"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"rc","toolCallId":"c","content":"C"}`),
		order: "a rd rc b",
	},
	"the input adds what is not known": {
		stream: []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"u","role":"user","content":"hi","metadata":{"k":1}},{"id":"z","role":"seer","content":"?"}]}}` +
			"\n" + finished + "\n" + `{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"u","role":"user","content":"other","metadata":{"k":2}}]}}` + "\n" + finished),
		problems: []string{UnknownMember}, order: "u", messages: byID{"u": `{"k":1}`}, content: byID{"u": `"hi"`},
	},
	"a patch that fits changes an activity": {
		stream: inRun(
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"P","content":{"steps":["a"],"n":1.50}}`,
			`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"P","patch":[{"op":"add","path":"/steps/-","value":"b"},{"op":"copy","from":"/n","path":"/m"},{"op":"test","path":"/m","value":1.5}]}`,
			`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"P","patch":[{"op":"remove","path":"/steps/0"},{"op":"move","from":"/nope","path":"/m"}],"metadata":{"stale":true}}`),
		content: byID{"x": `{"steps":["a","b"],"n":1.50,"m":1.50}`}, messages: byID{"x": `{"stale":true}`},
	},
	"an activity whose new content is none keeps its own": {
		stream: inRun(
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"P","content":{"n":1}}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"P","content":"two","metadata":{"k":1}}`,
			`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"P","patch":"three","metadata":{"l":2}}`),
		problems: []string{BadField, BadField}, content: byID{"x": `{"n":1}`}, messages: byID{"x": `{"k":1,"l":2}`},
	},
	"a patch of what is no activity does nothing": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"said"}`,
			`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"P","patch":[{"op":"replace","path":"","value":"patched"}],"metadata":{"k":1}}`),
		problems: []string{ActivityUnknownID}, content: byID{"m": `"said"`}, messages: byID{"m": "none"},
	},
	"parts of a kind that is not known are left out": {
		stream: inRun(
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"a","metadata":[1]},{"type":"hologram"},7,{"type":"binary","mimeType":"x/y","id":"f"}]},{"id":"n","role":"user","content":5}]}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"t","toolCallId":"c","content":[{"type":"hologram"}]}`),
		problems: []string{BadField, BadField, ResultWithoutCall, UnknownMember, UnknownMember},
		content:  byID{"u": `[{"type":"text","text":"a","metadata":[1]},{"type":"binary","mimeType":"x/y","id":"f"}]`, "n": "", "t": "[]"},
	},
	"an unfinished step, span or subagent is open at the end": {
		stream: inRun(
			`{"type":"STEP_STARTED","stepName":"s"}`,
			`{"type":"STEP_FINISHED","stepName":"other"}`),
		problems: []string{OpenItemsAtEnd, StepNotOpen},
	},
	"what is wrong with one property leaves the event": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":null,"timestamp":1.5,"metadata":{"k":1}}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":7,"metadata":{"l":2}}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
			`{"type":"TEXT_MESSAGE_END"}`),
		problems: []string{BadField, BadField, BadField, BadFrame}, messages: byID{"m": `{"k":1,"l":2}`}, content: byID{"m": `""`},
	},
	"an event that calls an item another subagent's is taken": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"z"}`),
		problems: []string{OwnerMismatch}, content: byID{"m": `"x"`},
	},
	"a message of a role that nobody knows is the model's": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"wizard"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`),
		problems: []string{BadField}, content: byID{"m": `"x"`}, roles: byID{"m": "assistant"},
	},
	"reasoning is reasoning, whatever role an older producer gives it": {
		stream: inRun(
			`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"assistant"}`,
			`{"type":"REASONING_MESSAGE_END","messageId":"m"}`),
		problems: []string{BadField}, roles: byID{"m": "reasoning"},
	},
	"an activity under the id of another message": {
		stream: inRun(
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x","metadata":{"k":1}}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"PLAN","content":{},"metadata":{"k":2}}`),
		problems: []string{ActivityUnknownID}, content: byID{"m": `"x"`}, messages: byID{"m": `{"k":1}`},
	},
	"a retired thought without its start": {
		stream:   inRun(`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"x"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_END"}`),
		problems: []string{ContentNotOpen, EndNotOpen},
	},
}

func TestSubagentsEndAsTheySay(t *testing.T) {
	s := assemble(t, inRun(
		`{"type":"SUBAGENT_STARTED","subagentRunId":"a","name":"one","parentToolCallId":"c"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"b","name":"two","parentSubagentRunId":"a"}`,
		`{"type":"SUBAGENT_ERROR","subagentRunId":"b","message":"gave up"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"a","outcome":{"type":"suspended","interruptIds":["i"]}}`))
	c, a, gaveUp := "c", "a", "gave up"
	want := []SubagentSummary{
		{ID: "a", Name: "one", Status: StatusInterrupted, ParentToolCallID: &c},
		{ID: "b", Name: "two", Status: StatusError, Error: &gaveUp, ParentSubagentRunID: &a},
	}
	if diff := cmp.Diff(want, s.Subagents); diff != "" {
		t.Error(diff)
	}
}

func TestASubagentThatStartsAgainKeepsWhatItSaidBefore(t *testing.T) {
	said := func(id, text string) string {
		return stream(`{'type':'SUBAGENT_STARTED','subagentRunId':'s','name':'scout'}`,
			`{'type':'TEXT_MESSAGE_START','messageId':'`+id+`','subagentRunId':'s'}`,
			`{'type':'TEXT_MESSAGE_CONTENT','messageId':'`+id+`','subagentRunId':'s','delta':'`+text+`'}`,
			`{'type':'TEXT_MESSAGE_END','messageId':'`+id+`','subagentRunId':'s'}`,
			`{'type':'SUBAGENT_FINISHED','subagentRunId':'s'}`)
	}
	var got []string
	for _, run := range reduced(t, stream(begins)+said("a", "first")+said("b", "second")+stream(ends), RunOptions{}) {
		if run.Kind == runtypes.KindSubagent {
			got = append(got, string(run.Outputs))
		}
	}
	if len(got) != 2 || !strings.Contains(got[0], "first") || !strings.Contains(got[1], "second") {
		t.Errorf("the subagent gave %q", got)
	}
}

func TestASnapshotsMessagesAreNeverChanged(t *testing.T) {
	event, _ := DecodeJSON([]byte(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"a","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"},"metadata":{"n":1}}],"metadata":{"n":1}}]}`))
	before, err := event.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	a := NewAssembler()
	a.Apply(Frame{Event: event})
	for _, text := range []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"m","metadata":{"n":2}}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"b"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"g","metadata":{"n":2}}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}"}`,
	} {
		e, _ := DecodeJSON([]byte(text))
		a.Apply(Frame{Event: e})
	}
	after, err := event.MarshalJSON()
	if err != nil || string(after) != string(before) {
		t.Errorf("the event became %s", after)
	}
	message := a.Messages()[0]
	if string(message.Content) != `"ab"` || Text(message.ToolCalls[0].Function.Arguments) != "{}" {
		t.Errorf("%+v", message)
	}
}

func TestAKeyThatComesAgainKeepsItsPlaceHoweverManyThereAre(t *testing.T) {
	for _, n := range []int{3, searched, searched + 1, 100} {
		text := "{"
		for i := range n {
			text += fmt.Sprintf(`"k%d":%d,`, i, i)
		}
		var md, twice Metadata
		if err := json.Unmarshal([]byte(text+`"k1":"last"}`), &md); err != nil {
			t.Fatal(err)
		}
		if value, _ := md.Get("k1"); len(md) != n || md[1].Key != "k1" || string(value) != `"last"` {
			t.Errorf("%d keys: %s", n, md.text())
		}
		for i := range md {
			twice = MergeMetadata(twice, Metadata{md[i], {Key: "k0", Value: json.RawMessage("null")}})
		}
		if value, _ := twice.Get("k0"); len(twice) != n || string(value) != "null" {
			t.Errorf("%d keys: %s", n, twice.text())
		}
	}
}

func TestACharacterCutInTwoIsWholeAgain(t *testing.T) {
	f := func(want string, deltas ...string) {
		t.Helper()
		lines := []string{`{"type":"TEXT_MESSAGE_START","messageId":"m"}`}
		chunks := []string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}`}
		for _, delta := range deltas {
			lines = append(lines, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":`+delta+`}`)
			chunks = append(chunks, `{"type":"TEXT_MESSAGE_CHUNK","delta":`+delta+`}`)
		}
		lines = append(lines, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`)
		for _, stream := range [][]byte{inRun(lines...), inRun(chunks...)} {
			if got := string(assemble(t, stream).MessageContent["m"]); got != want {
				t.Errorf("%v: %s, want %s", deltas, got, want)
			}
			checkCompaction(t, stream)
		}
		for i, delta := range deltas {
			line := `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":` + delta + `}`
			e, _ := DecodeJSON([]byte(line))
			raw, err := e.MarshalJSON()
			if err != nil || string(raw) != line {
				t.Errorf("delta %d is written as %s, %v", i, raw, err)
			}
		}
	}
	f(`"a🌟b"`, `"a\ud83c"`, `"\udf1fb"`)
	f(`"🌟🌟"`, `"\ud83c"`, `"\udf1f\ud83c"`, `""`, `"\udf1f"`)
	f("\"a\uFFFDb\"", `"a\ud83c"`, `"b"`)
	f("\"a\uFFFDb\"", `"a"`, `"\udf1fb"`)
	f("\"\uFFFD\uFFFD\"", `"\ud83c"`, `"\ud83c"`)
	f(`"\\ud83c`+"\uFFFD\"", `"\\ud83c"`, `"\udf1f"`)
}
