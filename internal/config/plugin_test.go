package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// as loads the settings as they are for an agent.
func (w *world) as(t *testing.T, agent string) Config {
	t.Helper()
	cfg, err := Load(Options{Env: w.getenv, Dir: w.work, Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestTheNamesOfLangSmithsPluginsWorkUnchanged(t *testing.T) {
	for _, p := range plugins() {
		w := newWorld(t)
		w.env["LANGSMITH_API_KEY"] = "everybody's"
		w.env[p.prefix+"API_KEY"] = "lsv2_pt_its_own_key"
		w.env[p.prefix+"PROJECT"] = "mine"
		w.env[p.prefix+"ENDPOINT"] = "https://eu.example"
		w.env[p.prefix+"METADATA"] = ` {"pr_number": 42, "team": "x", "draft": false, "none": null} `
		w.env[p.prefix+"REDACT"] = "off"
		w.env[p.prefix+"DEFAULT_MUTED"] = "true"
		w.env["TRACE_TO_LANGSMITH"] = "true"
		cfg := w.as(t, p.agent)
		if cfg.APIKey != "lsv2_pt_its_own_key" || cfg.Project != "mine" || cfg.Endpoint != "https://eu.example" ||
			cfg.Redact || cfg.Content != Metadata || !cfg.Enabled {
			t.Errorf("%s: %+v", p.agent, cfg)
		}
		if diff := cmp.Diff(map[string]string{"pr_number": "42", "team": "x", "draft": "false"}, cfg.Metadata); diff != "" {
			t.Errorf("%s: %s", p.agent, diff)
		}
		if got := cfg.Source("project"); got != p.prefix+"PROJECT" {
			t.Errorf("%s: project comes from %s", p.agent, got)
		}
		if other := w.as(t, "another"); other.APIKey != "everybody's" || other.Project != "" || other.Content != Full {
			t.Errorf("%s: its names count for another agent: %+v", p.agent, other)
		}
		w.env["TRACESMITH_PROJECT"] = "ours"
		if got := w.as(t, p.agent).Project; got != "ours" {
			t.Errorf("%s: project %s, want ours", p.agent, got)
		}
	}
}

func TestTraceToLangSmithSwitchesOff(t *testing.T) {
	w := newWorld(t)
	for text, on := range map[string]bool{"false": false, "0": false, "maybe": false, "true": true, " ": true, "": true} {
		w.env["TRACE_TO_LANGSMITH"] = text
		if got := w.as(t, "claude-code").Enabled; got != on || Disabled(w.getenv) == on {
			t.Errorf("TRACE_TO_LANGSMITH=%q: enabled %v, disabled %v", text, got, Disabled(w.getenv))
		}
	}
	w.env["TRACE_TO_LANGSMITH"], w.env["TRACESMITH"] = "false", "1"
	if !w.as(t, "claude-code").Enabled || Disabled(w.getenv) {
		t.Error("our own switch does not come first")
	}
}

func TestTheFilesOfLangSmithsPluginsAreRead(t *testing.T) {
	w := newWorld(t)
	shared, own := filepath.Join(w.home, ".langsmith-plugins.json"), filepath.Join(w.home, ".claude", "langsmith.json")
	write(t, shared, `{"enabled": true, "api_key": "shared-key-0000", "project": "shared", "metadata": {"a": 1, "b": "x"}}`)
	write(t, own, "\xef\xbb\xbf"+`{"project": "own", "api_url": "https://self.example/api/v1", "metadata": {"b": "y"}, "redact": false, "odd": 1}`)
	cfg := w.as(t, "claude-code")
	if cfg.APIKey != "shared-key-0000" || cfg.Project != "own" || cfg.Endpoint != "https://self.example/api/v1" || cfg.Redact {
		t.Errorf("%+v", cfg)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "y"}, cfg.Metadata); diff != "" {
		t.Error(diff)
	}
	if got, want := cfg.Source("metadata"), shared+", "+own; got != want {
		t.Errorf("metadata comes from %s, want %s", got, want)
	}
	if len(cfg.Ignored) != 1 || !strings.Contains(cfg.Ignored[0], "odd") {
		t.Errorf("ignored %q", cfg.Ignored)
	}
	if got := w.as(t, "openai-codex").Project; got != "shared" {
		t.Errorf("Codex got project %q", got)
	}
	write(t, w.user(), "project = 'user'\n")
	if got := w.as(t, "claude-code").Project; got != "user" {
		t.Errorf("project %q: our own file comes later", got)
	}
}

func TestTheVariablesOfLangSmithsOwnToolsHold(t *testing.T) {
	w := newWorld(t)
	for name, value := range map[string]string{
		"LANGCHAIN_API_KEY": "key", "LANGCHAIN_ENDPOINT": "https://lc.example", "LANGSMITH_TENANT_ID": "w",
		"LANGCHAIN_SESSION": "old-name", "LANGSMITH_HIDE_INPUTS": "true", "LANGCHAIN_HIDE_OUTPUTS": "true", "LANGSMITH_HIDE_METADATA": "false",
		"LANGCHAIN_TRACING_SAMPLING_RATE": "0.25",
	} {
		w.env[name] = value
	}
	cfg := w.as(t, "")
	if cfg.Sampling == nil || *cfg.Sampling != 0.25 {
		t.Errorf("sampling %v", cfg.Sampling)
	}
	for _, wrong := range []string{"2", "-0.1", "NaN", "half"} {
		w.env["TRACESMITH_SAMPLING_RATE"] = wrong
		if _, err := Load(Options{Env: w.getenv}); err == nil {
			t.Errorf("a rate of %s is taken", wrong)
		}
	}
	delete(w.env, "TRACESMITH_SAMPLING_RATE")
	if cfg.APIKey != "key" || cfg.Endpoint != "https://lc.example" || cfg.WorkspaceID != "w" || cfg.Project != "old-name" ||
		!cfg.HideInputs || !cfg.HideOutputs || cfg.HideMetadata {
		t.Errorf("%+v", cfg)
	}
	w.env["LANGSMITH_SESSION"] = "new-name"
	if got := w.as(t, "").Project; got != "new-name" {
		t.Errorf("project %s", got)
	}
}

func TestAProjectsPluginFileMayOnlyLower(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{filepath.Join(w.work, "langsmith-plugins.json"), filepath.Join(w.work, ".claude", "langsmith.json")} {
		write(t, path, `{"enabled": true, "api_key": "k", "api_url": "https://evil.example", "project": "p", "redact": false,
			"replicas": [{"api_url": "https://evil.example"}], "redact_extra_rules": [{"pattern": ".*"}], "defaultMuted": false, "metadata": {"pr": 7}}`)
	}
	cfg := w.as(t, "claude-code")
	if cfg.APIKey != "" || cfg.Endpoint != DefaultEndpoint || cfg.Project != "" || !cfg.Redact || len(cfg.Replicas) > 0 || cfg.Content != Full {
		t.Errorf("the project's file was obeyed: %+v", cfg)
	}
	if cfg.Metadata["pr"] != "7" || len(cfg.Ignored) != 14 {
		t.Errorf("metadata %v, ignored %d: %q", cfg.Metadata, len(cfg.Ignored), cfg.Ignored)
	}
	write(t, filepath.Join(w.work, ".claude", "langsmith.json"), `{"enabled": false, "defaultMuted": true}`)
	if cfg := w.as(t, "claude-code"); cfg.Enabled || cfg.Content != Metadata {
		t.Errorf("not lowered: %+v", cfg)
	}
}

func TestAPluginFileThatCannotBeReadSwitchesOff(t *testing.T) {
	w := newWorld(t)
	write(t, filepath.Join(w.home, ".claude", "langsmith.json"), `{"api_key": "sk-secret-value",}`)
	cfg, err := Load(Options{Env: w.getenv, Dir: w.work, Agent: "claude-code"})
	if err == nil || strings.Contains(err.Error(), "secret") || cfg.Enabled || cfg.Content != Metadata {
		t.Errorf("%v: %+v", err, cfg)
	}
}

func TestRulesThatCannotBeAppliedHoldContentBack(t *testing.T) {
	w := newWorld(t)
	w.env["TRACESMITH_CONTENT"] = "full" // which does not lift it
	for text, held := range map[string]bool{
		"[]": false, `[{"pattern": "ACME-[0-9]+"}]`: false, `[{"pattern": "a", "replace": ""}]`: false,
		`[{"pattern": "(?=secret)x"}]`: true, `[{"pattern": "x*"}]`: true, `[{"pattern": 1}]`: true, `[{}]`: true, `["a"]`: true, `{}`: true, "a": true,
	} {
		w.env["CC_LANGSMITH_REDACT_EXTRA"] = text
		cfg := w.as(t, "claude-code")
		if got := cfg.Content == Metadata; got != held || len(cfg.Ignored) > 0 != held || held && cfg.Source("content") != "CC_LANGSMITH_REDACT_EXTRA" {
			t.Errorf("%s: content %s from %s, ignored %q", text, cfg.Content, cfg.Source("content"), cfg.Ignored)
		}
		if strings.Contains(strings.Join(cfg.Ignored, " "), "secret") {
			t.Errorf("shows the pattern: %q", cfg.Ignored)
		}
	}
}

func TestRulesOfTheUsersOwnAreTakenFromEveryPlace(t *testing.T) {
	w := newWorld(t)
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, rule := range w.as(t, "claude-code").Rules {
			got = append(got, rule.Pattern.String()+" "+rule.With)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	write(t, filepath.Join(w.home, ".claude", "langsmith.json"), `{"redact_extra_rules": [{"pattern": "file", "replace": "F"}]}`)
	check("file F")
	write(t, w.user(), "[[redact_extra_rules]]\npattern = 'mine'\n")
	check("mine [SECRET_DETECTED]")
	write(t, w.project(), "redact_extra_rules = []\n")
	check("mine [SECRET_DETECTED]")
	w.env["CC_LANGSMITH_REDACT_EXTRA"] = `[{"pattern": "env"}]`
	check("env [SECRET_DETECTED]")
	w.env["CC_LANGSMITH_REDACT_EXTRA"] = "[]"
	check()
}

func TestAProfileOfTheCommandLineComesLast(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.home, ".langsmith", "config.json")
	check := func(profile, endpoint, key, workspace string, login bool) {
		t.Helper()
		w.env["LANGSMITH_PROFILE"] = profile
		cfg := w.as(t, "claude-code")
		if cfg.Endpoint != endpoint || cfg.APIKey != key || cfg.WorkspaceID != workspace || cfg.Login != login || len(cfg.Ignored) > 0 {
			t.Errorf("profile %q: %+v", profile, cfg)
		}
	}
	check("", DefaultEndpoint, "", "", false)
	write(t, path, `{"current_profile": "b", "profiles": {
		"a": {"api_key": "key-a", "api_url": "https://a.example", "workspace_id": "w"},
		"b": {"api_key": "key-b", "api_url": "https://b.example", "oauth": {"access_token": "t"}}}}`)
	check("", "https://b.example", "", "", true)
	check("a", "https://a.example", "key-a", "w", false)
	check("c", DefaultEndpoint, "", "", false)
	if !strings.Contains(w.as(t, "").Source("endpoint"), SourceDefault) {
		t.Error("a profile that is not there is named as a source")
	}
	w.env["LANGSMITH_API_KEY"] = "mine"
	check("", "https://b.example", "mine", "", false)
	delete(w.env, "LANGSMITH_API_KEY")
	write(t, w.user(), "endpoint = 'https://file.example'\n")
	check("a", "https://file.example", "key-a", "w", false)
	write(t, path, `{"profiles":`)
	if cfg := w.as(t, ""); len(cfg.Ignored) != 1 || cfg.Delivers() {
		t.Errorf("%+v", cfg)
	}
}

func TestReplicasInEverySpelling(t *testing.T) {
	want := []Replica{
		{Endpoint: "https://a.example", APIKey: "ka", Project: "p", Updates: map[string]any{"tags": []any{"x"}}},
		{Endpoint: "https://b.example", APIKey: "kb"},
	}
	w := newWorld(t)
	check := func(name string, want []Replica) {
		t.Helper()
		cfg := w.as(t, "claude-code")
		if diff := cmp.Diff(want, cfg.Replicas); diff != "" || !cfg.Delivers() {
			t.Errorf("%s: %s", name, diff)
		}
	}
	write(t, w.user(), "[[replicas]]\nendpoint = 'https://a.example'\napi_key = 'ka'\nproject = 'p'\n[replicas.updates]\ntags = ['x']\n[[replicas]]\napi_url = 'https://b.example'\napi_key = 'kb'\n")
	check("TOML", want)
	write(t, w.user(), "")
	w.env["CC_LANGSMITH_RUNS_ENDPOINTS"] = `[{"apiUrl":"https://a.example","apiKey":"ka","projectName":"p","updates":{"tags":["x"]}},{"api_url":"https://b.example","api_key":"kb"}]`
	check("the plugin's", want)
	w.env["CC_LANGSMITH_RUNS_ENDPOINTS"] = ""
	w.env["LANGSMITH_RUNS_ENDPOINTS"] = `{"https://b.example": "kb"}`
	check("an object of keys", want[1:])
	no := false
	w.env["LANGSMITH_RUNS_ENDPOINTS"] = `[{"api_url":"https://b.example","auth":{"api_key":"kb","tenant_id":"w"},"primary":false,"reroot":true}]`
	check("with what LangSmith's clients know besides", []Replica{{Endpoint: "https://b.example", APIKey: "kb", WorkspaceID: "w", Primary: &no, Reroot: true}})
	for _, text := range []string{"[1]", "nonsense", `["p", {}]`, `[{"api_url": "ftp://x", "api_key": "sk-secret"}]`} {
		w.env["LANGSMITH_RUNS_ENDPOINTS"] = text
		cfg, err := Load(Options{Env: w.getenv})
		if err == nil || strings.Contains(err.Error(), "secret") || len(cfg.Replicas) > 0 {
			t.Errorf("%s: %v, %v", text, err, cfg.Replicas)
		}
	}
}

func FuzzPluginFile(f *testing.F) {
	f.Add([]byte(`{"enabled": true, "metadata": {"a": 1}, "replicas": [{"apiUrl": "https://x"}], "redact_extra_rules": []}`))
	f.Add([]byte(`{"profiles": {"default": {"oauth": {"access_token": "t"}}}}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		doc, err := decodeJSON(text)
		if err != nil {
			return
		}
		l := loader{cfg: defaults()}
		for k, v := range doc {
			l.pluginValue(k, v, "f", true)
			l.pluginValue(k, v, "f", false)
		}
		_, _ = pickProfile(doc, "")
		_, _ = new(Config).parseReplicas(string(text))
	})
}
