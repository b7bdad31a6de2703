package cursor

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/internal/capture"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

func payloadOf(body string) integrations.Payload {
	return integrations.Payload{Body: []byte(body), Env: func(string) string { return "" }, Parent: 77}
}

func keptOf(t *testing.T, body string) (string, data) {
	t.Helper()
	kept, err := project(payloadOf(body))
	if err != nil {
		t.Fatal(err)
	}
	var d data
	if err := json.Unmarshal(kept, &d); err != nil {
		t.Fatal(err)
	}
	return string(kept), d
}

const prompted = `{"conversation_id":"c1","generation_id":"g1","session_id":"c1","hook_event_name":"UserPromptSubmit","cursor_version":"3.19.13",
"workspace_roots":["/home/dev/widgets","/other"],"user_email":"dev@example.com","prompt":"hello","attachments":[{"type":"file","file_path":"/a.png"}]}`

func TestThePayloadSaysThatItIsCursors(t *testing.T) {
	p := payloadOf(prompted)
	if !claims(p) {
		t.Error("a payload of Cursor's is not claimed")
	}
	if _, err := claudecode.Agent().Peek(p); !errors.Is(err, integrations.ErrForeign) {
		t.Errorf("Claude Code takes it: %v", err)
	}
	p.Body = []byte(`{"session_id":"s","hook_event_name":"Stop","cwd":"/","last_assistant_message":"\"cursor_version\":\"3\""}`)
	p.Env = func(name string) string { return map[string]string{"CURSOR_VERSION": "3.19"}[name] }
	if claims(p) {
		t.Error("Claude Code in Cursor's terminal is claimed")
	}
	p.Body = []byte(`{"conversation_id":"c","generation_id":"g","hook_event_name":"stop"}`)
	if !claims(p) {
		t.Error("a payload without a version is not claimed where the variable says it")
	}
}

func TestEventsBelongToTheirWorkspace(t *testing.T) {
	route, err := peek(payloadOf(prompted))
	if want := (integrations.Route{Event: "beforeSubmitPrompt", Session: "/home/dev/widgets", CWD: "/home/dev/widgets", PID: 77}); err != nil || route != want {
		t.Errorf("route %+v, %v", route, err)
	}
	child, err := peek(payloadOf(`{"conversation_id":"c2","hook_event_name":"preToolUse","workspace_roots":["/home/dev/widgets"],"transcript_path":null}`))
	if err != nil || child.Session != route.Session {
		t.Errorf("a subagent's event goes to %q, %v", child.Session, err)
	}
	p := payloadOf(prompted)
	p.Env = func(name string) string { return map[string]string{"LANGSMITH_API_KEY": "lsv2_key"}[name] }
	keyed, err := peek(p)
	if err != nil || keyed.Session == route.Session || strings.Contains(keyed.Session, "lsv2") {
		t.Errorf("a shell with a key of its own shares the journal %q, %v", keyed.Session, err)
	}
	for _, bad := range []string{`{}`, `[]`, `{"conversation_id":"c"}`, `{"hook_event_name":"stop"}`} {
		if _, err := peek(payloadOf(bad)); err == nil {
			t.Errorf("%s has a route", bad)
		}
	}
}

func TestTheJournalDoesNotNameTheUser(t *testing.T) {
	raw, d := keptOf(t, prompted)
	if strings.Contains(raw, "example.com") || d.Text != "hello" || len(d.Attachments) != 1 {
		t.Errorf("kept %s", raw)
	}
}

func TestSecretsInsideAToolsOutputAreSeen(t *testing.T) {
	raw, _ := keptOf(t, `{"conversation_id":"c","generation_id":"g","hook_event_name":"postToolUse","tool_name":"Shell","tool_input":{"command":"env"},
"tool_output":"{\"output\":\"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY\\n\",\"exitCode\":0}"}`)
	run := runtypes.Run{Outputs: json.RawMessage(raw)}
	if err := redact.Run(&run); err != nil || strings.Contains(string(run.Outputs), "wJalr") {
		t.Errorf("left %s, %v", run.Outputs, err)
	}
}

func TestWhatIsTooLongKeepsItsBeginning(t *testing.T) {
	long := strings.Repeat("é", maxContent*5/8)
	raw, d := keptOf(t, `{"conversation_id":"c","hook_event_name":"postToolUse","tool_output":"`+long+`","tool_input":{"a":"`+long+`"}}`)
	if len(raw) > 3*maxText || !json.Valid(d.Output) || !strings.Contains(string(d.Input), "bytes left out") {
		t.Errorf("kept %d bytes", len(raw))
	}
}

func TestModelsAreNamedAsTheirMakersDo(t *testing.T) {
	for label, want := range map[string][2]string{
		"claude-opus-5":                 {"claude-opus-5", "anthropic"},
		"claude-4.5-sonnet":             {"claude-sonnet-4-5", "anthropic"},
		"claude-4.5-sonnet-thinking":    {"claude-sonnet-4-5", "anthropic"},
		"claude-4.6-opus-high-thinking": {"claude-opus-4-6", "anthropic"},
		"claude-3.5-sonnet":             {"claude-3-5-sonnet", "anthropic"},
		"claude-3-7-sonnet":             {"claude-3-7-sonnet", "anthropic"},
		"claude-haiku-4.5":              {"claude-haiku-4-5", "anthropic"},
		"gpt-5.5-medium":                {"gpt-5.5", "openai"},
		"gpt-5.1-codex-max-high":        {"gpt-5.1-codex-max", "openai"},
		"gpt-5-codex-high-fast":         {"gpt-5-codex", "openai"},
		"o3":                            {"o3", "openai"},
		"gemini-2.5-pro":                {"gemini-2.5-pro", "google_genai"},
		"grok-4-fast":                   {"grok-4-fast", "xai"},
		"composer-2.5-fast":             {"composer-2.5-fast", "cursor"},
		"default":                       {"default", "cursor"},
		"":                              {"", ""},
	} {
		if m := modelOf(label, "", nil); m.Name != want[0] || m.Provider != want[1] {
			t.Errorf("%s: %s of %s, want %v", label, m.Name, m.Provider, want)
		}
	}
	m := modelOf("gpt-5.5", "gpt-5.5-high", []param{{"effort", "low"}})
	if m.Name != "gpt-5.5" || m.InvocationParams["effort"] != "low" || m.InvocationParams["model"] != "gpt-5.5-high" {
		t.Errorf("%+v", m)
	}
}

// Cursor runs its own hooks and those in Claude Code's settings: both processes are told
// the same, and both write to Cursor's journal.
func TestATurnThatComesByTwoAgentsHooksIsOneTrace(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"TRACESMITH_STATE": dir, "HOME": dir, "XDG_CONFIG_HOME": dir}
	all := []*integrations.Agent{claudecode.Agent(), Agent()}
	send := func(name, body string) {
		t.Helper()
		var out bytes.Buffer
		capture.Run(capture.Config{
			Args: []string{name}, Env: func(key string) string { return env[key] },
			Stdin: strings.NewReader(body), Stdout: &out,
			Find: func(name string) (*integrations.Agent, bool) {
				for _, a := range all {
					if a.Name == name {
						return a, true
					}
				}
				return nil, false
			},
			All:   func() []*integrations.Agent { return all },
			Spawn: func(string, string) error { return nil },
		})
		if out.String() != "{}\n" {
			t.Errorf("%s: the hook answered %q", name, out.String())
		}
	}
	response := `{"conversation_id":"c1","generation_id":"g1","session_id":"c1","hook_event_name":"%","cursor_version":"3.19.13","workspace_roots":["` + filepath.ToSlash(dir) + `"],"text":"hi","status":"completed","model":"claude-opus-5"}`
	for _, event := range []string{"beforeSubmitPrompt", "afterAgentResponse", "stop"} {
		for _, name := range []string{claudecode.Name, Name} {
			send(name, strings.Replace(strings.Replace(response, "%", event, 1), `"text"`, `"prompt":"hello","text"`, 1))
		}
	}
	place, err := journal.DefaultDir(func(key string) string { return env[key] })
	if err != nil {
		t.Fatal(err)
	}
	state, err := journal.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := state.Sessions()
	if err != nil || len(sessions) != 1 || sessions[0].Agent() != Name {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	sizes, err := sessions[0].Sizes()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	for record, err := range sessions[0].Read(nil, sizes) {
		if err != nil {
			t.Fatal(err)
		}
		e := record.Entry
		w.tell(integrations.Event{Kind: e.Event, At: e.At, CWD: e.CWD, Data: e.Data})
	}
	w.own(integrations.Dead)
	if len(w.told) != 6 || len(w.runs) != 2 {
		t.Errorf("%d events, %d runs, want a turn and a model call", len(w.told), len(w.runs))
	}
}

func TestAFieldOfAnotherShapeCostsNoEvent(t *testing.T) {
	for _, field := range []string{
		`"model_params":{"effort":"low"}`, `"duration":"5"`, `"error_message":{"text":"x"}`, `"loop_count":"1"`, `"transcript_path":7`,
		`"workspace_roots":"/home/dev/widgets"`, `"text":["a"]`, `"is_interrupt":"yes"`, `"context_tokens":1.5`,
	} {
		body := `{` + field + `,"conversation_id":"c","generation_id":"g","hook_event_name":"beforeSubmitPrompt","prompt":"hello"}`
		if _, err := peek(integrations.Payload{Body: []byte(body)}); err != nil {
			t.Error(err)
		}
		if _, d := keptOf(t, body); d.Text != "hello" || d.Generation != "g" {
			t.Errorf("%s: kept %+v", field, d)
		}
	}
}

func TestAnInputThatIsSmallerThanTheCacheDoesNotHoldIt(t *testing.T) {
	_, d := keptOf(t, `{"conversation_id":"c","hook_event_name":"stop","output_tokens":5,"cache_read_tokens":800,"cache_write_tokens":100}`)
	if u := d.Tokens.usage(); u.Input != 900 || u.CacheRead != 800 || u.Output != 5 {
		t.Errorf("usage %+v", u)
	}
}
