package copilot

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Whatever stands in a log, the reducer neither panics nor loops, posts no run twice,
// leaves none open, and gives runs that can be written.
func FuzzReducer(f *testing.F) {
	for _, name := range []string{"subagent", "background_subagent", "stop_block", "compact_clear", "nested_subagents", "model_error", "acp"} {
		paths, err := filepath.Glob("testdata/" + name + "/home/.copilot/session-state/*/" + logName)
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: no log (%v)", name, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text), uint(len(text)/3), uint8(2), uint8(0))
			f.Add(string(text[:len(text)/2]), uint(len(text)/4), uint8(4), uint8(1))
		}
	}
	f.Fuzz(func(t *testing.T, text string, part uint, cut, first uint8) {
		src := &memory{files: map[string]string{logPath(): text[:min(part, uint(len(text)))]}}
		hook := func(kind string, stamp int64) integrations.Event {
			raw, err := json.Marshal(data{Session: sessionID, Log: logPath(), Source: "new", Stamp: stamp})
			if err != nil {
				t.Fatal(err)
			}
			return integrations.Event{Kind: kind, Data: raw, CWD: "/home/dev/w", Head: integrations.Head{Branch: "main", SHA: "aaaa"}}
		}
		begin := [...]string{sessionStart, userPrompt, agentStop, sessionEnd}[first%4]
		events := []integrations.Event{
			hook(begin, beginning), {Kind: integrations.Grew}, hook(userPrompt, beginning+5), {Kind: integrations.Idle},
			hook(agentStop, beginning+1<<40), {Kind: integrations.Grew}, {Kind: integrations.Idle}, {Kind: integrations.Grew}, {Kind: integrations.Dead},
		}
		open := map[string]bool{}
		var r integrations.Reducer = newReducer(integrations.Options{Inputs: integrations.InputsThread})
		for i, e := range events {
			if i == 4 {
				src.files[logPath()] = text
			}
			ops, err := r.Apply(src, e)
			if err != nil {
				t.Fatal(err)
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

// Project keeps JSON small and valid whatever the payload.
func FuzzProject(f *testing.F) {
	f.Add([]byte(`{"sessionId":"` + sessionID + `","timestamp":1,"prompt":"\ud800"}`))
	f.Add([]byte(`{"session_id":"x","hook_event_name":"Stop","transcript_path":"/a/session-state/` + sessionID + `/events.jsonl"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := integrations.Payload{Body: body, Env: func(key string) string { return map[string]string{"HOME": "/h"}[key] }, Exists: func(string) bool { return len(body)%2 == 0 }}
		if _, err := peek(p); err != nil {
			return
		}
		kept, err := project(p)
		if err == nil && !json.Valid(kept) {
			t.Fatalf("kept %q", kept)
		}
	})
}

// Settings are changed so that they stay valid, and a second install adds nothing.
func FuzzHooks(f *testing.F) {
	f.Add([]byte(`{"version":1,"hooks":{"agentStop":[{"bash":"x"}]}}`))
	f.Add([]byte("\xef\xbb\xbf{\r\n}"))
	f.Fuzz(func(t *testing.T, settings []byte) {
		out, err := addHooks(settings, hooks(), command)
		if err != nil {
			return
		}
		again, err := addHooks(out, hooks(), command)
		if err != nil || string(again) != string(out) {
			t.Fatalf("a second install makes %q (%v) of %q", again, err, out)
		}
		if _, err := removeHooks(out, func(found string) bool { return found == command }); err != nil {
			t.Fatal(err)
		}
	})
}
