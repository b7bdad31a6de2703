package exporter

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// environment reads the variables of LangSmith's own clients: LANGSMITH_X, then
// LANGCHAIN_X, a blank one counting as unset.
type environment struct {
	get    func(string) string
	faults []error
}

func (e *environment) text(name string) string {
	for _, prefix := range []string{"LANGSMITH_", "LANGCHAIN_"} {
		if s := unquote(e.get(prefix + name)); s != "" {
			return s
		}
	}
	return ""
}

func (e *environment) truth(name string) bool { return strings.EqualFold(e.text(name), "true") }

func (e *environment) number(name string) int64 {
	text := e.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		e.faults = append(e.faults, fmt.Errorf("exporter: %s is no positive number", name))
		return 0
	}
	return n
}

func (e *environment) rate(name string) *float64 {
	text := e.text(name)
	if text == "" {
		return nil
	}
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate >= 0 && rate <= 1) {
		e.faults = append(e.faults, fmt.Errorf("exporter: %s is not between 0 and 1", name))
		return nil
	}
	return &rate
}

// Enabled reports whether the environment switches tracing on: LangSmith's clients
// do nothing unless LANGSMITH_TRACING is true. Nothing else in this package asks.
func Enabled(env func(string) string) bool {
	e := environment{get: env}
	if e.text("TRACING_V2") != "" {
		return e.text("TRACING_V2") == "true"
	}
	return e.text("TRACING") == "true"
}

// ConfigFromEnv reads the settings that LangSmith's own clients take from the
// environment (env is os.Getenv or the like):
//
//	X_ENDPOINT, X_API_KEY, X_WORKSPACE_ID, X_PROJECT or X_SESSION
//	LANGSMITH_AGENT_ID, LANGSMITH_AGENT_ENVIRONMENT    in place of a project
//	LANGSMITH_RUNS_ENDPOINTS    replicas, as a JSON array or object
//	X_TRACING_SAMPLING_RATE, X_HIDE_INPUTS, X_HIDE_OUTPUTS, X_HIDE_METADATA
//	X_DISABLE_RUN_COMPRESSION, X_RUN_COMPRESSION_LEVEL
//	X_BATCH_INGEST_SIZE_LIMIT, X_MAX_INGEST_MEMORY_BYTES
//	X_REVISION_ID               metadata.revision_id of every run
//	LANGCHAIN_CUSTOM_HEADERS    lines of "Name: value"
//
// X is LANGSMITH, then LANGCHAIN. The error names what cannot be read, never its
// value; the Config is usable all the same, unless it is the replicas that cannot
// be read: then New and NewClient refuse it, since runs would go where they were
// not meant to. Package exporter/profile adds what "langsmith login" has stored.
//
// They are all that is read: no configuration of the program, and no policy of an
// organisation, which package integrations/goagent follows.
//
// Other variables of theirs are not read: they tune what is different here (queue
// lengths, threads), or name what package exporter/spool does in its own way.
func ConfigFromEnv(env func(string) string) (Config, error) {
	e := environment{get: env}
	cfg := Config{
		Endpoint: e.text("ENDPOINT"), APIKey: e.text("API_KEY"), WorkspaceID: e.text("WORKSPACE_ID"),
		Project:    e.project(),
		Sampling:   e.rate("TRACING_SAMPLING_RATE"),
		HideInputs: e.truth("HIDE_INPUTS"), HideOutputs: e.truth("HIDE_OUTPUTS"), HideMetadata: e.truth("HIDE_METADATA"),
		NoCompression: e.truth("DISABLE_RUN_COMPRESSION"), Level: e.level("RUN_COMPRESSION_LEVEL"),
		MaxBatch:   int(e.number("BATCH_INGEST_SIZE_LIMIT")),
		QueueBytes: e.number("MAX_INGEST_MEMORY_BYTES"),
		Header:     customHeader(env("LANGCHAIN_CUSTOM_HEADERS")),
	}
	if cfg.WorkspaceID == "" {
		cfg.WorkspaceID = unquote(env("LANGSMITH_TENANT_ID"))
	}
	if revision := e.text("REVISION_ID"); revision != "" {
		cfg.Metadata = map[string]any{"revision_id": revision}
	}
	e.address(&cfg)
	if cfg.Replicas, cfg.unusable = parseReplicas(env("LANGSMITH_RUNS_ENDPOINTS"), cfg.Endpoint != ""); cfg.unusable != nil {
		e.faults = append(e.faults, cfg.unusable)
	}
	return cfg, errors.Join(e.faults...)
}

func (e *environment) level(name string) int {
	level := e.number(name)
	if level > 22 {
		e.faults = append(e.faults, fmt.Errorf("exporter: %s is not between 1 and 22", name))
		return 0
	}
	return int(level)
}

// address reads an agent's address. Half of one, or one beside a project, is a
// mistake: the project stands then.
func (e *environment) address(cfg *Config) {
	agent, where := unquote(e.get("LANGSMITH_AGENT_ID")), unquote(e.get("LANGSMITH_AGENT_ENVIRONMENT"))
	if agent == "" && where == "" {
		return
	}
	address, err := AgentAddress(agent, where)
	switch {
	case err != nil:
		e.faults = append(e.faults, fmt.Errorf("%w: LANGSMITH_AGENT_ID, LANGSMITH_AGENT_ENVIRONMENT", err))
	case cfg.Project != "":
		e.faults = append(e.faults, errors.New("exporter: LANGSMITH_AGENT_ID and a project exclude each other"))
	default:
		cfg.Address = address
	}
}

func (e *environment) project() string {
	if p := unquote(e.get("HOSTED_LANGSERVE_PROJECT_NAME")); p != "" {
		return p
	}
	if p := e.text("PROJECT"); p != "" {
		return p
	}
	return e.text("SESSION")
}

// customHeader reads lines of "Name: value".
func customHeader(lines string) http.Header {
	var h http.Header
	for line := range strings.Lines(lines) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if name = strings.TrimSpace(name); !ok || !validName(name) || !validValue(value) {
			continue
		}
		if h == nil {
			h = http.Header{}
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h
}
