package runtypes

import (
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
