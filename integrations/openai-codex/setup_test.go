package openaicodex

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

const command = `[ -x /usr/bin/tracesmith ] && exec /usr/bin/tracesmith hook openai-codex; exit 0`

func add(t *testing.T, settings string) string {
	t.Helper()
	out, err := setup().Add([]byte(settings), hooks(), command)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestHooksAreRegisteredOnceAndTakenOutWithoutATrace(t *testing.T) {
	for _, before := range []string{
		"", "{}\n", `{"hooks":{}}`,
		"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ]\n  }\n}\n",
	} {
		once := add(t, before)
		if add(t, once) != once {
			t.Errorf("%q: a second install changes the table", before)
		}
		if n := strings.Count(once, "hook openai-codex"); n != len(hooks())-1 {
			t.Errorf("%q: %d hooks registered, want all but the notify program: %d", before, n, len(hooks())-1)
		}
		after, err := setup().Remove([]byte(once), func(c string) bool { return c == command })
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(before, "mine") && string(after) != before {
			t.Errorf("left %q of %q", after, before)
		}
		if strings.Contains(string(after), "tracesmith") {
			t.Errorf("left %q", after)
		}
	}
}

// Codex warns at every start of a longer timeout, and trusts a hash of what it is told:
// this table must not change from version to version.
func TestTheTableOfHooksStaysAsItIs(t *testing.T) {
	var table struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	if err := json.Unmarshal([]byte(add(t, "")), &table); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for event, groups := range table.Hooks {
		h := groups[0].Hooks[0]
		got[event] = fmt.Sprintf("%s %d %v", h.Type, h.Timeout, h.Command == command)
	}
	want := map[string]string{
		"SessionStart": "command 0 true", "UserPromptSubmit": "command 0 true", "SubagentStart": "command 0 true",
		"SubagentStop": "command 0 true", "PreCompact": "command 0 true", "PostCompact": "command 0 true",
		"Interrupt": "command 3 true", "Stop": "command 0 true", "SessionEnd": "command 3 true",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("registered %v, want %v", got, want)
	}
}

func TestHooksAreFoundWhereCodexLooks(t *testing.T) {
	f := func(project bool, home, want string) {
		t.Helper()
		got := hooksPath("/home/dev", project, func(key string) string { return map[string]string{"CODEX_HOME": home}[key] })
		if got != want {
			t.Errorf("project %v, CODEX_HOME %q: %s, want %s", project, home, got, want)
		}
	}
	f(false, "", "/home/dev/.codex/hooks.json")
	f(false, "/data/codex", "/data/codex/hooks.json")
	f(true, "/data/codex", "/home/dev/.codex/hooks.json")
}

func TestHooksAreTrustedWhenCodexWasToldSo(t *testing.T) {
	f := func(config string, want bool) {
		t.Helper()
		got, err := trusted("/home/dev/.codex/hooks.json", func(path string) ([]byte, error) {
			if config == "" {
				return nil, fs.ErrNotExist
			}
			if path != "/home/dev/.codex/config.toml" {
				t.Errorf("read %s", path)
			}
			return []byte(config), nil
		})
		if err != nil || got != want {
			t.Errorf("%.60q: trusted %v (%v), want %v", config, got, err, want)
		}
	}
	var all strings.Builder
	all.WriteString("model = \"gpt-5.5\"\n")
	for _, event := range []string{"session_start", "user_prompt_submit", "subagent_start", "subagent_stop", "pre_compact", "post_compact", "interrupt", "stop"} {
		fmt.Fprintf(&all, "[hooks.state.\"/home/dev/.codex/hooks.json:%s:0:0\"]\ntrusted_hash = \"sha256:00\"\n", event)
	}
	f("", false)
	f("model = \"gpt-5.5\"\n", false)
	f(all.String(), false) // one is missing
	f(all.String()+"[hooks.state.\"/home/dev/.codex/hooks.json:session_end:0:0\"]\ntrusted_hash = \"sha256:00\"\n", true)
	if _, err := trusted("/h/hooks.json", func(string) ([]byte, error) { return []byte("secret = ["), nil }); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v: want one that quotes nothing", err)
	}
}

func TestLangSmithsPluginIsARival(t *testing.T) {
	f := func(config string, on, known bool) {
		t.Helper()
		if gotOn, gotKnown := pluginOn([]byte(config)); gotOn != on || gotKnown != known {
			t.Errorf("%q: on %v, known %v", config, gotOn, gotKnown)
		}
	}
	f("", false, false)
	f("[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = true\n", true, true)
	f("[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = false\n", false, true)
	f("[plugins.\"other@market\"]\nenabled = true\n", false, false)
	paths := rivals()[0].Paths("/home/dev", false, func(string) string { return "" })
	if len(paths) != 1 || paths[0] != "/home/dev/.codex/config.toml" {
		t.Errorf("paths %v", paths)
	}
}
