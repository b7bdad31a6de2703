package opencode_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Whatever comes down the pipe, in whatever order, nothing panics, what is kept is JSON,
// no run is posted or patched twice, none is left open, and all can be written.
func FuzzStream(f *testing.F) {
	for _, name := range []string{"run-task", "serve-queued", "serve-aborttool", "serve-compact", "serve-shell"} {
		raw, err := os.ReadFile("testdata/" + name + "/events.jsonl")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, uint8(0), uint8(0))
		f.Add(raw, uint8(7), uint8(20))
	}
	f.Fuzz(func(t *testing.T, raw []byte, skip, cut uint8) {
		if len(raw) > 1<<18 {
			return
		}
		agent := opencode.Agent()
		peek := agent.Stream()
		r := agent.NewReducer(integrations.Options{Inputs: integrations.InputsThread})
		open := map[string]bool{}
		take := func(e integrations.Event) {
			ops, err := r.Apply(library{}, e)
			if err != nil {
				return
			}
			for _, op := range ops {
				id := op.Run.ID.String()
				pending, known := open[id]
				if known == (op.Verb == runtypes.Post) || known && !pending {
					t.Fatalf("%s of %s %s", op.Verb, op.Run.Kind, op.Run.Name)
				}
				if _, err := runtypes.Encode(op); err != nil {
					t.Fatalf("%s of %s %s cannot be written: %v", op.Verb, op.Run.Kind, op.Run.Name, err)
				}
				open[id] = op.Run.Pending()
			}
		}
		n := 0
		for line := range bytes.Lines(raw) {
			if n++; skip > 0 && n%int(skip) == 0 {
				continue
			}
			p := integrations.Payload{Body: line}
			route, err := peek(p)
			if err != nil {
				continue
			}
			data, err := agent.Project(p)
			if err != nil {
				continue
			}
			if !json.Valid(data) {
				t.Fatalf("kept %q", data)
			}
			take(integrations.Event{Kind: route.Event, At: time.UnixMilli(1), Data: data, Ref: route.Event + string(rune(n))})
			if n == int(cut) {
				state, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				r = agent.NewReducer(integrations.Options{Inputs: integrations.InputsThread})
				if err := json.Unmarshal(state, r); err != nil {
					t.Fatal(err)
				}
			}
		}
		take(integrations.Event{Kind: integrations.Dead})
		for id, pending := range open {
			if pending {
				t.Fatalf("run %s is left open", id)
			}
		}
	})
}
