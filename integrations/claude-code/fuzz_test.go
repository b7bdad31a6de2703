package claudecode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// memory is a Source of one transcript.
type memory struct {
	path string
	text []byte
}

func (m memory) Glob(string) ([]string, error) { return nil, nil }

func (m memory) File(path string) ([]byte, error) {
	return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
}

func (m memory) Rows(string, string, ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) { yield(nil, fs.ErrNotExist) }
}

func (m memory) Recall(string) (integrations.Event, error) {
	return integrations.Event{}, fs.ErrNotExist
}

func (m memory) Lines(path string, from int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		if path != m.path {
			yield(integrations.Line{}, fs.ErrNotExist)
			return
		}
		for at := from; at >= 0 && at < int64(len(m.text)); {
			end := bytes.IndexByte(m.text[at:], '\n')
			if end < 0 {
				return
			}
			next := at + int64(end) + 1
			if !yield(integrations.Line{Offset: at, Next: next, Data: m.text[at : next-1]}, nil) {
				return
			}
			at = next
		}
	}
}

// Whatever stands in a transcript or a payload, the reducer neither panics nor
// loops, posts no run twice, leaves none open, and gives runs that can be written.
func FuzzReducer(f *testing.F) {
	for _, name := range []string{"parallel", "tui-esc-tool", "stop-hook-blocks", "auto-compact", "resume-compact"} {
		paths, err := filepath.Glob("testdata/" + name + "/home/.claude/projects/*/*.jsonl")
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: no transcript (%v)", name, err)
		}
		text, err := os.ReadFile(paths[0])
		if err != nil {
			f.Fatal(err)
		}
		var first struct {
			PromptID string `json:"promptId"`
		}
		for _, l := range bytes.Split(text, []byte("\n")) {
			if first.PromptID == "" {
				_ = json.Unmarshal(l, &first)
			}
		}
		f.Add(text, first.PromptID, uint8(3))
		f.Add(text[:len(text)/2], first.PromptID, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, prompt string, cut uint8) {
		src := memory{path: "/t.jsonl", text: text}
		events := []integrations.Event{
			hookEvent(t, "SessionStart", data{Session: "s", Transcript: src.path, Source: "startup"}),
			hookEvent(t, "UserPromptSubmit", data{Session: "s", Transcript: src.path, Prompt: prompt}),
			hookEvent(t, "PreToolUse", data{Session: "s", Transcript: src.path, Prompt: prompt, Tool: "Bash", ToolID: "t1"}),
			hookEvent(t, "SubagentStart", data{Session: "s", Transcript: src.path, Prompt: prompt, Agent: "a", AgentType: "x"}),
			hookEvent(t, "Stop", data{Session: "s", Transcript: src.path, Prompt: prompt, LastHash: "h"}),
			{Kind: integrations.Grew}, {Kind: integrations.Idle},
			hookEvent(t, "SessionEnd", data{Session: "s", Transcript: src.path, Prompt: prompt, Reason: "other"}),
			{Kind: integrations.Grew}, {Kind: integrations.Dead},
		}
		open := map[string]bool{}
		options := integrations.Options{Inputs: integrations.InputsThread} // the one that reads most
		var r integrations.Reducer = newReducer(options)
		for i, e := range events {
			ops, err := r.Apply(src, e)
			if err != nil {
				continue
			}
			for _, op := range ops {
				id := op.Run.ID.String()
				_, known := open[id]
				if known == (op.Verb == runtypes.Post) {
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
				r = newReducer(options)
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
	return integrations.Event{Kind: kind, At: time.Date(2026, 11, 30, 4, 30, 0, 0, time.UTC), CWD: "/r", Data: raw}
}

// Project keeps JSON small and valid whatever the payload.
func FuzzProject(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"x","duration_ms":1.5}`))
	f.Add([]byte(`{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"\ud800"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := integrations.Payload{Body: body, Env: func(string) string { return "" }, Exists: func(string) bool { return len(body)%2 == 0 }}
		if _, err := peek(p); err != nil {
			return
		}
		kept, err := project(p)
		if err == nil && !json.Valid(kept) {
			t.Fatalf("kept %q", kept)
		}
	})
}
