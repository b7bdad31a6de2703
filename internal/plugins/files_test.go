package plugins

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the plugins")

const root = "../.."

// TestThePluginsAreWhatInstallRegisters compares the files of the repository with what
// is made from the tables now.
func TestThePluginsAreWhatInstallRegisters(t *testing.T) {
	made, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range made {
		path := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			write(t, path, want)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what its table makes: go test ./internal/plugins -update\n%s", name, diff)
		}
	}
	for _, name := range found(t) {
		if made[name] == nil && filepath.Base(name) != "README.md" {
			t.Errorf("%s is made by nothing", name)
		}
	}
}

// found lists the files of the plugins' folders.
func found(t *testing.T) (names []string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root, "integrations", "*", "plugin"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no plugin: ", err)
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				path, err = filepath.Rel(root, path)
				names = append(names, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAHookOfAPluginIsSilentWithoutTheProgram runs every command of every table where
// there is no tracesmith.
func TestAHookOfAPluginIsSilentWithoutTheProgram(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("!!! SKIPPED: the plugins' commands were not run: no sh")
	}
	for command := range commands(t) {
		cmd := exec.Command(sh, "-c", command)
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + t.TempDir()}
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v, printed %q", command, err, out)
		}
	}
}

// TestAHookOfAPluginFindsAProgramThatIsNotOnThePath hands a hook's input to a program
// where install.sh puts it, and takes whatever exit code it has.
func TestAHookOfAPluginFindsAProgramThatIsNotOnThePath(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("!!! SKIPPED: the plugins' commands were not run: no sh")
	}
	home := t.TempDir()
	program := filepath.Join(home, ".local", "bin", "tracesmith")
	write(t, program, []byte("#!/bin/sh\nread line\necho \"$1 $2 $line\"\nexit 3\n"))
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	for command, agent := range commands(t) {
		cmd := exec.Command(sh, "-c", command)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		cmd.Stdin = strings.NewReader("payload\n")
		out, err := cmd.Output()
		if want := "hook " + agent + " payload\n"; err != nil || string(out) != want {
			t.Errorf("%s: %v, printed %q, want %q", command, err, out, want)
		}
	}
}

// commands are those of all tables for sh, with the agent each is for.
func commands(t *testing.T) map[string]string {
	t.Helper()
	made, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for name, text := range made {
		if filepath.Base(name) != "hooks.json" {
			continue
		}
		var tree any
		if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(`"bash":`), []byte(`"command":`)), &tree); err != nil {
			t.Fatal(err)
		}
		eachEntry(tree, func(entry map[string]any) { all[entry["command"].(string)] = strings.Split(name, "/")[1] })
	}
	if len(all) < 4 {
		t.Fatalf("%d commands", len(all))
	}
	return all
}
