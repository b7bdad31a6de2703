package exporter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
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
//	LANGSMITH_RUNS_ENDPOINTS    replicas, as a JSON array or object
//	X_TRACING_SAMPLING_RATE, X_HIDE_INPUTS, X_HIDE_OUTPUTS, X_HIDE_METADATA
//	X_DISABLE_RUN_COMPRESSION, X_BATCH_INGEST_SIZE_LIMIT, X_MAX_INGEST_MEMORY_BYTES
//	LANGCHAIN_CUSTOM_HEADERS    lines of "Name: value"
//
// X is LANGSMITH, then LANGCHAIN. The error names what cannot be read, never its
// value; the Config is usable all the same. Package exporter/profile adds what
// "langsmith login" has stored.
func ConfigFromEnv(env func(string) string) (Config, error) {
	e := environment{get: env}
	cfg := Config{
		Endpoint: e.text("ENDPOINT"), APIKey: e.text("API_KEY"), WorkspaceID: e.text("WORKSPACE_ID"),
		Project:    e.project(),
		Sampling:   e.rate("TRACING_SAMPLING_RATE"),
		HideInputs: e.truth("HIDE_INPUTS"), HideOutputs: e.truth("HIDE_OUTPUTS"), HideMetadata: e.truth("HIDE_METADATA"),
		NoCompression: e.truth("DISABLE_RUN_COMPRESSION"),
		MaxBatch:      int(e.number("BATCH_INGEST_SIZE_LIMIT")),
		QueueBytes:    e.number("MAX_INGEST_MEMORY_BYTES"),
		Header:        customHeader(env("LANGCHAIN_CUSTOM_HEADERS")),
	}
	if cfg.WorkspaceID == "" {
		cfg.WorkspaceID = unquote(env("LANGSMITH_TENANT_ID"))
	}
	var err error
	if cfg.Replicas, err = parseReplicas(env("LANGSMITH_RUNS_ENDPOINTS"), cfg.Endpoint != ""); err != nil {
		e.faults = append(e.faults, err)
	}
	return cfg, errors.Join(e.faults...)
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
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		if h == nil {
			h = http.Header{}
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h
}

// parseReplicas reads an array of objects, or an object of endpoints and keys. The
// latter leaves no room for an endpoint set beside it.
func parseReplicas(text string, endpoint bool) ([]Replica, error) {
	text = strings.TrimSpace(text)
	fault := errors.New("exporter: LANGSMITH_RUNS_ENDPOINTS is neither an array of objects with api_url nor an object of keys")
	switch {
	case text == "":
		return nil, nil
	case text[0] == '{':
		var keys map[string]string
		if json.Unmarshal([]byte(text), &keys) != nil { // its error may quote a key
			return nil, fault
		}
		if endpoint {
			return nil, errors.New("exporter: LANGSMITH_RUNS_ENDPOINTS as an object and LANGSMITH_ENDPOINT exclude each other")
		}
		var list []Replica
		for _, url := range slices.Sorted(maps.Keys(keys)) {
			list = append(list, Replica{Endpoint: url, APIKey: keys[url]})
		}
		return list, nil
	}
	var entries []struct {
		URL     string         `json:"api_url"`
		Key     string         `json:"api_key"`
		Tenant  string         `json:"tenant_id"`
		Project string         `json:"project_name"`
		Primary *bool          `json:"primary"`
		Updates map[string]any `json:"updates"`
	}
	if json.Unmarshal([]byte(text), &entries) != nil { // ditto
		return nil, fault
	}
	list := make([]Replica, 0, len(entries))
	for _, each := range entries {
		if each.URL == "" {
			return nil, fault
		}
		list = append(list, Replica{
			Endpoint: each.URL, APIKey: each.Key, WorkspaceID: each.Tenant,
			Project: each.Project, Primary: each.Primary, Updates: each.Updates,
		})
	}
	return list, nil
}
