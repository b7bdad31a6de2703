package claudecode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestATurnHangsUnderTheRunThatStartedTheAgent(t *testing.T) {
	const parent = "20261130T040000000000Z01a22ab6-868f-73f1-b885-aec80fdf0b4c"
	for _, name := range []string{"TRACESMITH_PARENT", "CC_LANGSMITH_PARENT_DOTTED_ORDER"} {
		env := map[string]string{name: parent}
		kept, err := project(integrations.Payload{
			Body: []byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"p","prompt":"hello"}`),
			Env:  func(key string) string { return env[key] },
		})
		if err != nil {
			t.Fatal(err)
		}
		r := newReducer(integrations.Options{})
		var ops []runtypes.Op
		for _, e := range []integrations.Event{
			{Kind: "UserPromptSubmit", At: hookEvent(t, "", data{}).At, Data: kept},
			hookEvent(t, "Stop", data{Session: "s", Prompt: "p", Text: "done"}),
		} {
			more, err := r.Apply(memory{}, e)
			if err != nil {
				t.Fatal(err)
			}
			ops = append(ops, more...)
		}
		if len(ops) != 2 {
			t.Fatalf("%d writes, want a post and a patch", len(ops))
		}
		run := ops[1].Run
		if !strings.HasPrefix(run.DottedOrder, parent+".") || run.TraceID.String() != parent[22:] || run.ParentID != run.TraceID {
			t.Errorf("%s: the turn is %s of trace %s", name, run.DottedOrder, run.TraceID)
		}
	}
	var d data
	kept, err := project(integrations.Payload{
		Body: []byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit"}`),
		Env:  func(string) string { return "no dotted order" },
	})
	if err != nil || json.Unmarshal(kept, &d) != nil || d.Parent != "" {
		t.Errorf("parent %q, %v", d.Parent, err)
	}
}
