package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tracesmith": func() { os.Exit(Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the program as its users do. Each script has a home, a state
// directory and nothing else, and wakes no drainer unless it asks for one.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"turn": playTurn},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("no such condition: %s", name)
		},
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			e.Setenv("TRACESMITH_STATE", filepath.Join(e.WorkDir, "state"))
			e.Setenv("TRACESMITH_STORE", "off")
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			return wireServer(e)
		},
	})
}
