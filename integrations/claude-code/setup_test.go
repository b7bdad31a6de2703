package claudecode

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

const command = "[ -x /usr/bin/tracesmith ] && /usr/bin/tracesmith hook claude-code; exit 0"

func isOurs(found string) bool { return found == command }

func someHooks() []integrations.Hook {
	return []integrations.Hook{
		{Event: "Stop"},
		{Event: "StopFailure", Shield: true},
		{Event: "SessionEnd", Timeout: 10 * time.Second},
	}
}

func TestUninstallRestoresTheSettingsByteForByte(t *testing.T) {
	for name, before := range map[string]string{
		"nothing else":   "{}",
		"other settings": "{\n  \"model\": \"opus\",\n  \"env\": {\"A\": \"<b>\"}\n}\n",
		"other hooks":    "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"matcher\": \"\", \"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n\t\t]\n\t},\n\t\"z\": 1\n}",
		"compact":        `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}],"Foo":[]},"n":1e3}`,
		"CRLF and mark":  "\xef\xbb\xbf{\r\n    \"model\": \"opus\"\r\n}\r\n",
	} {
		after, err := addHooks([]byte(before), someHooks(), command)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := strings.Count(string(after), "hook claude-code"); n != 3 {
			t.Errorf("%s: registered %d times: %s", name, n, after)
		}
		again, err := addHooks(after, someHooks(), command)
		if err != nil || string(again) != string(after) {
			t.Errorf("%s: a second install changed the file to %s (%v)", name, again, err)
		}
		back, err := removeHooks(after, isOurs)
		if err != nil || string(back) != before {
			t.Errorf("%s: came back as\n%q, was\n%q (%v)", name, back, before, err)
		}
	}
}

func TestTheSettingsSayWhatClaudeCodeReads(t *testing.T) {
	text, err := addHooks(nil, someHooks(), command)
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]settingsGroup `json:"hooks"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]settingsHook{
		"Stop":        {"command", command, 0},
		"StopFailure": {"command", "trap '' TERM; " + command, 0},
		"SessionEnd":  {"command", command, 10},
	} {
		if got := settings.Hooks[event]; len(got) != 1 || len(got[0].Hooks) != 1 || got[0].Hooks[0] != want {
			t.Errorf("%s: %+v, want %+v", event, got, want)
		}
	}
}

func TestAnEventNoLongerWantedIsTakenOut(t *testing.T) {
	text, err := addHooks(nil, append(someHooks(), integrations.Hook{Event: "MessageDisplay"}), command)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = addHooks(text, someHooks(), command); err != nil || strings.Contains(string(text), "MessageDisplay") {
		t.Errorf("still there: %s (%v)", text, err)
	}
}

func TestAUsersOwnMatcherStays(t *testing.T) {
	own := `{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"` + command + `"}]}]}}`
	text, err := addHooks([]byte(own), []integrations.Hook{{Event: "Stop"}}, command)
	if err != nil || string(text) != own {
		t.Errorf("changed to %s (%v)", text, err)
	}
}

func TestNeighboursInAGroupStay(t *testing.T) {
	in := `{"hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"a"},{"type":"command","command":"` + command + `"},{"type":"http","url":"b"}]}]}}`
	want := `{"hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"a"},{"type":"http","url":"b"}]}]}}`
	if got, err := removeHooks([]byte(in), isOurs); err != nil || string(got) != want {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}
}

func TestSettingsOfAnotherShapeAreRefused(t *testing.T) {
	for _, text := range []string{`[]`, `{"hooks": []}`, `{"hooks": {"Stop": {}}}`, "{\n// c\n}", `{"a": 1,}`, `{`} {
		if got, err := addHooks([]byte(text), someHooks(), command); err == nil {
			t.Errorf("%s: became %s", text, got)
		}
		if got, err := removeHooks([]byte(text), isOurs); err == nil {
			t.Errorf("%s: became %s", text, got)
		}
	}
	strange := `{"hooks":{"Stop":[1,{"hooks":3},{"hooks":[4,{"command":5}]}]}}`
	if got, err := removeHooks([]byte(strange), isOurs); err != nil || string(got) != strange {
		t.Errorf("entries of another shape: %s, %v", got, err)
	}
}

func TestWhereTheSettingsAre(t *testing.T) {
	none := func(string) string { return "" }
	moved := func(string) string { return "/cfg" }
	for _, c := range []struct {
		project bool
		env     func(string) string
		want    string
	}{
		{false, none, "/home/dev/.claude/settings.json"},
		{false, moved, "/cfg/settings.json"},
		{true, moved, "/home/dev/.claude/settings.json"},
	} {
		if got := filepath.ToSlash(settingsPath("/home/dev", c.project, c.env)); got != c.want {
			t.Errorf("project %v: %s, want %s", c.project, got, c.want)
		}
	}
}

// settingsGroup is an element of an event's list in the settings.
type settingsGroup struct {
	Hooks []settingsHook `json:"hooks"`
}

type settingsHook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}
