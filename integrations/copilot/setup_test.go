package copilot

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

const command = `[ -x /opt/tracesmith ] && /opt/tracesmith hook copilot; exit 0`

func added(t *testing.T, settings string) string {
	t.Helper()
	out, err := addHooks([]byte(settings), hooks(), command)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestEveryEventIsRegisteredOnceAndKnowsItsName(t *testing.T) {
	out := added(t, "")
	var file struct {
		Version int
		Hooks   map[string][]hookEntry
	}
	if err := json.Unmarshal([]byte(out), &file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 1 || len(file.Hooks) != len(hooks()) {
		t.Errorf("version %d, %d events", file.Version, len(file.Hooks))
	}
	for _, h := range hooks() {
		list := file.Hooks[h.Event]
		if len(list) != 1 || list[0].Command != command || list[0].Env[envEvent] != h.Event || list[0].Type != "command" || list[0].Timeout != 10 {
			t.Errorf("%s: %+v", h.Event, list)
		}
	}
	if again := added(t, out); again != out {
		t.Errorf("a second install changes the file:\n%s", again)
	}
}

// A misspelt event is dropped in silence, and one that decides denies when it fails.
func TestEventsAreSpelledAsCopilotSpellsThemAndNoneDecides(t *testing.T) {
	known := []string{
		"sessionStart", "sessionEnd", "userPromptSubmitted", "userPromptTransformed", "postToolUse", "postToolUseFailure",
		"notification", "errorOccurred", "agentStop", "subagentStart", "subagentStop", "preCompact",
	}
	for _, h := range hooks() {
		if !slices.Contains(known, h.Event) {
			t.Errorf("%s is no event, or one that decides", h.Event)
		}
	}
	misspelt := `{"version":1,"hooks":{"AgentStop":[{"type":"command","command":` + string(quoted(t, command)) + `}]}}`
	if out := added(t, misspelt); strings.Contains(out, "AgentStop") {
		t.Errorf("our command stays with an event that there is not:\n%s", out)
	}
}

func quoted(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestUninstallLeavesWhatIsNotOurs(t *testing.T) {
	const theirs = `{
  "version": 1,
  "hooks": {
    "agentStop": [
      {"type": "command", "bash": "./notify.sh", "timeoutSec": 5}
    ]
  }
}
`
	out, err := removeHooks([]byte(added(t, theirs)), func(found string) bool { return found == command })
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != theirs {
		t.Errorf("left:\n%s", out)
	}
	seen := 0
	if _, err := removeHooks([]byte(added(t, theirs)), func(found string) bool {
		if found == command {
			seen++
		}
		return false
	}); err != nil || seen != len(hooks()) {
		t.Errorf("%d commands seen (%v), want %d", seen, err, len(hooks()))
	}
}

func TestAnUnexpectedFileIsRefusedAndNotRewritten(t *testing.T) {
	for _, text := range []string{`[]`, `{"hooks":[]}`, `{"hooks":{"agentStop":{}}}`, `{`, `{"hooks":{"agentStop":"x"}}`} {
		if _, err := addHooks([]byte(text), hooks(), command); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
	for _, text := range []string{`{}`, `{"hooks":{"agentStop":[1,"x",{"bash":7},{"type":"http"}]}}`, `{"hooks":{"agentStop":[]}}`} {
		if out := added(t, text); !strings.Contains(out, command[1:10]) {
			t.Errorf("%s became %s", text, out)
		}
	}
}

func TestHooksAreRegisteredWhereCopilotRunsThemInEveryMode(t *testing.T) {
	env := func(home string) func(string) string {
		return func(key string) string {
			if key == "COPILOT_HOME" {
				return home
			}
			return ""
		}
	}
	for _, c := range []struct {
		project bool
		home    string
		want    string
	}{
		{false, "", "/home/dev/.copilot/hooks/tracesmith.json"},
		{false, "/elsewhere", "/elsewhere/hooks/tracesmith.json"},
		{true, "/elsewhere", "/home/dev/.github/hooks/tracesmith.json"},
	} {
		if got := filepath.ToSlash(hooksPath("/home/dev", c.project, env(c.home))); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestHooksThatAreSwitchedOffAreNotTrusted(t *testing.T) {
	for text, want := range map[string]bool{`{"disableAllHooks":true}`: false, `{"disableAllHooks":false}`: true, `{}`: true, `{`: true, "": true} {
		got, err := trusted("/home/dev/.copilot/hooks/tracesmith.json", func(path string) ([]byte, error) {
			if filepath.ToSlash(path) != "/home/dev/.copilot/settings.json" || text == "" {
				return nil, errors.New("not there")
			}
			return []byte(text), nil
		})
		if err != nil || got != want {
			t.Errorf("%s: %v (%v), want %v", text, got, err, want)
		}
	}
}

func route(t *testing.T, body string, env map[string]string) integrations.Route {
	t.Helper()
	r, err := peek(integrations.Payload{Body: []byte(body), Env: func(key string) string { return env[key] }, Parent: 4711})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAPayloadIsRoutedToTheSessionThatItIsOf(t *testing.T) {
	const agentID = "c8d46ae5-9e8c-4aa0-be8b-3761e03f6dfb"
	log := `"transcriptPath":"/home/dev/.copilot/session-state/` + sessionID + `/events.jsonl"`
	for body, want := range map[string]string{
		`{"sessionId":"` + sessionID + `","timestamp":1,"source":"new"}`:                                                                                        sessionStart,
		`{"sessionId":"` + sessionID + `","timestamp":1,"prompt":"x"}`:                                                                                          userPrompt,
		`{"sessionId":"` + sessionID + `","timestamp":1,"reason":"complete"}`:                                                                                   sessionEnd,
		`{"sessionId":"` + sessionID + `","timestamp":1,"errorContext":"model_call","error":{}}`:                                                                errorOccurred,
		`{"sessionId":"` + sessionID + `",` + log + `,"stopReason":"end_turn"}`:                                                                                 agentStop,
		`{"sessionId":"` + agentID + `",` + log + `,"stopReason":"end_turn","agentId":"` + agentID + `","parentAgentId":"` + agentID + `"}`:                     agentStop,
		`{"sessionId":"` + agentID + `","prompt":"x","agentId":"` + agentID + `","parentAgentId":"` + sessionID + `"}`:                                          userPrompt,
		`{"sessionId":"` + agentID + `",` + log + `,"agentName":"explore","stopReason":"end_turn","response":"x"}`:                                              subagentStop,
		`{"session_id":"` + sessionID + `","hook_event_name":"Stop","stop_reason":"end_turn"}`:                                                                  agentStop,
		`{"session_id":"` + sessionID + `","hook_event_name":"UserPromptSubmit","prompt":"x"}`:                                                                  userPrompt,
		`{"session_id":"` + agentID + `","hook_event_name":"UserPromptSubmit","prompt":"x","agent_id":"` + agentID + `","parent_agent_id":"` + sessionID + `"}`: userPrompt,
		`{"sessionId":"` + sessionID + `","timestamp":1,"prompt":"x","reason":7}`:                                                                               userPrompt,
		`{"session_id":"` + sessionID + `","hook_event_name":"SessionEnd","reason":"complete"}`:                                                                 sessionEnd,
	} {
		if r := route(t, body, nil); r.Event != want || r.Session != sessionID || r.PID != 4711 {
			t.Errorf("%s\nis routed as %+v", body, r)
		}
	}
	if r := route(t, `{"sessionId":"`+sessionID+`"}`, map[string]string{envEvent: agentStop}); r.Event != agentStop {
		t.Errorf("as registered: %+v", r)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"sessionId":7}`, `{"sessionId":"x"}`} {
		if r, err := peek(integrations.Payload{Body: []byte(bad)}); err == nil {
			t.Errorf("%q is routed as %+v", bad, r)
		}
	}
}

// The hook of a subagent that a subagent started names that one alone, which is no session.
func TestASubagentOfASubagentIsNoSession(t *testing.T) {
	const outer, nested = "9a7f28e2-2f7c-4f3d-81c6-6d8c2d0686e7", "6fb020ec-1d0d-4c28-a945-8c30f0308c7e"
	there := "/home/dev/.copilot/session-state/" + sessionID + "/events.jsonl"
	f := func(agent, parent, more string, want error) {
		t.Helper()
		_, err := peek(integrations.Payload{
			Body:   []byte(`{"sessionId":"` + agent + `","prompt":"x","agentId":"` + agent + `","parentAgentId":"` + parent + `"` + more + `}`),
			Env:    func(key string) string { return map[string]string{"HOME": "/home/dev"}[key] },
			Exists: func(path string) bool { return path == there },
		})
		if !errors.Is(err, want) {
			t.Errorf("%s of %s: %v, want %v", agent, parent, err, want)
		}
	}
	f(outer, sessionID, "", nil)
	f(nested, outer, "", integrations.ErrIdle)
	f(nested, outer, `,"transcriptPath":"`+there+`"`, nil)
}

// In a folder that it trusts Copilot runs the project's hooks for Claude Code.
func TestWhatCopilotTellsAHookOfClaudeCodesIsCopilots(t *testing.T) {
	const own = `{"hook_event_name":"SessionStart","session_id":"` + sessionID + `","timestamp":"2026-11-30T20:49:01.448Z","cwd":"/w","source":"new","initial_prompt":"x"}`
	const claudes = `{"hook_event_name":"SessionStart","session_id":"` + sessionID + `","transcript_path":"/w/x.jsonl","cwd":"/w","source":"startup"}`
	inside := func(key string) string { return map[string]string{"COPILOT_CLI": "1"}[key] }
	for _, c := range []struct {
		body string
		env  func(string) string
		want bool
	}{
		{own, inside, true}, {claudes, inside, false}, {own, func(string) string { return "" }, false}, {own, nil, false},
	} {
		if got := claims(integrations.Payload{Body: []byte(c.body), Env: c.env}); got != c.want {
			t.Errorf("claims %v of %s", got, c.body)
		}
	}
	if r := route(t, own, nil); r.Event != sessionStart || r.Session != sessionID {
		t.Errorf("%+v", r)
	}
}

func TestAPromptIsKeptOnlyWhileThereIsNoLog(t *testing.T) {
	for _, exists := range []bool{false, true} {
		raw, err := project(integrations.Payload{
			Body:   []byte(`{"sessionId":"` + sessionID + `","timestamp":1796012618830,"prompt":"hello","cwd":"/home/dev/w"}`),
			Env:    func(key string) string { return map[string]string{"HOME": "/home/dev"}[key] },
			Exists: func(path string) bool { return exists && filepath.ToSlash(path) == filepath.ToSlash(logPath()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(raw), "hello"); got == exists {
			t.Errorf("with a log: %v, kept %s", exists, raw)
		}
		if len(raw) > 1<<10 {
			t.Errorf("%d bytes", len(raw))
		}
	}
}

func TestTimesOfBothSpellingsAreRead(t *testing.T) {
	for raw, want := range map[string]int64{
		`1796012618830`: 1796012618830, `"2026-11-30T04:23:38.830Z"`: 1796012618830, `1796012618830.7`: 1796012618830,
		``: 0, `null`: 0, `"x"`: 0, `-5`: 0, `1e300`: 0, `{}`: 0,
	} {
		if got := stampOf(json.RawMessage(raw)); got != want {
			t.Errorf("%s is %d, want %d", raw, got, want)
		}
	}
}

func TestProvidersHaveTheNamesThatLangSmithPrices(t *testing.T) {
	for _, c := range [...][5]string{
		{"other", "openai", "gpt-5.4", "openai", ""}, {"other", "anthropic", "claude-sonnet-4.6", "anthropic", ""},
		{"other", "openai", "llama-4", "openai", ""}, {"other", "azure", "gpt-5.4", "azure", ""},
		{"anthropic", "", "claude-opus-4-8", "anthropic", ""}, {"OpenAI", "", "gpt-5.4", "openai", "OpenAI"},
		{"google", "", "gemini-3", "google_genai", "google"}, {"", "", "claude-sonnet-4.6", "anthropic", ""},
		{"copilot", "", "gpt-5.4", "openai", "copilot"}, {"", "", "mystery", "", ""},
	} {
		if provider, id := providerOf(c[0], c[1], c[2]); provider != c[3] || id != c[4] {
			t.Errorf("%q: provider %q, id %q", c[:3], provider, id)
		}
	}
}
