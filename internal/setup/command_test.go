package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

var shells = []integrations.Shell{integrations.Sh, integrations.Cmd, integrations.PowerShell}

func TestOurCommandsAreToldFromOthers(t *testing.T) {
	programOf := spellings("claude-code")
	for _, program := range []string{
		"/usr/bin/tracesmith", "/home/jörg/my tools/tracesmith", "/opt/renamed", "/home/o'hara/tracesmith",
		`C:\Program Files\it's\tracesmith.exe`, "C:/Users/Jörg Groß/tracesmith.exe", "/home/\u2018x\u2019/tracesmith",
	} {
		for _, shell := range shells {
			line, err := Command(shell, program, "claude-code")
			if got := programOf(line); err != nil || got != program {
				t.Errorf("%s: found %q in %s (%v)", shell, got, line, err)
			}
			if Ours("cursor")(line) {
				t.Errorf("taken for another agent's: %s", line)
			}
		}
	}
	for _, line := range []string{
		"tracesmith hook claude-code",
		"exec /usr/local/bin/tracesmith hook claude-code",
		`"/a b/tracesmith" hook claude-code || true`,
		`'C:\x\tracesmith.exe' hook claude-code; exit 0`,
		"[ -x '/a b/ts' ] && exec '/a b/ts' hook claude-code; exit 0", // as it was made once
		`C:\x\tracesmith.exe hook claude-code & exit /b 0`,
		`if exist "C:\a b\ts.exe" "C:\a b\ts.exe" hook claude-code & exit /b 0`, // as it was made once
		`& 'C:\x y\tracesmith.exe' hook claude-code`,
	} {
		if !Ours("claude-code")(line) {
			t.Errorf("not recognised: %s", line)
		}
	}
	for _, line := range []string{
		"tracesmith hook cursor",
		"tracesmith hook claude-code-next",
		"my-wrapper tracesmith hook claude-code",
		"cat | tracesmith hook claude-code",
		"tracesmith hook claude-code && say done",
		"/usr/bin/nottracesmith hook claude-code",
		"[ -x /a ] && exec /b hook claude-code; exit 0",
		"[ -x /a ] && /b hook claude-code; exit 0",
		`if exist "C:\a.exe" "C:\b.exe" hook claude-code & exit /b 0`,
		`cmd /d /c if exist "C:\a.exe" "C:\b.exe" hook claude-code`,
		"",
	} {
		if Ours("claude-code")(line) {
			t.Errorf("taken for ours: %s", line)
		}
	}
}

// The bytes of a command must not change from version to version: an agent that
// trusts a hash of them would ask its user again.
func TestACommandKeepsItsBytes(t *testing.T) {
	for shell, want := range map[integrations.Shell]string{
		integrations.Sh:         "[ -x '/a b/ts' ] && '/a b/ts' hook x; exit 0",
		integrations.Cmd:        `cmd /d /c if exist "/a b/ts" "/a b/ts" hook x`,
		integrations.PowerShell: "if (Test-Path -LiteralPath '/a b/ts') { & '/a b/ts' hook x }; exit 0",
	} {
		if got, err := Command(shell, "/a b/ts", "x"); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", shell, got, want, err)
		}
	}
	for _, program := range []string{`C:\100%\ts.exe`, `C:\$HOME\ts.exe`, "C:\\a`b\\ts.exe", "C:\\\u201ca\u201d\\ts.exe"} {
		if _, err := Command(integrations.Cmd, program, "x"); err == nil {
			t.Errorf("a path that cmd or PowerShell would change was taken: %s", program)
		}
	}
}

// run starts a command as an agent would and returns what it printed.
func run(t *testing.T, shell integrations.Shell, line string) string {
	t.Helper()
	argv := map[integrations.Shell][]string{
		integrations.Sh:         {"sh", "-c", line},
		integrations.Cmd:        {"cmd", "/d", "/s", "/c", line},
		integrations.PowerShell: {"pwsh", "-NoProfile", "-Command", line},
	}[shell]
	program, err := exec.LookPath(argv[0])
	if err != nil {
		t.Skipf("%s is not on this machine", argv[0])
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Stdin = strings.NewReader("event")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", line, err, out)
	}
	return string(out)
}

func TestEveryShellRunsTheProgramAndOutlivesIt(t *testing.T) {
	for _, shell := range shells {
		t.Run(string(shell), func(t *testing.T) {
			for _, folder := range []string{"plain", "with space", "Jörg Groß", "o'hara & sons; $HOME `x` (1)", "\u2018quoted\u2019"} {
				program := filepath.Join(t.TempDir(), folder, "tracesmith")
				script := "#!/bin/sh\necho \"$1 $2 $(cat)\"\n"
				if runtime.GOOS == "windows" {
					program, script = program+".cmd", "@echo %1 %2 event\r\n"
				}
				line, err := Command(shell, program, "claude-code")
				if shell == integrations.Cmd && strings.ContainsAny(folder, "$`") {
					if err == nil {
						t.Errorf("%s: taken", folder)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if out := run(t, shell, line); out != "" {
					t.Errorf("%s: without the program: %q", folder, out)
				}
				if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
					t.Fatal(err)
				}
				if out := strings.TrimSpace(run(t, shell, line)); out != "hook claude-code event" {
					t.Errorf("%s: printed %q", folder, out)
				}
			}
		})
	}
}

// Two of a hook's exit codes are read as "block": a shell gives them too, when it
// cannot run a file or takes it for a script.
func TestADamagedProgramBlocksNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there the extension says what is a program")
	}
	program := filepath.Join(t.TempDir(), "tracesmith")
	line, err := Command(integrations.Sh, program, "claude-code")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":         "",
		"text":          "Not Found\n",
		"half a script": "if (\n",
		"blocks":        "exit 2\n",
		"is killed":     "#!/bin/sh\nkill -9 $$\n",
		"other machine": "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xf3\x00" + strings.Repeat("\x00", 99),
		"no such shell": "#!/nonexistent\n",
	} {
		if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			run(t, integrations.Sh, line)
			run(t, integrations.Sh, "trap '' TERM; "+line)
		})
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(program, 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, integrations.Sh, line)
}
