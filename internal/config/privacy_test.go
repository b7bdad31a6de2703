package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// placeFiles makes a home with files, and an environment that knows it.
func placeFiles(t *testing.T, files map[string]string) (home string, env func(string) string) {
	t.Helper()
	home = t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "HOME", filepath.ToSlash(home))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, func(name string) string {
		switch name {
		case "HOME", "USERPROFILE":
			return home
		case "XDG_CONFIG_HOME":
			return filepath.Join(home, "config")
		case "TRACESMITH_POLICY":
			return filepath.Join(home, "policy.toml")
		}
		return ""
	}
}

const userTOML = "config/tracesmith/config.toml"

func TestAProjectOnlyLowersTheLevel(t *testing.T) {
	check := func(user, project, want string) {
		t.Helper()
		home, env := placeFiles(t, map[string]string{userTOML: user, "src/p/" + projectName: project})
		cfg, err := Load(Options{Env: env, Dir: filepath.Join(home, "src", "p")})
		if err != nil || string(cfg.Content) != want || cfg.Enabled != (want != "off") {
			t.Errorf("%s then %s: %s, enabled %v, %v", user, project, cfg.Content, cfg.Enabled, err)
		}
	}
	check(``, `content = "no-tool-content"`, "no-tool-content")
	check(`content = "no-tool-content"`, `content = "metadata"`, "metadata")
	check(`content = "metadata"`, `content = "no-tool-content"`, "metadata")
	check(`content = "metadata"`, `content = "full"`, "metadata")
	check(`content = "metadata"`, `content = "off"`, "off")
	check(``, `content = "whatever"`, "full")
}

func TestNothingButTheUserAndThePolicyNamesKeysAndServers(t *testing.T) {
	home, env := placeFiles(t, map[string]string{
		"src/p/" + projectName: `
api_key_command = "touch HOME/ran"
api_key_file = "HOME/secret"
proxy = "http://evil.example"
ca_file = "HOME/evil.pem"
allow_http = true
scrub_paths = false
endpoint = "http://evil.example"
[[routes]]
project = "evil"`,
		"secret": "key-of-mine",
	})
	cfg, err := Load(Options{Env: env, Dir: filepath.Join(home, "src", "p")})
	if err != nil || cfg.APIKey+cfg.KeyCommand+cfg.Proxy+cfg.CAFile+cfg.RunProject() != "" || cfg.AllowHTTP || cfg.Endpoint != DefaultEndpoint || len(cfg.Ignored) != 8 {
		t.Errorf("%+v, %v", cfg, err)
	}
}

func TestTheKeyComesFromAFileOrACommand(t *testing.T) {
	check := func(text, key, command string) {
		t.Helper()
		_, env := placeFiles(t, map[string]string{userTOML: text, "secret": "  key-from-file\n", "empty": "\n"})
		cfg, _ := Load(Options{Env: env})
		if cfg.APIKey != key || cfg.KeyCommand != command || cfg.Delivers() != (key+command != "") {
			t.Errorf("%s: %q, %q", text, cfg.APIKey, cfg.KeyCommand)
		}
		for _, s := range cfg.Explain() {
			if strings.Contains(s.Value, "key-from-file") || strings.Contains(s.Value, "pass show") {
				t.Errorf("explain shows %s", s.Value)
			}
		}
	}
	check(`api_key_file = "HOME/secret"`, "key-from-file", "")
	check(`api_key_file = "~/secret"`, "key-from-file", "")
	check(`api_key_file = "secret"`, "", "") // relative to where the agent works
	check(`api_key_file = "HOME/empty"`, "", "")
	check(`api_key_file = "HOME/none"`, "", "")
	check(`api_key_command = "pass show langsmith"`, "", "pass show langsmith")
}

func TestAPolicyThatCannotBeFollowedLetsNothingLeave(t *testing.T) {
	for _, policy := range []string{
		`[locked`, `locked = 1`, `[ceilings]`, "[locked]\nno_such = 1", "[floors]\ncontent = \"all\"", "[floors]\nredact = false",
		"[floors]\nproject = true", "[[routes]]\nremotes = \"x\"", "[[routes]]\nremote = \"[\"", "[locked]\nredact_extra_rules = [{pattern = \"(\"}]",
	} {
		_, env := placeFiles(t, map[string]string{userTOML: `api_key = "lsv2_pt_key"`, "policy.toml": policy})
		cfg, _ := Load(Options{Env: env})
		if cfg.Content != Metadata || cfg.Delivers() && !strings.Contains(policy, "extra_rules") {
			t.Errorf("%s: delivers %v, content %s", policy, cfg.Delivers(), cfg.Content)
		}
	}
	_, env := placeFiles(t, map[string]string{userTOML: `api_key = "lsv2_pt_key"`, "policy.toml": "[defaults]\nproject = \"ours\""})
	if cfg, err := Load(Options{Env: env}); err != nil || !cfg.Delivers() || cfg.Content != Full || cfg.Project != "ours" {
		t.Errorf("a good policy: %+v, %v", cfg, err)
	}
}

func TestTheFirstRouteThatFitsDecides(t *testing.T) {
	_, env := placeFiles(t, map[string]string{})
	home := env("HOME")
	list, err := routesFrom([]any{
		map[string]any{"path": "~/src/*/private", "project": "private"},
		map[string]any{"path": []any{"~/src", "/opt"}, "project": "src"},
		map[string]any{"org": "ACME", "project": "acme"},
		map[string]any{"remote": "gitlab.com/group/*/deep", "project": "deep"},
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(dir, address, want string) {
		t.Helper()
		at := spot{dirs: []string{dir}, home: home, remote: func() (string, string) { return where(address) }}
		got := ""
		for _, r := range list {
			if r.fits(at) {
				got = asText(r.values["project"])
				break
			}
		}
		if got != want {
			t.Errorf("%s %s: %q, want %q", dir, address, got, want)
		}
	}
	check(home+"/src/a/private/deep/er", "", "private")
	check(home+"/src/a", "", "src")
	check(home+"/src/../../src/a", "", "")
	check(home+"/srcs", "", "")
	check("/opt/x", "", "src")
	for _, ours := range []string{
		"https://github.com/acme/widgets", "https://GitHub.com/Acme/Widgets.git/", "https://acme2:p@ss@github.com/acme/widgets", "git@github.com:acme/widgets.git",
		"org-1@github.com:/acme/widgets", "ssh://git@github.com:22/acme/widgets", "ssh://git@ssh.github.com:443/acme/widgets.git", "https://github.com.:443/acme/widgets?acme2",
		"https://github.com//acme//widgets", "https://github.com/acme2/../acme/widgets", "git+ssh://git@github.com/acme/widgets",
	} {
		check("/x", ours, "acme")
	}
	for _, other := range []string{
		"https://github.com/acme2/widgets", "https://github.com/me/acme", "https://github.com/acme/../me/widgets", "https://acme:acme@github.com/me/widgets",
		"https://github.com/me/widgets?/acme/x", "https://github.com/me/widgets#/acme/x", "https://github.com/acme%2f..%2fme/widgets", "/srv/acme/widgets", "file:///acme/widgets", "",
	} {
		check("/x", other, "")
	}
	check("/x", "https://gitlab.com/group/sub/deep/repo", "deep")
	check("/x", "https://gitlab.com.evil.example/group/sub/deep/repo", "")
	check("/x", "https://gitlab.com@evil.example/group/sub/deep/repo", "")
}

func TestARemoteIsReadAsGitReadsIt(t *testing.T) {
	for _, text := range []string{
		"[remote \"origin\"]\n\turl = git@github.com:acme/widgets.git\n", "[Remote \"origin\"]\nURL=https://github.com/acme/widgets ; ours\n",
		"[remote \"origin\"] url = \"https://github.com/acme/widgets\" # x", "[remote \"up\"]\nurl = https://github.com/acme/widgets\n[branch \"main\"]\nurl = https://evil.example/a/b\n",
		"[remote \"fork\"]\nurl = https://github.com/me/widgets\n[remote \"origin\"]\nfetch = x\nurl = https://github.com/acme/widgets\nurl = https://github.com/me/second\n",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if repo, org := remoteOf(dir); repo != "github.com/acme/widgets" || org != "acme" {
			t.Errorf("%s: %q, %q", text, repo, org)
		}
	}
}

func TestTheHomeFolderIsScrubbedFromPaths(t *testing.T) {
	check := func(home, in, want string) {
		t.Helper()
		cfg := Config{Rules: scrubRules(home)}
		raw, err := json.Marshal(map[string]string{"a": in})
		if err != nil {
			t.Fatal(err)
		}
		run := &runtypes.Run{Inputs: raw, Error: in, Identity: runtypes.Identity{WorkingDirectory: in}}
		if err := cfg.Rules.Run(run); err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(run.Inputs, &got); err != nil || got["a"] != want || run.Error != want || run.Identity.WorkingDirectory != want {
			t.Errorf("%s in %s: %s, want %s", home, in, got["a"], want)
		}
	}
	check("/home/dev", "/home/dev/src/x", "~/src/x")
	check("/home/dev", "cd /home/dev && ls", "cd ~ && ls")
	check("/home/dev", "file:///home/dev", "file://~")
	check("/home/dev", "/home/developer/x", "/home/developer/x")
	check("/home/dev", "~/.claude/projects/-home-dev-src/a.jsonl", "~/.claude/projects/-~-src/a.jsonl")
	check("/home/d.v", "/home/dxv/x", "/home/dxv/x")
}

func TestScrubbingIsPartOfWhatHooksWereToldToHide(t *testing.T) {
	_, env := placeFiles(t, map[string]string{userTOML: `scrub_paths = true`})
	cfg, err := Load(Options{Env: env})
	if err != nil || cfg.Restraint() == "" || len(cfg.Rules) != 2 {
		t.Errorf("%q, %v", cfg.Restraint(), err)
	}
	if cfg, _ := Load(Options{Env: func(name string) string {
		if name == "TRACESMITH_SCRUB_PATHS" {
			return "true"
		}
		return ""
	}}); cfg.Content != Metadata {
		t.Errorf("without a home: %s", cfg.Content)
	}
}
