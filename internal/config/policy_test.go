package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// under loads the settings of a user and an environment below a policy, in a folder.
func under(t *testing.T, policy, user string, more map[string]string, dir string) (Config, error) {
	t.Helper()
	_, env := placeFiles(t, map[string]string{userTOML: user, "policy.toml": policy})
	return Load(Options{Dir: dir, Env: func(name string) string {
		if text, ok := more[name]; ok {
			return text
		}
		return env(name)
	}})
}

func TestReplicasDoNotLeadAroundWhatIsLocked(t *testing.T) {
	const ours = "https://smith.acme.example"
	check := func(lock, replica string, kept bool) {
		t.Helper()
		for _, more := range []map[string]string{nil, {"LANGSMITH_RUNS_ENDPOINTS": `[` + replica + `]`}} {
			user := "api_key = \"key\"\n"
			if more == nil {
				user += "replicas = [" + strings.ReplaceAll(replica, ":", "=") + "]"
				user = strings.NewReplacer(`"endpoint"=`, "endpoint=", "https=", "https:").Replace(user)
			}
			cfg, err := under(t, "[locked]\nendpoint = \""+ours+"\"\n"+lock, user, more, "")
			places := cfg.Places()
			if err != nil || len(places) != 1 || places[0].Endpoint != ours || (len(cfg.Replicas) == 1) != kept {
				t.Errorf("%s %s: %+v, %v", lock, replica, places, err)
			}
			if !kept && !strings.Contains(strings.Join(cfg.Ignored, "\n"), "policy") {
				t.Errorf("%s %s: nothing is said of it", lock, replica)
			}
		}
	}
	check("", `{"endpoint": "https://evil.example"}`, false)
	check("", `{"project": "a"}`, true)
	check(`project = "b"`, `{"project": "a"}`, false)
	check(`workspace_id = "b"`, `{"workspace_id": "a"}`, false)
	check(`workspace_id = "b"`, `{"workspace_id": "b"}`, true)
	check(`api_key = "ours"`, `{"api_key": "theirs"}`, false)
	check(`api_key_command = "ours"`, `{"api_key_keyring": "theirs"}`, false)
}

func TestWhatRedactionLeavesInIsForThePolicyWhereItWantsRedaction(t *testing.T) {
	check := func(policy string, want int) {
		t.Helper()
		cfg, err := under(t, policy, `redact_allow = [".*"]`, map[string]string{"TRACESMITH_REDACT_ALLOW": `[".+", "x"]`, "TRACESMITH_REDACT": "false"}, "")
		if err != nil || len(cfg.Allow) != want || cfg.Redact != (want != 2) {
			t.Errorf("%s: %d patterns, redact %v, %v", policy, len(cfg.Allow), cfg.Redact, err)
		}
	}
	check("", 2)
	check("[floors]\nredact = true", 0)
	check("[locked]\nredact = true", 0)
	check("[floors]\nredact = true\n[locked]\nredact_allow = [\"ACME\"]", 1)
	check("[floors]\nredact = true\n[defaults]\nredact_allow = [\"ACME\"]", 1)
}

func TestALockOnNothingHolds(t *testing.T) {
	cfg, err := under(t, "[locked]\nproxy = \"\"\nca_file = \"\"\nproject = \" \"", "proxy = \"http://evil.example\"\nca_file = \"/evil.pem\"\nproject = \"mine\"\n", nil, "")
	if err != nil || cfg.Proxy+cfg.CAFile+cfg.RunProject() != "" {
		t.Errorf("%q %q %q, %v", cfg.Proxy, cfg.CAFile, cfg.RunProject(), err)
	}
	if cfg, err = under(t, "[locked]\nendpoint = \"\"", `api_key = "key"`, nil, ""); err == nil || cfg.Delivers() {
		t.Errorf("without an endpoint: %v", err)
	}
}

func TestNoSourceOfAKeyBeatsALockedOne(t *testing.T) {
	for _, lock := range []string{`api_key = "ours"`, `api_key_command = "ours"`, `api_key_keyring = "ours"`} {
		for _, user := range []string{`api_key = "mine"`, `api_key_command = "mine"`, `api_key_keyring = "mine"`} {
			cfg, err := under(t, "[locked]\n"+lock, user, map[string]string{"LANGSMITH_API_KEY": "mine", "TRACESMITH_API_KEY_KEYRING": "mine"}, "")
			if got := cfg.Key(); err != nil || got.several() || got.Text+got.Command+got.Keyring != "ours" {
				t.Errorf("%s over %s: %+v, %v", lock, user, got, err)
			}
		}
	}
}

func TestNumbersInFilesAreSettings(t *testing.T) {
	cfg, err := under(t, "[locked]\nsampling_rate = 1", "sampling_rate = 0.25", nil, "")
	if err != nil || cfg.Sampling == nil || *cfg.Sampling != 1 {
		t.Errorf("%v, %v", cfg.Sampling, err)
	}
}

func TestARouteOfThePolicyOnlyLowersHoweverItIsWritten(t *testing.T) {
	cfg, err := under(t, "[[routes]]\npath = \"/\"\ncontent = \"FULL\"\nenabled = true", "content = \"metadata\"\nenabled = false", nil, "/x")
	if err != nil || cfg.Content != Metadata || cfg.Enabled {
		t.Errorf("%s, enabled %v, %v", cfg.Content, cfg.Enabled, err)
	}
	if cfg, err = under(t, "[[routes]]\ncontent = \"Metadata\"", "", nil, "/x"); err != nil || cfg.Content != Metadata {
		t.Errorf("%s, %v", cfg.Content, err)
	}
	for _, bad := range []string{`enabled = "no"`, `project = 1`, `content = "all"`, `content = ["metadata"]`, `workspace_id = ""`} {
		if cfg, err = under(t, "[[routes]]\npath = \"/elsewhere\"\n"+bad, `api_key = "key"`, nil, "/x"); err == nil || cfg.Delivers() {
			t.Errorf("%s was taken: %v", bad, err)
		}
	}
}

// An event may come without a folder, or with one that no absolute path names.
func TestARuleForAllFoldersHoldsWhereNoneIsKnown(t *testing.T) {
	const policy = "[[routes]]\npath = \"/work\"\nproject = \"work\"\n[[routes]]\nenabled = false"
	for dir, enabled := range map[string]bool{"/work/x": true, "/home": false, Unknown: false, "work/x": false, "": true} {
		if cfg, err := under(t, policy, "", nil, dir); err != nil || cfg.Enabled != enabled {
			t.Errorf("%q: enabled %v, %v", dir, cfg.Enabled, err)
		}
	}
}

func TestNobodyPutsAnotherPolicyInTheMachinesPlace(t *testing.T) {
	dir := t.TempDir()
	there, none, own := filepath.Join(dir, "policy.toml"), filepath.Join(dir, "none.toml"), filepath.Join(dir, "own.toml")
	for _, path := range []string{there, own} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ system, own, want string }{
		{there, own, there}, {there, none, there}, {there, "", there}, {none, own, own}, {none, "", none}, {none, "own.toml", none},
	} {
		if got := policyOf(tc.system, tc.own); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestAPolicyThatIsALinkToNowhereIsNotMissing(t *testing.T) {
	home, env := placeFiles(t, map[string]string{userTOML: `api_key = "key"`})
	if err := os.Symlink(filepath.Join(home, "none"), filepath.Join(home, "policy.toml")); err != nil {
		t.Skip("no links here:", err)
	}
	if cfg, err := Load(Options{Env: env}); err == nil || cfg.Delivers() {
		t.Errorf("%v", err)
	}
}

func TestAKeyIsAskedOfAReplicasOwnSource(t *testing.T) {
	_, env := placeFiles(t, map[string]string{"secret": "from-file", userTOML: `
api_key_keyring = "mine"
replicas = [
  {project = "a"},
  {project = "b", api_key_command = "print b"},
  {project = "c", api_key_file = "HOME/secret"},
  {endpoint = "https://d.example", api_key_keyring = "d"},
  {endpoint = "https://e.example"},
]`})
	cfg, err := Load(Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	want := []Key{{Keyring: "mine"}, {Command: "print b"}, {Text: "from-file"}, {Keyring: "d"}, {}}
	for i, p := range cfg.Places() {
		if p.Key != want[i] {
			t.Errorf("%d: %+v, want %+v", i, p.Key, want[i])
		}
	}
	if shown := cfg.Explain(); strings.Contains(shown[5].Value, "print b") || strings.Contains(shown[5].Value, "from-file") {
		t.Errorf("%+v", shown[5])
	}
	for _, bad := range []string{`{api_key = "k", api_key_keyring = "n"}`, `{api_key_command = "c", api_key_keyring = "n"}`, `{api_key_file = "relative"}`} {
		_, env := placeFiles(t, map[string]string{userTOML: "replicas = [" + bad + "]"})
		if cfg, err := Load(Options{Env: env}); err == nil {
			t.Errorf("%s: %+v", bad, cfg.Replicas)
		}
	}
	if _, err := new(Config).parseReplicas(`[{"project": "a", "api_key_command": "touch ran"}]`); err == nil {
		t.Error("a variable named a command")
	}
}

func TestAProxysPasswordIsNotShown(t *testing.T) {
	for in, want := range map[string]string{
		"http://proxy.example:3128": "http://proxy.example:3128", "http://me:hunter2@proxy.example": "http://xxxxx@proxy.example", "me:hunter2@proxy.example": "xxxxx@proxy.example",
		"http://me:hunt/er2@proxy.example": "http://xxxxx@proxy.example", "http://http://me:hunter2@x:bad": "http://xxxxx@x:bad", "": "",
	} {
		if got := WithoutPassword(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestWhatIsNotedBesideTheUsersFileStays(t *testing.T) {
	_, env := placeFiles(t, map[string]string{})
	with := func(name string) string {
		if name == "HTTPS_PROXY" {
			return "http://proxy.example"
		}
		return env(name)
	}
	if err := RememberKeyring(env, "mine"); err != nil {
		t.Fatal(err)
	}
	if _, err := RememberProxy(with); err != nil {
		t.Fatal(err)
	}
	if cfg, err := Load(Options{Env: env}); err != nil || cfg.KeyKeyring != "mine" || cfg.Proxy != "http://proxy.example" || !cfg.Delivers() {
		t.Errorf("%+v, %v", cfg, err)
	}
	if err := RememberKeyring(env, ""); err != nil {
		t.Fatal(err)
	}
	if cfg, err := Load(Options{Env: env}); err != nil || cfg.Delivers() || cfg.Proxy == "" {
		t.Errorf("%+v, %v", cfg, err)
	}
}
