package runtypes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTheFirstTokenOfAStreamIsNotedOnce(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", WithClock(clock()))
	call := turn.LLM("m", "y")
	for range 100 {
		call.Token()
	}
	call.Event("retry", map[string]any{"attempt": 2})
	call.End("z")
	call.Token()
	turn.End("z")
	r := sink.final(t)[1]
	if len(r.Events) != 2 || r.Events[0].Name != "new_token" || !r.Events[0].Time.Equal(r.Start.Add(time.Second)) || r.Events[1].Data["attempt"] != 2 {
		t.Errorf("events %+v of a run that began at %v", r.Events, r.Start)
	}
}

func TestWhatACallSaysStandsInItsRun(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", WithClock(clock()))
	usage := Usage{Input: 100, Output: 30, CacheRead: 60, Reasoning: 10, InputDetails: map[string]int64{"audio": 1}}
	params := map[string]any{"max_tokens": 100, "thinking": map[string]any{"budget": 5}}
	call := turn.LLM("m", "y").Usage(usage).Model(Model{Provider: "anthropic", InvocationParams: params}).Tags("fast").Metadata("attempt", 1)
	usage.InputDetails["audio"], params["max_tokens"] = 99, 0 // the caller's own
	params["thinking"].(map[string]any)["budget"] = 0
	call.Attach("screen.shot.png", "image/png", []byte("png")).Attach("big", "", make([]byte, MaxAttachments)).Attach("screen_shot_png", "image/png", []byte("png2"))
	call.End("z")
	turn.Tool("Skill", "", nil).Skill("pdf").End(nil)
	turn.Metadata("late", true).Tags("a", "b").Attach("plan", "text/plain", []byte("1."))
	turn.Tool("bash", "", nil).End(nil)
	turn.End("z")

	runs := sink.final(t)
	for _, v := range Validate(runs) {
		t.Error(v)
	}
	root, llm, skill, bash := runs[0], runs[1], runs[2], runs[3]
	if llm.Usage.CacheRead != 60 || llm.Usage.InputDetails["audio"] != 1 || llm.Model.InvocationParams["max_tokens"] != 100 || llm.Model.Name != "m" ||
		llm.Tags[0] != "fast" || llm.Metadata["attempt"] != 1 {
		t.Errorf("%+v", llm)
	}
	if thinking := fmt.Sprintf("%s", llm.Model.InvocationParams["thinking"]); thinking != `{"budget":5}` {
		t.Errorf("parameters %s", thinking)
	}
	if len(llm.Attachments) != 1 || llm.Attachments[0].Name != "screen_shot_png" || string(llm.Attachments[0].Data) != "png2" || llm.Metadata[metaDropped] != 1 {
		t.Errorf("attachments %+v, %v dropped", llm.Attachments, llm.Metadata[metaDropped])
	}
	if skill.Tool.Skill != "pdf" || skill.Metadata["late"] != nil || bash.Metadata["late"] != true {
		t.Errorf("skill %+v, bash %+v", skill, bash)
	}
	if root.Metadata["late"] != true || strings.Join(root.Tags, "") != "ab" || len(root.Attachments) != 1 {
		t.Errorf("%+v", root)
	}
}

func TestACallIsDoneWithOutputErrorOrBoth(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", WithClock(clock()))
	turn.Tool("a", "", nil).Done("ok", nil)
	turn.Tool("b", "", nil).Done("--- FAIL", errorString("exit status 1"))
	turn.Tool("c", "", nil).Done("", errorString("no such file"))
	turn.Tool("d", "", nil).Done([]string{"not", "comparable"}, errorString("x"))
	turn.End("y")
	for i, want := range []string{`"ok" `, `"--- FAIL" exit status 1`, ` no such file`, `["not","comparable"] x`} {
		if r := sink.final(t)[i+1]; string(r.Outputs)+" "+r.Error != want {
			t.Errorf("%s: %s %s, want %s", r.Name, r.Outputs, r.Error, want)
		}
	}
}

func TestACompactionHasItsOwnModelCall(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", WithClock(clock()))
	compaction := turn.Compaction("auto", nil)
	compaction.LLM("m", "summarise").Usage(Usage{Input: 9, Output: 1}).End("short")
	compaction.End("short")
	turn.End("y")
	alone := StartTurn(sink, identity(), nil, AsCompaction("manual"), WithClock(clock()))
	alone.LLM("m", "summarise").End("short")
	alone.End("short")

	runs := sink.final(t)
	for _, v := range Validate(runs) {
		t.Error(v)
	}
	for i, want := range []struct {
		kind  Kind
		agent AgentType
		name  string
	}{
		{KindRoot, AgentRoot, "Claude Code Turn"},
		{KindLLM, AgentCompaction, "Claude Code"},
		{KindChain, AgentCompaction, "Context Compaction (auto)"},
		{KindChain, AgentCompaction, "Context Compaction (manual)"},
		{KindLLM, AgentCompaction, "Claude Code"},
	} {
		if r := runs[i]; r.Kind != want.kind || r.AgentType != want.agent || r.Name != want.name {
			t.Errorf("run %d: %s %s %q", i, r.Kind, r.AgentType, r.Name)
		}
	}
}

func TestContentIsStrippedWhole(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "secret")
	turn.LLM("m", "secret").Event("retry", map[string]any{"why": "secret"}).Attach("f", "", []byte("secret")).Output("secret").Fail(errorString("secret"))
	turn.End("secret")
	runs := sink.final(t)
	for i := range runs {
		StripContent(&runs[i])
		w, err := Encode(Op{Verb: Post, Run: &runs[i]})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(w.Inputs) + string(w.Outputs) + w.Error + string(w.Events) + string(w.Extra); strings.Contains(text, "secret") || len(runs[i].Attachments) > 0 {
			t.Errorf("%s", text)
		}
	}
	for _, v := range Validate(runs) {
		t.Error(v)
	}
}

type errorString string

func (e errorString) Error() string { return string(e) }

// mute is an error that cannot say what it is.
type mute struct{ text *string }

func (m *mute) Error() string { return *m.text }

func TestWhatAnAgentHandsInDoesNotBringItDown(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", nil, WithClock(nil))
	turn.Tool("bash", "", rude{}).Metadata("k", rude{}).End(rude{})
	turn.LLM("m", rude{}).Model(Model{InvocationParams: map[string]any{"p": rude{}}}).Fail((*mute)(nil))
	turn.Tool("bash", "", nil).Fail(&mute{})
	turn.Tool("", "", nil).End(nil)
	turn.Subagent("", "", "y").End("z")
	turn.End(rude{})
	runs := sink.final(t)
	if len(runs) != 6 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs {
		if strings.Contains(string(r.Inputs)+string(r.Outputs), "not today") {
			t.Errorf("%s: %s %s", r.Name, r.Inputs, r.Outputs)
		}
	}
	if runs[2].Error == "" || runs[3].Error == "" {
		t.Errorf("errors %q and %q", runs[2].Error, runs[3].Error)
	}
	for _, v := range Validate(runs) {
		t.Error(v)
	}
}

func TestTextIsTextInWhateverTypeItComes(t *testing.T) {
	type answer string
	say := Message{Role: "assistant", Content: "hi"}
	const message = `{"messages":[{"role":"assistant","content":"hi"}]}`
	for _, f := range []struct {
		given           any
		ofModel, ofTool string
	}{
		{"hi", message, `"hi"`},
		{[]byte("hi"), message, `"hi"`},
		{answer("hi"), message, `"hi"`},
		{say, message, `{"role":"assistant","content":"hi"}`},
		{&say, message, `{"role":"assistant","content":"hi"}`},
		{[]*Message{&say}, message, `[{"role":"assistant","content":"hi"}]`},
		{(*Message)(nil), "", "null"},
		{[]byte(nil), "", ""},
		{[]byte{}, `{"messages":[{"role":"assistant","content":""}]}`, `""`},
		{[]byte("caf\xe9"), `{"messages":[{"role":"assistant","content":"caf\ufffd"}]}`, `"caf\ufffd"`},
		{[]byte("\x89PNG\x00"), `{"unencodable":"5 bytes that are no text"}`, `{"unencodable":"5 bytes that are no text"}`},
		{json.RawMessage(`{"choices":[]}`), `{"choices":[]}`, `{"choices":[]}`},
	} {
		sink := &memory{}
		turn := StartTurn(sink, identity(), "x")
		turn.LLM("m", nil).End(f.given)
		turn.Tool("bash", "", nil).End(f.given)
		turn.End(nil)
		runs := sink.final(t)
		if model, tool := string(runs[1].Outputs), string(runs[2].Outputs); model != f.ofModel || tool != f.ofTool {
			t.Errorf("%T %q: a model's is %s, a tool's %s", f.given, f.given, model, tool)
		}
	}
}

func TestMetadataOfATurnReachesWhatStartsUnderItLaterHoweverDeep(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x", WithMetadata(map[string]any{"team": "blue", "stage": "plan"}))
	sub := turn.Tool("task", "", nil).Subagent("worker", "", "go")
	sub.Metadata("own", true)
	turn.Metadata("stage", "build")
	sub.Tool("bash", "", nil).End("ok")
	sub.End("ok")
	turn.End("done")
	for _, r := range sink.final(t) {
		if r.Name != "bash" {
			continue
		}
		if r.Metadata["stage"] != "build" || r.Metadata["team"] != "blue" || r.Metadata["own"] != true {
			t.Errorf("metadata %v", r.Metadata)
		}
		return
	}
	t.Error("the tool call is missing")
}
