package cursor

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

const command = "[ -x /usr/bin/tracesmith ] && exec /usr/bin/tracesmith hook cursor; exit 0"

func isOurs(found string) bool { return found == command }

func TestUninstallRestoresTheTableByteForByte(t *testing.T) {
	for name, before := range map[string]string{
		"version only":  "{\n  \"version\": 1\n}\n",
		"other hooks":   "{\n\t\"version\": 1,\n\t\"hooks\": {\n\t\t\"stop\": [\n\t\t\t{\"command\": \"say done\", \"matcher\": \"x\"}\n\t\t],\n\t\t\"afterFileEdit\": [{\"command\": \"fmt\"}]\n\t}\n}",
		"compact":       `{"version":1,"hooks":{"stop":[{"command":"say done"}]},"n":1e3}`,
		"CRLF and mark": "\xef\xbb\xbf{\r\n    \"version\": 1,\r\n    \"a\": \"<b>\"\r\n}\r\n",
	} {
		after, err := addHooks([]byte(before), hooks(), command)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := strings.Count(string(after), "hook cursor"); n != len(hooks())-1 {
			t.Errorf("%s: registered %d times: %s", name, n, after)
		}
		again, err := addHooks(after, hooks(), command)
		if err != nil || string(again) != string(after) {
			t.Errorf("%s: a second install changed the file to %s (%v)", name, again, err)
		}
		back, err := removeHooks(after, isOurs)
		if err != nil || string(back) != before {
			t.Errorf("%s: came back as\n%q, was\n%q (%v)", name, back, before, err)
		}
	}
}

// A name that a build of Cursor does not know makes it ignore the whole table. These
// are known since 3.7 at least.
func TestOnlyNamesAreRegisteredThatEveryBuildKnows(t *testing.T) {
	text, err := addHooks(nil, hooks(), command)
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Version int               `json:"version"`
		Hooks   map[string][]hook `json:"hooks"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	known := []string{
		"afterAgentResponse", "afterAgentThought", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "preToolUse",
		"sessionEnd", "sessionStart", "stop", "subagentStart", "subagentStop",
	}
	var names []string
	for name, list := range table.Hooks {
		names = append(names, name)
		if len(list) != 1 || list[0] != (hook{command, 10}) {
			t.Errorf("%s: %+v", name, list)
		}
	}
	slices.Sort(names)
	if table.Version != 1 || !slices.Equal(names, known) {
		t.Errorf("version %d, events %v", table.Version, names)
	}
}

func TestWhatSomebodyRegisteredByHandStays(t *testing.T) {
	own := `{"version":1,"hooks":{"preCompact":[{"command":"` + command + `"}],"stop":[{"command":"` + command + `","timeout":3},{"command":"b"}],"beforeReadFile":[{"command":"` + command + `"}]}}`
	after, err := addHooks([]byte(own), hooks(), command)
	if err != nil {
		t.Fatal(err)
	}
	for text, there := range map[string]bool{`"preCompact"`: true, `"timeout":3}`: true, `"b"`: true, "beforeReadFile": false} {
		if strings.Contains(string(after), text) != there {
			t.Errorf("%s stands there: %v, in %s", text, !there, after)
		}
	}
	back, err := removeHooks(after, isOurs)
	if want := `{"version":1,"hooks":{"stop":[{"command":"b"}]}}`; err != nil || string(back) != want {
		t.Errorf("left %s, want %s (%v)", back, want, err)
	}
}

func TestTablesOfAnotherShapeAreRefused(t *testing.T) {
	for _, text := range []string{`[]`, `{"hooks": []}`, `{"hooks": {"stop": {}}}`, "{\n// c\n}", `{`} {
		if got, err := addHooks([]byte(text), hooks(), command); err == nil {
			t.Errorf("%s: became %s", text, got)
		}
		if got, err := removeHooks([]byte(text), isOurs); err == nil {
			t.Errorf("%s: became %s", text, got)
		}
	}
	strange := `{"hooks":{"stop":[1,{"command":5},[]]}}`
	if got, err := removeHooks([]byte(strange), isOurs); err != nil || string(got) != strange {
		t.Errorf("entries of another shape: %s, %v", got, err)
	}
}

func TestWhereTheTableIs(t *testing.T) {
	for _, project := range []bool{true, false} {
		if got := filepath.ToSlash(setup().Path("/home/dev", project, nil)); got != "/home/dev/.cursor/hooks.json" {
			t.Error(got)
		}
	}
}

func TestOnWindowsTheCommandIsOneThatBothItsShellsRun(t *testing.T) {
	shell := setup().Shell
	if shell("windows") != integrations.Cmd || shell("darwin") != integrations.Sh || shell("linux") != integrations.Sh {
		t.Errorf("windows %s, darwin %s, linux %s", shell("windows"), shell("darwin"), shell("linux"))
	}
}
