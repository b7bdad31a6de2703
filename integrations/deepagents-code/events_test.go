package deepagentscode

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

const promptedBody = `{"session_id":"s","transcript_path":"/home/dev/.deepagents/transcripts/s.jsonl","cwd":"/home/dev/widgets",` +
	`"hook_event_name":"UserPromptSubmit","prompt_id":"d3bb55e1-5da7-5daf-b463-3421c6e44d83","permission_mode":"default","prompt":"the words"}`

func environment(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func projected(t *testing.T, body string, env func(string) string) (string, data) {
	t.Helper()
	raw, err := project(integrations.Payload{Body: []byte(body), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	var d data
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return string(raw), d
}

// A turn's id is its trace's turn_id: with the agent's own tracing on, each turn would be
// there twice.
func TestHooksTellNothingWhileTheAgentTracesItself(t *testing.T) {
	for _, name := range []string{"LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING"} {
		kept, d := projected(t, promptedBody, environment(name, "true"))
		if !d.Native || strings.Contains(kept, "the words") || strings.Contains(kept, "/home/dev") {
			t.Errorf("%s=true: kept %s", name, kept)
		}
		r := newReducer(integrations.Options{})
		ops, err := r.Apply(nowhere{}, integrations.Event{Kind: userPrompt, At: time.Unix(1e9, 0), Data: json.RawMessage(kept)})
		if err != nil || len(ops) > 0 || r.Status().Open > 0 {
			t.Errorf("%s=true: %d writes, %v", name, len(ops), err)
		}
		ops, err = r.Apply(nowhere{}, integrations.Event{Kind: stop, At: time.Unix(1e9+1, 0), Data: json.RawMessage(kept)})
		if err != nil || len(ops) > 0 {
			t.Errorf("%s=true: %d writes at the end, %v", name, len(ops), err)
		}
	}
	for _, value := range []string{"false", "0", "", "no"} {
		if _, d := projected(t, promptedBody, environment("LANGSMITH_TRACING", value)); d.Native || d.Text != "the words" {
			t.Errorf("LANGSMITH_TRACING=%s: %+v", value, d)
		}
	}
}

// Turned on in the middle of a turn (/auth takes a key), its end is still told.
func TestATurnThatWasBegunIsEndedThoughTheAgentTracesItselfNow(t *testing.T) {
	r := newReducer(integrations.Options{})
	kept, _ := projected(t, promptedBody, nil)
	ops, err := r.Apply(nowhere{}, integrations.Event{Kind: userPrompt, At: time.Unix(1e9, 0), Data: json.RawMessage(kept)})
	if err != nil || len(ops) != 1 {
		t.Fatalf("%d writes, %v", len(ops), err)
	}
	kept, _ = projected(t, strings.Replace(promptedBody, userPrompt, sessionEnd, 1), environment("LANGSMITH_TRACING", "true"))
	ops, err = r.Apply(nowhere{}, integrations.Event{Kind: sessionEnd, At: time.Unix(1e9+1, 0), Data: json.RawMessage(kept)})
	if err != nil || len(ops) != 1 || ops[0].Run.Pending() {
		t.Errorf("%d writes, %v", len(ops), err)
	}
}

func TestTheProviderIsTakenFromTheEnvironment(t *testing.T) {
	const body = `{"session_id":"s","hook_event_name":"SessionStart","model":"claude-sonnet-4-6"}`
	for spec, want := range map[string]string{
		"anthropic:claude-sonnet-4-6": "anthropic:claude-sonnet-4-6",
		"openai:gpt-5.4":              "claude-sonnet-4-6", // of a server that was started with another
		"":                            "claude-sonnet-4-6",
	} {
		if _, d := projected(t, body, environment("DEEPAGENTS_CODE_SERVER_MODEL", spec)); d.Model != want {
			t.Errorf("%q: model %q, want %q", spec, d.Model, want)
		}
	}
	if m := modelOf("bedrock_converse:anthropic.claude-3"); m.Provider != "amazon_bedrock" || m.Name != "anthropic.claude-3" {
		t.Errorf("%+v", m)
	}
}

func TestAPayloadWithoutAThreadOrAnEventIsRefused(t *testing.T) {
	for _, body := range []string{`{}`, `{"session_id":"s"}`, `{"hook_event_name":"Stop"}`, `{"event":"session.start"}`, `not json`} {
		if _, err := peek(integrations.Payload{Body: []byte(body)}); err == nil {
			t.Errorf("%s was taken", body)
		}
	}
	route, err := peek(integrations.Payload{Body: []byte(promptedBody), Parent: 42})
	want := integrations.Route{Event: userPrompt, Session: "s", CWD: "/home/dev/widgets", PID: 42}
	if err != nil || route != want {
		t.Errorf("%+v, %v", route, err)
	}
}

func TestALongPromptIsCutAtARune(t *testing.T) {
	_, d := projected(t, strings.Replace(promptedBody, "the words", strings.Repeat("é", maxText), 1), nil)
	if len(d.Text) > maxText+64 || !strings.Contains(d.Text, "bytes left out") {
		t.Errorf("kept %d bytes", len(d.Text))
	}
}

// A member that has another shape than it used to have costs itself alone.
func TestAnEventWithAnOddMemberIsStillTold(t *testing.T) {
	for _, odd := range []string{`"permission_mode":7`, `"duration_ms":"long"`, `"model":{"name":"x"}`, `"is_interrupt":[]`, `"cwd":null`} {
		body := strings.Replace(promptedBody, `{`, `{`+odd+`,`, 1)
		body = strings.Replace(strings.Replace(body, `"permission_mode":"default",`, "", 1), `"cwd":"/home/dev/widgets",`, "", 1)
		route, err := peek(integrations.Payload{Body: []byte(body)})
		if err != nil || route.Session != "s" {
			t.Errorf("%s: %+v, %v", odd, route, err)
		}
		if _, d := projected(t, body, environment()); d.Text != "the words" {
			t.Errorf("%s: %+v", odd, d)
		}
	}
	for _, bad := range []string{`{"session_id":7,"hook_event_name":"Stop"}`, `{"session_id":"s"}`, `[]`, `{`} {
		if route, err := peek(integrations.Payload{Body: []byte(bad)}); err == nil {
			t.Errorf("%s: %+v", bad, route)
		}
	}
}
