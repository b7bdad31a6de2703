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

// hooksTable is a hooks.json with ours behind what the user has.
func hooksTable(t *testing.T, before string) []byte {
	t.Helper()
	text, err := addHooks([]byte(before), Agent().Hooks, "tracesmith hook openai-codex")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHooksAreTrustedWhenCodexWasToldSo(t *testing.T) {
	const dir = "/home/dev/.codex/"
	f := func(name, before, config string, want bool) {
		t.Helper()
		got, err := trusted(dir+"hooks.json", func(path string) ([]byte, error) {
			switch {
			case path == dir+"hooks.json" && before != "none":
				return hooksTable(t, before), nil
			case path == dir+"config.toml" && config != "":
				return []byte(config), nil
			}
			return nil, fs.ErrNotExist
		})
		if err != nil || got != want {
			t.Errorf("%s: trusted %v (%v), want %v", name, got, err, want)
		}
	}
	entry := func(place, more string) string {
		return fmt.Sprintf("[hooks.state.\"%shooks.json:%s\"]\ntrusted_hash = \"sha256:00\"\n%s", dir, place, more)
	}
	var rest strings.Builder
	rest.WriteString("model = \"gpt-5.5\"\n")
	for _, event := range []string{"session_start", "user_prompt_submit", "subagent_start", "subagent_stop", "pre_compact", "post_compact", "interrupt", "session_end"} {
		rest.WriteString(entry(event+":0:0", ""))
	}
	all := rest.String() + entry("stop:0:0", "")
	const beside = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`
	f("nothing was asked", "{}", "", false)
	f("nothing is trusted", "{}", "model = \"gpt-5.5\"\n", false)
	f("one is missing", "{}", rest.String(), false)
	f("all", "{}", all, true)
	f("no hooks", "none", all, false)
	f("the user's own is trusted, ours behind it is not", beside, all, false)
	f("ours behind the user's own", beside, all+entry("stop:1:0", ""), true)
	f("one was switched off", "{}", rest.String()+entry("stop:0:0", "enabled = false\n"), false)
	f("one was switched on", "{}", rest.String()+entry("stop:0:0", "enabled = true\n"), true)
	for _, texts := range [][2]string{{"{}", "secret = ["}, {"secret", "x = 1"}} {
		_, err := trusted(dir+"hooks.json", func(path string) ([]byte, error) {
			if path == dir+"hooks.json" {
				return []byte(texts[0]), nil
			}
			return []byte(texts[1]), nil
		})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v: want one that quotes nothing", err)
		}
	}
}
