package opencode_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestTurnsHangUnderTheRunThatStartedOpenCode(t *testing.T) {
	const parent = "20261130T040506007008Z019ad0a0-0000-7000-8000-000000000001"
	raw, err := os.ReadFile("testdata/run-plain/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	agent := opencode.Agent()
	r, peek := agent.NewReducer(integrations.Options{}), agent.Stream()
	env := func(key string) string { return map[string]string{runtypes.EnvParent: parent}[key] }
	tops := 0
	for line := range bytes.Lines(raw) {
		p := integrations.Payload{Body: line, Env: env}
		route, err := peek(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := agent.Hook(route.Event); !ok {
			continue
		}
		data, err := agent.Project(p)
		if err != nil {
			t.Fatal(err)
		}
		ops, err := r.Apply(library{}, integrations.Event{Kind: route.Event, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			if op.Run.Name == "OpenCode Turn" && op.Verb == runtypes.Post {
				tops++
				if op.Run.ParentID.String() != parent[len(parent)-36:] {
					t.Errorf("the turn hangs under %s", op.Run.ParentID)
				}
			}
		}
	}
	if tops != 1 {
		t.Errorf("%d turns", tops)
	}
}
