package exporter

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestTheEnvironmentIsReadAsLangSmithsClientsReadIt(t *testing.T) {
	quarter, primary := 0.25, true
	check := func(name string, want Config, pairs ...string) {
		t.Run(name, func(t *testing.T) {
			got, err := ConfigFromEnv(env(pairs...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	check("nothing", Config{})
	check("the newer name first", Config{APIKey: "new", Endpoint: "https://old", Project: "p", WorkspaceID: "w"},
		"LANGSMITH_API_KEY", ` "new" `, "LANGCHAIN_API_KEY", "old", "LANGSMITH_ENDPOINT", " ", "LANGCHAIN_ENDPOINT", "https://old",
		"LANGCHAIN_SESSION", "p", "LANGSMITH_WORKSPACE_ID", "w")
	check("projects", Config{Project: "served"}, "LANGSMITH_PROJECT", "p", "HOSTED_LANGSERVE_PROJECT_NAME", "served")
	check("tenant", Config{WorkspaceID: "t"}, "LANGSMITH_TENANT_ID", "t")
	check("the rest", Config{
		Sampling: &quarter, HideInputs: true, HideOutputs: true, HideMetadata: true, NoCompression: true,
		MaxBatch: 7, QueueBytes: 1 << 20, Header: map[string][]string{"X-Team": {"a: b"}, "X-Other": {"c"}},
	}, "LANGSMITH_TRACING_SAMPLING_RATE", "0.25", "LANGSMITH_HIDE_INPUTS", "true", "LANGCHAIN_HIDE_OUTPUTS", "True",
		"LANGSMITH_HIDE_METADATA", "true", "LANGSMITH_DISABLE_RUN_COMPRESSION", "true", "LANGSMITH_BATCH_INGEST_SIZE_LIMIT", "7",
		"LANGSMITH_MAX_INGEST_MEMORY_BYTES", "1048576", "LANGCHAIN_CUSTOM_HEADERS", "x-team: a: b\n\nnonsense\nX-Other:c\n")
	check("an agent", Config{Address: "lrn:agents/support/environments/production"},
		"LANGSMITH_AGENT_ID", "support", "LANGSMITH_AGENT_ENVIRONMENT", "PRODUCTION")
	check("a revision and a level", Config{Metadata: map[string]any{"revision_id": "v7"}, Level: 3},
		"LANGCHAIN_REVISION_ID", "v7", "LANGSMITH_RUN_COMPRESSION_LEVEL", "3")
	check("replicas with credentials", Config{Replicas: []Replica{
		{Endpoint: "https://a", APIKey: "k", WorkspaceID: "w", Reroot: true},
		{Endpoint: "https://b", Credentials: http.Header{"X-Service-Key": {"s"}, "Authorization": {"Bearer b"}, "Cookie": {"c=1"}}},
	}}, "LANGSMITH_RUNS_ENDPOINTS", `[{"api_url":"https://a","auth":{"api_key":"k","tenant_id":"w"},"reroot":true},`+
		`{"api_url":"https://b","auth":{"service_key":"s","authorization":"Bearer b","cookie":"c=1"}}]`)
	check("replicas in an array", Config{Endpoint: "https://e", Replicas: []Replica{
		{Endpoint: "https://a", APIKey: "k", Project: "p", Primary: &primary}, {Endpoint: "https://b"},
	}}, "LANGSMITH_ENDPOINT", "https://e",
		"LANGSMITH_RUNS_ENDPOINTS", `[{"api_url":"https://a","api_key":"k","project_name":"p","primary":true},{"api_url":"https://b","later":1}]`)
	check("replicas in an object", Config{Replicas: []Replica{{Endpoint: "https://a", APIKey: "ka"}, {Endpoint: "https://b", APIKey: "kb"}}},
		"LANGSMITH_RUNS_ENDPOINTS", ` {"https://b":"kb","https://a":"ka"}`)
}

func TestWhatTheEnvironmentGetsWrongIsNamedAndNotQuoted(t *testing.T) {
	check := func(name, value string, more ...string) {
		t.Helper()
		_, err := ConfigFromEnv(env(append(more, name, value)...))
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(name, "LANGSMITH_")) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	check("LANGSMITH_TRACING_SAMPLING_RATE", "1.5")
	check("LANGSMITH_TRACING_SAMPLING_RATE", "NaN")
	check("LANGSMITH_TRACING_SAMPLING_RATE", "secret")
	check("LANGSMITH_BATCH_INGEST_SIZE_LIMIT", "-1")
	check("LANGSMITH_MAX_INGEST_MEMORY_BYTES", "secret")
	check("LANGSMITH_RUN_COMPRESSION_LEVEL", "40")
	check("LANGSMITH_RUNS_ENDPOINTS", "secret")
	check("LANGSMITH_RUNS_ENDPOINTS", `{"a":{"api_key":"secret"}}`)
	check("LANGSMITH_RUNS_ENDPOINTS", `[{"api_key":"secret"}]`)
	check("LANGSMITH_RUNS_ENDPOINTS", `{"https://a":"secret"}`, "LANGSMITH_ENDPOINT", "https://e")
}

// To go on without them would take runs to LangSmith itself.
func TestReplicasThatCannotBeReadLeaveNoConfigToUse(t *testing.T) {
	cfg, err := ConfigFromEnv(env("LANGSMITH_API_KEY", "key", "LANGSMITH_RUNS_ENDPOINTS", "[{}]"))
	if err == nil {
		t.Error("no error")
	}
	if _, err := New(cfg); err == nil {
		t.Error("a Batcher for it")
	}
	if _, err := NewClient(cfg); err == nil {
		t.Error("a Client for it")
	}
	if _, err := ConfigFromEnv(env("LANGSMITH_TRACING_SAMPLING_RATE", "x")); err == nil {
		t.Error("no error")
	}
}

func TestAnAgentBesideAProjectOrByHalvesIsAMistakeAndNoAddress(t *testing.T) {
	for _, pairs := range [][]string{
		{"LANGSMITH_AGENT_ID", "a"}, {"LANGSMITH_AGENT_ENVIRONMENT", "local"},
		{"LANGSMITH_AGENT_ID", "a", "LANGSMITH_AGENT_ENVIRONMENT", "local", "LANGSMITH_PROJECT", "p"},
	} {
		cfg, err := ConfigFromEnv(env(pairs...))
		if err == nil || !strings.Contains(err.Error(), "LANGSMITH_AGENT_ID") || cfg.Address != "" {
			t.Errorf("%v: %q, %v", pairs, cfg.Address, err)
		}
	}
}

func TestTracingIsOnOnlyWhenTrue(t *testing.T) {
	check := func(want bool, pairs ...string) {
		t.Helper()
		if got := Enabled(env(pairs...)); got != want {
			t.Errorf("%v: %t", pairs, got)
		}
	}
	check(false)
	check(true, "LANGSMITH_TRACING", "true")
	check(true, "LANGCHAIN_TRACING_V2", "true", "LANGSMITH_TRACING", "false")
	check(false, "LANGSMITH_TRACING_V2", "false", "LANGSMITH_TRACING", "true")
	check(false, "LANGSMITH_TRACING", "1")
}
