package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/shimfile"
)

const toyShim = "// Written by `tracesmith install toy`.\nconst command = [\"tracesmith\", \"hook\", \"toy\", \"--stream\"];\nrun(command);\n"

// shimStage is a machine with an agent whose settings are a shim.
func shimStage(t *testing.T) *stage {
	s := newStage(t)
	s.agent = &integrations.Agent{Name: "toy", Setup: integrations.Setup{
		Whole: true,
		Path: func(dir string, _ bool, _ func(string) string) string {
			return filepath.Join(dir, ".toy", "plugins", "tracesmith.js")
		},
		Add: shimfile.Add(toyShim), Remove: shimfile.Remove,
		Shell: func(string) integrations.Shell { return integrations.Argv },
	}}
	s.settings = filepath.Join(s.Home, ".toy", "plugins", "tracesmith.js")
	return s
}

func TestAShimIsInstalledWholeAndGoesWhole(t *testing.T) {
	for _, scope := range []Scope{User, Project} {
		s := shimStage(t)
		path, err := s.SettingsPath(s.agent, scope)
		if err != nil {
			t.Fatal(err)
		}
		if p := s.install(scope, false); p.State != Installed {
			t.Errorf("%s", p.State)
		}
		want := strings.Replace(toyShim, `["tracesmith", `, `["/usr/bin/tracesmith",`, 1)
		want = strings.Replace(want, `"hook", "toy", "--stream"`, `"hook","toy","--stream"`, 1)
		if got := s.read(path); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if p := s.install(scope, false); p.State != Already || len(p.Changes) > 0 {
			t.Errorf("a second install is %s", p.State)
		}
		list, _ := s.Survey(s.agent)
		for _, each := range list {
			if each.Scope == scope && (!each.Complete() || each.Programs[0] != "/usr/bin/tracesmith") {
				t.Errorf("survey: %+v", each)
			}
		}
		if p := s.uninstall(scope); p.State != Removed {
			t.Errorf("%s", p.State)
		}
		if _, err := os.Stat(filepath.Dir(filepath.Dir(path))); !os.IsNotExist(err) {
			t.Errorf("something is left: %v", err)
		}
		s.receiptsLeft(0)
	}
}

func TestAShimOfAnotherVersionIsReplacedAndRemoved(t *testing.T) {
	old := strings.Replace(toyShim, `["tracesmith"`, `["/old folder/tracesmith"`, 1) + "// older\n"
	for name, receipt := range map[string]bool{"by its receipt": true, "without one": false} {
		s := shimStage(t)
		s.write(s.settings, old)
		if list, _ := s.Survey(s.agent); list[0].Complete() || list[0].Hooks != 1 || len(list[0].Broken) != 1 {
			t.Errorf("%s: survey: %+v", name, list[0])
		}
		if receipt {
			if p := s.install(User, false); p.State != Installed || strings.Contains(s.read(s.settings), "old") {
				t.Errorf("%s: %s: %s", name, p.State, s.read(s.settings))
			}
		}
		if p := s.uninstall(User); p.State != Removed {
			t.Errorf("%s: %s", name, p.State)
		}
		if _, err := os.Stat(s.settings); !os.IsNotExist(err) {
			t.Errorf("%s: the shim is still there: %v", name, err)
		}
		s.receiptsLeft(0)
	}
}

func TestAFileInTheShimsPlaceIsLeftAlone(t *testing.T) {
	for name, theirs := range map[string]string{
		"another plugin":        "export const Mine = async () => ({});\n",
		"another agent's shim":  strings.ReplaceAll(toyShim, `"toy"`, `"other"`),
		"a wrapper around ours": "import './tracesmith-shim.js' // Written by `tracesmith install toy`\n",
	} {
		s := shimStage(t)
		s.write(s.settings, theirs)
		_, err := s.Install(s.agent, User, false)
		if ours := strings.HasPrefix(theirs, "// Written"); !ours && (err == nil || !strings.Contains(err.Error(), "move it away")) {
			t.Errorf("%s: %v", name, err)
		}
		if p := s.uninstall(User); p.State != Absent {
			t.Errorf("%s: uninstall: %s", name, p.State)
		}
		if got := s.read(s.settings); got != theirs {
			t.Errorf("%s: changed to %s", name, got)
		}
	}
	// An empty file was theirs too.
	s := shimStage(t)
	s.write(s.settings, "")
	s.install(User, false)
	s.uninstall(User)
	if got := s.read(s.settings); got != "" {
		t.Errorf("the empty file is now %q", got)
	}
}

func TestTheCommandOfAShimKeepsItsBytes(t *testing.T) {
	got, err := Command(integrations.Argv, `C:\a "b"\tracesmith.exe`, "toy")
	if want := `["C:\\a \"b\"\\tracesmith.exe","hook","toy","--stream"]`; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	for command, want := range map[string]bool{
		got: true, `["x/anything", "hook", "toy", "--stream"]`: true,
		`["x","hook","other","--stream"]`: false, `["x","hook","toy"]`: false, `[]`: false, `["x","hook","toy","--stream","y"]`: false,
	} {
		if Ours("toy")(command) != want {
			t.Errorf("%s: ours is %v", command, !want)
		}
	}
}
