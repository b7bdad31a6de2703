package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	openaicodex "github.com/tracesmith/tracesmith/integrations/openai-codex"
)

// stage is a machine with one agent.
type stage struct {
	*Installer
	agent    *integrations.Agent
	settings string
	t        *testing.T
}

func newStage(t *testing.T) *stage {
	t.Helper()
	home := filepath.Join(t.TempDir(), "Jörg Groß")
	if err := os.MkdirAll(filepath.Join(home, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	return &stage{
		Installer: &Installer{
			Home: home, Dir: filepath.Join(home, "project"), System: "linux",
			Env: func(string) string { return "" }, Program: "/usr/bin/tracesmith",
			Receipts: filepath.Join(home, "state", "receipts"),
			LookPath: func(string) (string, error) { return "", errors.New("not found") },
		},
		agent: claudecode.Agent(), settings: filepath.Join(home, ".claude", "settings.json"), t: t,
	}
}

func (s *stage) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) read(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *stage) install(scope Scope, takeOver bool) Plan {
	s.t.Helper()
	p, err := s.Install(s.agent, scope, takeOver)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *stage) uninstall(scope Scope) Plan {
	s.t.Helper()
	p, err := s.Uninstall(s.agent, scope)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *stage) receiptsLeft(want int) {
	s.t.Helper()
	if all, err := s.All(); err != nil || len(all) != want {
		s.t.Errorf("%d receipts, want %d (%v)", len(all), want, err)
	}
}

func TestUninstallBringsBackEveryByte(t *testing.T) {
	for name, before := range map[string]string{
		"ordinary":       "{\n  \"model\": \"opus\"\n}\n",
		"CRLF and mark":  "\xef\xbb\xbf{\r\n    \"model\": \"opus\"\r\n}\r\n",
		"empty object":   "{ }",
		"only blanks":    " \n",
		"their own hook": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}`,
		"odd layout":     "{\"hooks\":{\n\n\"Stop\":[ ],\"PreToolUse\" : []}, \"z\":1}",
	} {
		for _, scope := range []Scope{User, Project} {
			s := newStage(t)
			path, err := s.SettingsPath(s.agent, scope)
			if err != nil {
				t.Fatal(err)
			}
			s.write(path, before)
			if p := s.install(scope, false); p.State != Installed {
				t.Errorf("%s: %s", name, p.State)
			}
			if p := s.install(scope, false); p.State != Already || len(p.Changes) > 0 {
				t.Errorf("%s: a second install is %s with %d changes", name, p.State, len(p.Changes))
			}
			s.receiptsLeft(1)
			if p := s.uninstall(scope); p.State != Removed {
				t.Errorf("%s: %s", name, p.State)
			}
			if got := s.read(path); got != before {
				t.Errorf("%s, %s:\n got %q\nwant %q", name, scope, got, before)
			}
			if p := s.uninstall(scope); p.State != Absent {
				t.Errorf("%s: a second uninstall is %s", name, p.State)
			}
			s.receiptsLeft(0)
		}
	}
}

func TestAFileThatInstallMadeGoesWithItsFolder(t *testing.T) {
	s := newStage(t)
	s.install(User, false)
	s.read(s.settings)
	s.uninstall(User)
	if _, err := os.Stat(filepath.Dir(s.settings)); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}

	// Somebody has put something into the folder, and into the file.
	s.install(User, false)
	s.write(filepath.Join(s.Home, ".claude", "CLAUDE.md"), "x")
	s.uninstall(User)
	if entries, err := os.ReadDir(filepath.Dir(s.settings)); err != nil || len(entries) != 1 {
		t.Errorf("left %v (%v)", entries, err)
	}
	s.install(User, false)
	s.write(s.settings, strings.Replace(s.read(s.settings), "{", `{"model": "opus", `, 1))
	s.uninstall(User)
	if got := s.read(s.settings); !strings.Contains(got, "opus") || strings.Contains(got, "tracesmith") {
		t.Errorf("left %s", got)
	}
	s.receiptsLeft(0)
}

func TestForeignEditsSurviveAnUninstall(t *testing.T) {
	s := newStage(t)
	s.write(s.settings, "{\n  \"model\": \"opus\"\n}\n")
	s.install(User, false)
	s.write(s.settings, strings.Replace(s.read(s.settings), "opus", "sonnet", 1))
	s.uninstall(User)
	if got, want := s.read(s.settings), "{\n  \"model\": \"sonnet\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnUpgradeReplacesWhatEarlierInstallsWrote(t *testing.T) {
	s := newStage(t)
	before := "{\n  \"model\": \"opus\"\n}\n"
	s.write(s.settings, before)
	s.install(User, false)
	s.Program = "/opt/new/tracesmith"
	s.install(User, false)
	if got := s.read(s.settings); strings.Contains(got, "/usr/bin/tracesmith") {
		t.Errorf("the old program is still registered: %s", got)
	}
	list, _ := s.Survey(s.agent)
	if !list[0].Complete() || list[0].Hooks != len(s.agent.Hooks) {
		t.Errorf("%+v", list[0])
	}
	s.uninstall(User)
	if got := s.read(s.settings); got != before {
		t.Errorf("came back as %q", got)
	}
}

func TestAReadOnlyFileAndABrokenOneStay(t *testing.T) {
	s := newStage(t)
	for _, text := range []string{"{ // mine\n}", "{\"a\": 1,}", "[1]", "{\"hooks\": 3}", "{\"hooks\": {\"Stop\": {}}}"} {
		s.write(s.settings, text)
		if _, err := s.Install(s.agent, User, false); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v", text, err)
		}
		if got := s.read(s.settings); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		return
	}
	s.write(s.settings, "{}")
	if err := os.Chmod(filepath.Dir(s.settings), 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(s.settings), 0o700)
	p, err := s.Install(s.agent, User, false)
	if err == nil {
		err = p.Apply()
	}
	if err == nil || s.read(s.settings) != "{}" {
		t.Errorf("a folder that is closed to writing: %v", err)
	}
}

func TestALinkIsFollowedAndKept(t *testing.T) {
	s := newStage(t)
	dotfiles := filepath.Join(s.Home, "dotfiles", "settings.json")
	s.write(dotfiles, "{}")
	if err := os.MkdirAll(filepath.Dir(s.settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dotfiles, s.settings); err != nil {
		t.Skip(err)
	}
	s.install(User, false)
	if !strings.Contains(s.read(dotfiles), "tracesmith") {
		t.Error("the target was not changed")
	}
	s.uninstall(User)
	if info, err := os.Lstat(s.settings); err != nil || info.Mode()&os.ModeSymlink == 0 || s.read(dotfiles) != "{}" {
		t.Errorf("the link or its target is not what it was: %v", err)
	}
}

const theirs = `{"enabledPlugins": {"langsmith-tracing@langsmith-claude-code-plugins": true}}`

func TestNeverBesideLangSmithsOwnPlugin(t *testing.T) {
	s := newStage(t)
	s.write(s.settings, theirs)
	p := s.install(User, false)
	if p.State != Failed || p.Rival == "" || s.read(s.settings) != theirs {
		t.Errorf("installed beside it: %+v", p)
	}
	s.install(User, true)
	if _, others := s.Survey(s.agent); len(others) > 0 {
		t.Errorf("still on: %v", others)
	}
	if got := s.read(s.settings); !strings.Contains(got, `plugins": false`) || !strings.Contains(got, "tracesmith") {
		t.Errorf("left %s", got)
	}
	s.uninstall(User)
	if got := s.read(s.settings); got != theirs {
		t.Errorf("came back as %s", got)
	}
}

func TestAProjectsInstallLeavesTheUsersSettingsAlone(t *testing.T) {
	s := newStage(t)
	s.write(s.settings, theirs)
	p := s.install(Project, true)
	if got := s.read(s.settings); got != theirs {
		t.Errorf("the user's settings became %s", got)
	}
	if on, known := s.agent.Setup.Rivals[0].On([]byte(s.read(p.Path))); on || !known {
		t.Error("the project does not switch it off")
	}
	s.uninstall(Project)
	if _, err := os.Stat(p.Path); !os.IsNotExist(err) {
		t.Errorf("the project's file is still there: %v", err)
	}

	// The project's own file for its user has the last word.
	local := filepath.Join(s.Dir, ".claude", "settings.local.json")
	s.write(s.settings, "{}")
	s.write(local, theirs)
	s.install(Project, true)
	s.uninstall(Project)
	if got := s.read(local); got != theirs {
		t.Errorf("came back as %s", got)
	}
	s.receiptsLeft(0)
}

func TestASurveyFindsWhatIsWrong(t *testing.T) {
	s := newStage(t)
	s.Program = filepath.Join(s.Home, "tracesmith")
	s.write(s.Program, "#!/bin/sh\n")
	if err := os.Chmod(s.Program, 0o700); err != nil {
		t.Fatal(err)
	}
	look := func(name string, wrong func(Standing) bool) {
		t.Helper()
		list, _ := s.Survey(s.agent)
		if len(list) != 2 || !wrong(list[0]) {
			t.Errorf("%s: %+v", name, list)
		}
	}
	look("nothing", func(s Standing) bool { return s.Hooks == 0 && !s.Complete() })
	s.install(User, false)
	look("installed", func(s Standing) bool { return s.Complete() && len(s.Broken) == 0 && s.Trusted })
	text := s.read(s.settings)
	s.write(s.settings, strings.Replace(text, `"PostToolUse"`, `"Elsewhere"`, 1))
	look("one is missing", func(s Standing) bool { return s.Missing && !s.Complete() })
	s.write(s.settings, strings.Replace(text, `"hooks": {`, `"hooks": {"Stop2": [{"hooks": [{"type": "command", "command": "tracesmith hook claude-code"}]}],`, 1))
	look("twice", func(s Standing) bool { return s.Hooks == s.Wanted+1 && len(s.Programs) == 2 && !s.Complete() })
	s.write(s.settings, text)
	if err := os.Remove(s.Program); err != nil {
		t.Fatal(err)
	}
	look("the program is gone", func(s Standing) bool { return len(s.Broken) == 1 })
	s.write(s.settings, "{ //\n}")
	look("broken", func(s Standing) bool { return s.Err != nil })
}

func TestAFailureHalfwayPutsEverythingBack(t *testing.T) {
	s := newStage(t)
	local := filepath.Join(s.Dir, ".claude", "settings.local.json")
	s.write(local, theirs)
	p, err := s.Install(s.agent, Project, true)
	if err != nil || len(p.Changes) != 2 {
		t.Fatalf("%d changes, %v", len(p.Changes), err)
	}
	s.write(p.Changes[1].Path, "{\"changed\": \"meanwhile\"}")
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("%v", err)
	}
	if got := s.read(local); got != theirs {
		t.Errorf("the first file stayed changed: %s", got)
	}
}

func TestACommandSpeaksTheShellThatItsAgentRuns(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct{ agent, system, program, want string }{
		{"claude-code", "linux", "/a b/tracesmith", "[ -x '/a b/tracesmith' ] && '/a b/tracesmith' hook claude-code; exit 0"},
		{"claude-code", "windows", `C:\a b\tracesmith.exe`, "[ -x 'C:/a b/tracesmith.exe' ] && 'C:/a b/tracesmith.exe' hook claude-code; exit 0"}, // Git Bash
		{"openai-codex", "darwin", "/a b/tracesmith", "[ -x '/a b/tracesmith' ] && '/a b/tracesmith' hook openai-codex; exit 0"},
		{"openai-codex", "windows", `C:\a b\tracesmith.exe`, `cmd /d /c if exist "C:\a b\tracesmith.exe" "C:\a b\tracesmith.exe" hook openai-codex`},
	} {
		agent := claudecode.Agent()
		if c.agent == "openai-codex" {
			agent = openaicodex.Agent()
		}
		s.System, s.Program = c.system, c.program
		if got, err := s.Command(agent); err != nil || got != c.want {
			t.Errorf("%s on %s: %s, want %s (%v)", c.agent, c.system, got, c.want, err)
		}
	}
}
