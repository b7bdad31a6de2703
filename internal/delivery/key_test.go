package delivery

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/keyring"
)

// at is an environment with a home folder.
func at(home string) func(string) string {
	return func(name string) string { return map[string]string{"HOME": home}[name] }
}

// posix leaves out what needs a POSIX shell.
func posix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a POSIX shell")
	}
}

func TestTheKeyIsWhatTheCommandPrints(t *testing.T) {
	posix(t)
	home := t.TempDir()
	check := func(command, want string) {
		t.Helper()
		cfg, ok, err := Config(config.Config{KeyCommand: command}, at(home))
		if cfg.APIKey != want || (err == nil) != (want != "") || ok != (err == nil) {
			t.Errorf("%s: %q, %v", command, cfg.APIKey, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the error shows what was printed: %v", err)
		}
	}
	check("echo lsv2_pt_key", "lsv2_pt_key")
	check("printf 'lsv2_pt_key'", "lsv2_pt_key")
	check("pwd", home) // not where the agent works
	check("true", "")
	check("echo hush; echo hush", "")
	check("echo hush; exit 1", "")
	check("printf 'hush\\033[2J'", "")
	check("head -c 5000 /dev/zero | tr '\\0' x", "")
	check("head -c 50000000 /dev/zero | tr '\\0' x", "")
}

func TestACommandIsNotRunWhereTheAgentWorks(t *testing.T) {
	posix(t)
	t.Chdir(t.TempDir())
	for _, home := range []string{"", ".", "relative"} {
		if _, _, err := Config(config.Config{KeyCommand: "touch ran; echo key"}, at(home)); err == nil {
			t.Errorf("ran in the home %q", home)
		}
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("the command ran in the working directory")
	}
}

func TestEachReplicaHasItsOwnKeyAndItsOwnTrouble(t *testing.T) {
	posix(t)
	ring := func(name string) (string, error) {
		if name == "theirs" {
			return "key-in-ring", nil
		}
		return "", keyring.ErrNone
	}
	ran := filepath.Join(t.TempDir(), "ran")
	settings := config.Config{Endpoint: "https://a.example", KeyCommand: "echo x >> '" + ran + "'; echo main", Replicas: []config.Replica{
		{Project: "p1"},
		{Project: "p2"},
		{Endpoint: "https://b.example", KeyCommand: "echo own"},
		{Endpoint: "https://c.example", KeyKeyring: "theirs"},
		{Endpoint: "https://d.example", KeyKeyring: "none"},
		{Endpoint: "https://e.example", KeyCommand: "exit 3"},
		{Endpoint: "https://f.example"}, // never another's key
	}}
	want := []string{"main", "main", "own", "key-in-ring", "", "", ""}
	found := places(settings, at(t.TempDir()), ring)
	if len(found) != len(want) {
		t.Fatalf("%d places", len(found))
	}
	for i, p := range found {
		broken := i == 4 || i == 5
		if p.Send.APIKey != want[i] || (p.Err != nil) != broken {
			t.Errorf("%s: %q, %v", p.Endpoint, p.Send.APIKey, p.Err)
		}
		if broken && strings.ContainsAny(p.Err.Error(), "\n") {
			t.Errorf("many lines: %v", p.Err)
		}
	}
	if !errors.Is(found[4].Err, keyring.ErrNone) {
		t.Error(found[4].Err)
	}
	if text, err := os.ReadFile(ran); err != nil || len(text) != 2 {
		t.Errorf("a command of two places ran %d times, %v", len(text)/2, err)
	}
	settings.Replicas = append(settings.Replicas[:3:3], settings.Replicas[5:]...)
	cfg, ok, err := Config(settings, at(t.TempDir()))
	if !ok || err == nil || len(cfg.Replicas) != 4 || cfg.Replicas[2].APIKey != "own" {
		t.Errorf("%+v, %v", cfg.Replicas, err)
	}
}

func TestAKeyringThatCannotBeReadLetsNothingLeave(t *testing.T) {
	for _, ring := range []func(string) (string, error){
		func(string) (string, error) { return "", errors.New("the bus says no") },
		func(string) (string, error) { return "", keyring.ErrLocked },
		func(string) (string, error) { return "", nil },
		func(string) (string, error) { return "two\nlines", nil },
	} {
		found := places(config.Config{Endpoint: "https://a.example", KeyKeyring: "mine"}, at(t.TempDir()), ring)
		if len(found) != 1 || found[0].Err == nil || found[0].Send.APIKey != "" || strings.Contains(found[0].Err.Error(), "two") {
			t.Errorf("%+v", found)
		}
	}
}
