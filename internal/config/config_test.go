package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is a home, a repository below it, and an environment.
type world struct {
	home, repo, work string
	env              map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{home: t.TempDir()}
	w.repo = filepath.Join(w.home, "src", "repo")
	w.work = filepath.Join(w.repo, "deep", "down")
	for _, dir := range []string{w.work, filepath.Join(w.repo, ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = map[string]string{"HOME": w.home, "USERPROFILE": w.home, "XDG_CONFIG_HOME": filepath.Join(w.home, "cfg")}
	return w
}

func (w *world) getenv(key string) string { return w.env[key] }

func (w *world) user() string { return filepath.Join(w.home, "cfg", "tracesmith", "config.toml") }

func (w *world) project() string { return filepath.Join(w.repo, ".tracesmith.toml") }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) load(t *testing.T, flags map[string]string) Config {
	t.Helper()
	cfg, err := Load(Options{Env: w.getenv, Dir: w.work, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestNothingSetGivesTheDefaults(t *testing.T) {
	cfg := newWorld(t).load(t, nil)
	if !cfg.Enabled || !cfg.Live || !cfg.Store || !cfg.Redact || cfg.Upload != Detached || cfg.Content != Full || cfg.Endpoint != DefaultEndpoint {
		t.Errorf("defaults: %+v", cfg)
	}
	for _, s := range cfg.Explain() {
		if s.Source != SourceDefault {
			t.Errorf("%s comes from %s", s.Key, s.Source)
		}
	}
}

func TestTheStrongerLayerWinsAndIsNamed(t *testing.T) {
	w := newWorld(t)
	type want struct{ project, source string }
	check := func(flags map[string]string, in want) {
		t.Helper()
		cfg := w.load(t, flags)
		if got := (want{cfg.Project, cfg.Source("project")}); got != in {
			t.Errorf("got %+v, want %+v", got, in)
		}
	}
	check(nil, want{"", SourceDefault})
	write(t, w.user(), "project = 'file'\n")
	check(nil, want{"file", w.user()})
	w.env["LANGCHAIN_PROJECT"] = "chain"
	check(nil, want{"chain", "LANGCHAIN_PROJECT"})
	w.env["LANGSMITH_PROJECT"] = "smith"
	check(nil, want{"smith", "LANGSMITH_PROJECT"})
	w.env["TRACESMITH_PROJECT"] = ` "trace smith" `
	check(nil, want{"trace smith", "TRACESMITH_PROJECT"})
	w.env["TRACESMITH_PROJECT"] = `  ""  `
	check(nil, want{"smith", "LANGSMITH_PROJECT"})
	check(map[string]string{"project": "flag"}, want{"flag", "flag"})
}

func TestAProjectFileMayOnlyLowerWhatIsSent(t *testing.T) {
	w := newWorld(t)
	write(t, w.user(), "enabled = true\nendpoint = 'https://mine.example'\ntags = ['a']\n[metadata]\nteam = 'x'\n")
	write(t, w.project(), "endpoint = 'https://evil.example'\napi_key = 'k'\nredact = false\nupload = 'inline'\ncontent = 'metadata'\ntags = ['b', 'a']\n[metadata]\npr = 7\n")
	cfg := w.load(t, nil)
	if cfg.Endpoint != "https://mine.example" || cfg.APIKey != "" || !cfg.Redact || cfg.Upload != Detached {
		t.Errorf("the project's file was obeyed: %+v", cfg)
	}
	if cfg.Content != Metadata || cfg.Source("content") != w.project() {
		t.Errorf("content %q from %s", cfg.Content, cfg.Source("content"))
	}
	if diff := cmp.Diff([]string{"a", "b"}, cfg.Tags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"team": "x", "pr": "7"}, cfg.Metadata); diff != "" {
		t.Error(diff)
	}
	if len(cfg.Ignored) != 4 {
		t.Errorf("ignored: %q", cfg.Ignored)
	}

	write(t, w.user(), "enabled = false\ncontent = 'metadata'\n")
	write(t, w.project(), "enabled = true\ncontent = 'full'\n")
	if cfg := w.load(t, nil); cfg.Enabled || cfg.Content != Metadata {
		t.Errorf("the project's file raised what is sent: %+v", cfg)
	}
}

func TestAProjectFileIsFoundUpToTheRepositoryRoot(t *testing.T) {
	w := newWorld(t)
	find := func(want string) {
		t.Helper()
		if got := ProjectFile(w.work, w.home); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	write(t, filepath.Join(w.home, "src", projectName), "")
	write(t, filepath.Join(w.home, projectName), "")
	find("")
	write(t, w.project(), "")
	find(w.project())
	inner := filepath.Join(w.work, projectName)
	write(t, inner, "")
	find(inner)
}

func TestWhatCannotBeUsedIsNamedAndTheRestStands(t *testing.T) {
	for name, text := range map[string]string{
		"broken TOML":      "api_key = 'sk-secret-value\n",
		"wrong kind":       "live = 3\n",
		"bad choice":       "upload = 'sometimes'\n",
		"bad boolean":      "live = 'maybe'\n",
		"bad endpoint":     "endpoint = 'mine.example'\n",
		"user in endpoint": "endpoint = 'https://me:sk-secret-value@mine.example'\n",
		"control":          "project = \"a\\nb\"\n",
		"table":            "[live]\nx = 1\n",
		"long":             "project = '" + strings.Repeat("x", maxText+1) + "'\n",
	} {
		w := newWorld(t)
		write(t, w.user(), text)
		w.env["LANGSMITH_API_KEY"] = "from-environment"
		cfg, err := Load(Options{Env: w.getenv, Dir: w.work})
		if err == nil || !strings.Contains(err.Error(), w.user()) {
			t.Errorf("%s: error %v does not name the file", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the file's content: %v", name, err)
		}
		if cfg.APIKey != "from-environment" || cfg.Upload != Detached || !cfg.Live {
			t.Errorf("%s: %+v", name, cfg)
		}
	}
}

func TestAFileFromAWindowsEditorIsRead(t *testing.T) {
	w := newWorld(t)
	write(t, w.user(), "\xef\xbb\xbfproject = 'mine'\r\nlive = false\r\n")
	if cfg := w.load(t, nil); cfg.Project != "mine" || cfg.Live {
		t.Errorf("%+v", cfg)
	}
}

func TestTheSwitchInTheEnvironment(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "false": true, " OFF ": true, "'no'": true, "": false, "1": false, "maybe": false} {
		if got := Disabled(func(string) string { return text }); got != want {
			t.Errorf("TRACESMITH=%q: disabled %v", text, got)
		}
	}
}

func TestAKeyIsNeverShown(t *testing.T) {
	w := newWorld(t)
	w.env["LANGSMITH_API_KEY"] = "lsv2_pt_0123456789abcdef"
	for _, s := range w.load(t, nil).Explain() {
		if strings.Contains(s.Value, "89ab") {
			t.Errorf("%s shows the key: %s", s.Key, s.Value)
		}
		if s.Key == "api_key" && s.Value != "****cdef" {
			t.Errorf("masked as %q", s.Value)
		}
	}
	if MaskKey("short") != "****" || MaskKey("") != "" {
		t.Error("a short key must be hidden whole")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("enabled = false\ntags = ['a']\n[metadata]\nk = 'v'\n"))
	f.Add([]byte("a = [[[{b = 1979-05-27}]]]"))
	f.Add([]byte("\xef\xbb\xbfproject = 'x'"))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := decode("f", text)
		if err != nil {
			return
		}
		l := loader{cfg: defaults()}
		for k, v := range doc {
			l.value(k, v, "f")
		}
		if len(l.cfg.Tags) > maxTags || len(l.cfg.Metadata) > maxMetadata {
			t.Errorf("unbounded: %d tags, %d entries", len(l.cfg.Tags), len(l.cfg.Metadata))
		}
	})
}
