package deepagentscode

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const command = `[ -x /usr/bin/tracesmith ] && exec /usr/bin/tracesmith hook deepagents-code; exit 0`

func added(t *testing.T, settings string) string {
	t.Helper()
	out, err := setup().Add([]byte(settings), hooks(), command)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestHooksAreRegisteredOnceAndTakenOutWithoutATrace(t *testing.T) {
	for _, before := range []string{
		"", "{}\n",
		"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ]\n  }\n}\n",
	} {
		once := added(t, before)
		if added(t, once) != once {
			t.Errorf("%q: a second install changes the table", before)
		}
		after, err := setup().Remove([]byte(once), func(c string) bool { return c == command })
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(before, "mine") && string(after) != before || strings.Contains(string(after), "tracesmith") {
			t.Errorf("left %q of %q", after, before)
		}
	}
}

// Whatever the server owns interrupts the agent's graph, and a hook that asks for
// permissions switches the automatic approval off.
func TestOnlyEventsThatCostLittleAreRegistered(t *testing.T) {
	var table struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	if err := json.Unmarshal([]byte(added(t, "")), &table); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Notification", "Stop", "SessionEnd"} {
		groups := table.Hooks[event]
		if len(groups) != 1 || len(groups[0].Hooks) != 1 {
			t.Fatalf("%s: %+v", event, groups)
		}
		if h := groups[0].Hooks[0]; h.Type != "command" || h.Command != command || h.Timeout != 10 {
			t.Errorf("%s: %+v", event, h)
		}
		delete(table.Hooks, event)
	}
	if len(table.Hooks) > 0 {
		t.Errorf("registered besides: %v", table.Hooks)
	}
}

func TestAnEventThatIsNoLongerWantedIsTakenOut(t *testing.T) {
	raw, err := json.Marshal(map[string]any{"hooks": map[string]any{
		preTool: []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if out := added(t, string(raw)); strings.Contains(out, preTool) {
		t.Errorf("the table still has %s:\n%s", preTool, out)
	}
}

// The format before this one is a list: what is in it is its owner's to move.
func TestATableOfTheOldFormatIsLeftAlone(t *testing.T) {
	old := []byte(`{"hooks":[{"command":["mine"],"events":["session.start"]}]}`)
	if out, err := setup().Add(old, hooks(), command); err == nil {
		t.Errorf("made %s of it", out)
	}
}

func TestTheTableFollowsTheAgentsFolder(t *testing.T) {
	home, moved := t.TempDir(), filepath.Join(t.TempDir(), "profile")
	env := func(dir string) func(string) string {
		return func(key string) string {
			if key == "DEEPAGENTS_HOME" {
				return dir
			}
			return ""
		}
	}
	for _, c := range []struct {
		moved   string
		project bool
		want    string
	}{
		{"", false, filepath.Join(home, ".deepagents", "hooks.json")},
		{moved, false, filepath.Join(moved, "hooks.json")},
		{moved, true, filepath.Join(home, ".deepagents", "hooks.json")},
	} {
		if got := hooksPath(home, c.project, env(c.moved)); got != c.want {
			t.Errorf("DEEPAGENTS_HOME=%q project=%v: %s, want %s", c.moved, c.project, got, c.want)
		}
	}
}
