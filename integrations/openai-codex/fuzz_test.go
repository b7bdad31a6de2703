package openaicodex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Whatever stands in rollouts, the reducer neither panics nor loops, posts no run
// twice, leaves none open, and gives runs that can be written.
func FuzzReducer(f *testing.F) {
	for _, name := range []string{"tools", "code", "review", "tui_compact", "v128_compact_auto", "stop_block", "sub_fork"} {
		paths, err := filepath.Glob("testdata/" + name + "/home/.codex/sessions/*/*/*/*.jsonl")
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: no rollout (%v)", name, err)
		}
		text, err := os.ReadFile(paths[0])
		if err != nil {
			f.Fatal(err)
		}
		child, err := os.ReadFile(paths[len(paths)-1])
		if err != nil {
			f.Fatal(err)
		}
		var turn string
		rd := newReader(rolloutOf(rolloutThread(paths[0])), 0, nil)
		src := &memory{files: map[string]string{rd.path: string(text)}}
		if _, err := rd.read(src, func(id string, _ int64) bool { turn = id; return true }); err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), string(child), turn, uint8(3))
		f.Add(string(text[:len(text)/2]), string(child), turn, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text, child, turn string, cut uint8) {
		path := rolloutOf(rootID)
		src := &memory{files: map[string]string{path: text, rolloutOf(childID): child}}
		d := data{Session: rootID, Transcript: path, Turn: turn}
		events := []integrations.Event{
			hookEvent(t, "SessionStart", data{Session: rootID, Transcript: path, Source: "startup"}),
			hookEvent(t, "UserPromptSubmit", d),
			hookEvent(t, "Stop", d),
			{Kind: integrations.Grew}, {Kind: integrations.Idle},
			hookEvent(t, "SessionEnd", data{Session: rootID, Transcript: path}),
			{Kind: integrations.Grew}, {Kind: integrations.Dead},
		}
		open := map[string]bool{}
		var r integrations.Reducer = newReducer(integrations.Options{Inputs: integrations.InputsThread})
		for i, e := range events {
			ops, err := r.Apply(src, e)
			if err != nil {
				continue
			}
			for _, op := range ops {
				id := op.Run.ID.String()
				if _, known := open[id]; known == (op.Verb == runtypes.Post) {
					t.Fatalf("%s of %s %s", op.Verb, op.Run.Kind, op.Run.Name)
				}
				if _, err := runtypes.Encode(op); err != nil {
					t.Fatalf("%s of %s %s cannot be written: %v", op.Verb, op.Run.Kind, op.Run.Name, err)
				}
				open[id] = op.Run.Pending()
			}
			if i == int(cut) {
				state, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				r = newReducer(integrations.Options{Inputs: integrations.InputsThread})
				if err := json.Unmarshal(state, r); err != nil {
					t.Fatal(err)
				}
			}
		}
		for id, pending := range open {
			if pending {
				t.Fatalf("run %s is left open", id)
			}
		}
	})
}

func hookEvent(t *testing.T, kind string, d data) integrations.Event {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return integrations.Event{Kind: kind, Data: raw}
}

// Project keeps JSON small and valid whatever the payload.
func FuzzProject(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","turn_id":"t","hook_event_name":"Stop","transcript_path":null,"last_assistant_message":"\ud800"}`))
	f.Add([]byte(`{"type":"agent-turn-complete","thread-id":"t","turn-id":"u","input-messages":["x"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := integrations.Payload{Body: body, Env: func(string) string { return "/h" }, Exists: func(string) bool { return len(body)%2 == 0 }}
		if _, err := peek(p); err != nil {
			return
		}
		kept, err := project(p)
		if err == nil && !json.Valid(kept) {
			t.Fatalf("kept %q", kept)
		}
	})
}

// A rollout's path may be anything: it must not become a pattern of other files.
func FuzzRolloutThread(f *testing.F) {
	f.Add(rolloutOf(rootID))
	f.Add("rollout-2026-11-30T04-24-17-*******************************[a].jsonl")
	f.Fuzz(func(t *testing.T, path string) {
		id := rolloutThread(path)
		if len(id) != 0 && len(id) != 36 {
			t.Fatalf("thread %q", id)
		}
		idTime(id)
		findRollout(&memory{files: map[string]string{path: ""}}, home, id)
	})
}
