package runtypes

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTheLowerOfTwoLevelsStands(t *testing.T) {
	check := func(a, b, want Level) {
		t.Helper()
		if got := a.Least(b); got != want {
			t.Errorf("%q and %q: %q, want %q", a, b, got, want)
		}
		if got := b.Least(a); got.rank() != want.rank() {
			t.Errorf("%q and %q: %q, want %q", b, a, got, want)
		}
	}
	check("", LevelFull, LevelFull)
	check(LevelFull, LevelNoToolContent, LevelNoToolContent)
	check(LevelNoToolContent, LevelMetadata, LevelMetadata)
	check(LevelFull, "of a later version", "of a later version")
	r := &Run{Inputs: json.RawMessage(`{}`), Identity: Identity{Level: LevelMetadata}}
	if Limit(r, LevelFull); r.Inputs != nil || r.Identity.Level != LevelMetadata {
		t.Errorf("raised: %+v", r)
	}
	if Limit(r, "of a later version"); r.Identity.Level != LevelMetadata {
		t.Errorf("level %q", r.Identity.Level)
	}
}

// A field that is added to Run must be thought about: is it content?
func TestMetadataIsBuiltFromAnAllowList(t *testing.T) {
	r := &Run{
		Name: "Shell", Kind: KindTool, Start: time.Unix(1, 0), End: time.Unix(2, 0),
		Inputs: json.RawMessage(`{"a":"secret"}`), Outputs: json.RawMessage(`{"a":"secret"}`), Error: "secret",
		Model: Model{Name: "m", InvocationParams: map[string]any{"model": "m", "system": "secret", "max_tokens": 5, "stop": []string{"secret"}}},
		Tool:  ToolInfo{Name: "Shell"}, Tags: []string{"secret"},
		Metadata:    map[string]any{"exit_code": 1, "stop_reason": "secret words", "response_id": "resp_1", "agent_name": "secret", "title": "secret", "retries": map[string]any{"a": "secret"}},
		Events:      []RunEvent{{Name: "retry", Data: map[string]any{"why": "secret"}}, {Name: "secret\nword"}},
		Attachments: []Attachment{{Name: "secret", Data: []byte("secret")}},
	}
	Limit(r, LevelMetadata)
	raw, err := json.Marshal(r)
	if err != nil || strings.Contains(string(raw), "secret") || len(r.Attachments) > 0 {
		t.Errorf("%s %v", raw, err)
	}
	if want := map[string]any{"exit_code": 1, "response_id": "resp_1"}; !reflect.DeepEqual(r.Metadata, want) {
		t.Errorf("%v", r.Metadata)
	}
	if want := map[string]any{"model": "m", "max_tokens": 5}; !reflect.DeepEqual(r.Model.InvocationParams, want) || r.Error != "error" || len(r.Events) != 2 {
		t.Errorf("%+v", r)
	}
	if n := reflect.TypeFor[Run]().NumField(); n != 24 {
		t.Errorf("Run has %d fields: does outline take what it may, and nothing else?", n)
	}
}

func TestWithoutToolContentTheConversationStays(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		r := &Run{Kind: KindLLM, Inputs: json.RawMessage(in)}
		Limit(r, LevelNoToolContent)
		if string(r.Inputs) != want {
			t.Errorf("%s\n got %s\nwant %s", in, r.Inputs, want)
		}
	}
	f(`{"messages":[{"role":"user","content":"hi"}]}`, `{"messages":[{"content":"hi","role":"user"}]}`)
	f(`{"messages":[{"role":"assistant","content":[{"type":"text","text":"ok","extra":"x"},{"type":"tool_call","id":"1","name":"Shell","args":{"a":"secret"}}]}]}`,
		`{"messages":[{"content":[{"text":"ok","type":"text"},{"id":"1","name":"Shell","type":"tool_call"}],"role":"assistant"}]}`)
	f(`{"messages":[{"role":"tool","content":"secret","tool_call_id":"1"}]}`, `{"messages":[{"content":"[left out]","role":"tool","tool_call_id":"1"}]}`)
	f(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"secret"}]}]}`,
		`{"messages":[{"content":[{"tool_use_id":"1","type":"tool_result"}],"role":"user"}]}`)
	f(`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"secret"}}]}]}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f"},"id":"1","type":"function"}]}]}`)
	f(`{"messages":[{"role":"a later one","content":"secret"}],"files":["secret"]}`, `{"messages":[{"content":"[left out]","role":"a later one"}]}`)
	f(`{"messages":["secret"]}`, `{"messages":[{"content":"[left out]"}]}`)
	f(`["secret"]`, ``)
	f(`{"messages":[]} secret`, ``)

	r := &Run{Kind: KindTool, Inputs: json.RawMessage(`{}`), Outputs: json.RawMessage(`{}`), Error: "secret", Metadata: map[string]any{"exit_code": 1, "title": "secret"}}
	if Limit(r, LevelNoToolContent); r.Inputs != nil || r.Outputs != nil || r.Error != "error" || len(r.Metadata) != 1 {
		t.Errorf("%+v", r)
	}
}
