package config

import (
	"fmt"
	"strings"
	"testing"
)

const headersFile = "headers"

func TestSpansGoToACollectorBesideLangSmith(t *testing.T) {
	_, env := placeFiles(t, map[string]string{
		userTOML:    "otlp_endpoint = \"http://127.0.0.1:4318/v1/traces\"\notlp_headers_file = \"HOME/headers\"\n",
		headersFile: "Authorization: Bearer a=b:c\n\nX-Team: blue\n",
	})
	cfg, err := Load(Options{Env: env})
	if err != nil || cfg.OTLP.Endpoint != "http://127.0.0.1:4318" || cfg.OTLP.Headers["Authorization"] != "Bearer a=b:c" || len(cfg.OTLP.Headers) != 2 {
		t.Fatalf("%+v, %v", cfg.OTLP, err)
	}
	if !cfg.Delivers() || cfg.LangSmith() || len(cfg.Places()) > 0 || cfg.Destination() != cfg.OTLP.ID() || !cfg.Goes(cfg.OTLP.ID()) {
		t.Errorf("destination %q", cfg.Destination())
	}
	hash := cfg.KeyHash()
	if cfg.OTLP.Headers["Authorization"] = "Bearer another"; hash == "" || cfg.KeyHash() == hash {
		t.Error("another owner's headers count as the same")
	}
	cfg.APIKey = "key"
	if !strings.Contains(cfg.Destination(), ","+cfg.OTLP.ID()) || len(cfg.Places()) != 1 {
		t.Errorf("destination %q", cfg.Destination())
	}
	if off := cfg.Offline(); off.Delivers() || off.Destination() != "" {
		t.Error("offline, runs go somewhere")
	}
	for _, setting := range cfg.Explain() {
		if strings.Contains(setting.Value, "Bearer") {
			t.Errorf("%s shows a secret", setting.Key)
		}
	}
}

func TestOpenTelemetrysOwnVariablesAreTheAgents(t *testing.T) {
	cfg, err := Load(Options{Env: func(name string) string {
		return map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://theirs.example:4318", "OTEL_EXPORTER_OTLP_HEADERS": "a=b",
			"TRACESMITH_OTLP_HEADERS": "authorization=Bearer x,x-team=blue",
		}[name]
	}})
	if err != nil || cfg.Delivers() || cfg.OTLP.Headers["authorization"] != "Bearer x" || len(cfg.OTLP.Headers) != 2 {
		t.Errorf("%+v, %v", cfg.OTLP, err)
	}
}

func TestHeadersThatCannotBeSentAreRefused(t *testing.T) {
	many := strings.Split(strings.Repeat("a,", maxHeaders+1), ",")
	for i := range many {
		many[i] = fmt.Sprintf("a%d=b", i)
	}
	for _, list := range [][]string{{"no sign"}, {"a b=c"}, {"=c"}, {"a=\x01"}, {"a=" + strings.Repeat("x", maxText+1)}, many} {
		var o OTLP
		if err := o.set(list, "="); err == nil || o.Headers != nil {
			t.Errorf("%.40q was taken", list)
		} else if strings.Contains(err.Error(), list[0]) {
			t.Errorf("the error shows %.40q", list)
		}
	}
}

func TestAPolicyThatLocksWhereRunsGoLeavesNoOtherWay(t *testing.T) {
	check := func(policy, want string) {
		t.Helper()
		_, env := placeFiles(t, map[string]string{
			userTOML: `otlp_endpoint = "http://127.0.0.1:4318"`, "policy.toml": policy,
		})
		cfg, err := Load(Options{Env: env})
		if err != nil || cfg.OTLP.Endpoint != want {
			t.Errorf("%s: %q, %v", policy, cfg.OTLP.Endpoint, err)
		}
	}
	check("", "http://127.0.0.1:4318")
	check("[locked]\nendpoint = \"https://langsmith.example\"", "")
	check("[locked]\notlp_endpoint = \"http://127.0.0.2:4318\"", "http://127.0.0.2:4318")
	check("[locked]\nendpoint = \"https://langsmith.example\"\notlp_endpoint = \"http://127.0.0.2:4318\"", "http://127.0.0.2:4318")
	check("[locked]\notlp_endpoint = \"\"", "")
}

func TestAProjectNamesNoCollector(t *testing.T) {
	home, env := placeFiles(t, map[string]string{"src/p/" + projectName: `otlp_endpoint = "http://127.0.0.1:4318"`})
	cfg, err := Load(Options{Env: env, Dir: home + "/src/p"})
	if err != nil || cfg.OTLP.Endpoint != "" || len(cfg.Ignored) != 1 {
		t.Errorf("%+v, %v", cfg.OTLP, err)
	}
}
