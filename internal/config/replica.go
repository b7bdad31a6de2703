package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxReplicas bounds the destinations.
const maxReplicas = 16

// Replica is one of several destinations.
type Replica struct {
	Endpoint, APIKey, WorkspaceID string // empty: that of the settings
	KeyCommand, KeyKeyring        string // in place of APIKey
	Project                       string // empty: the run's own
	Primary                       *bool  // runs keep their ids there; nil: if the project is their own
	Reroot                        bool   // attached turns become roots there
	Updates                       map[string]any
}

// replicas is the setting of the destinations: a list in files, JSON in variables.
func replicas(agent string) field {
	env := append([]variable{{name: "TRACESMITH_RUNS_ENDPOINTS"}}, theirs(agent, "RUNS_ENDPOINTS", nil)...)
	return field{
		key: "replicas", env: env,
		set: func(c *Config, s string) error {
			found, err := c.parseReplicas(s)
			if err == nil {
				c.Replicas = found
			}
			return err
		},
		text: func(c *Config) string {
			var list []string
			for _, r := range c.Replicas {
				list = append(list, strings.Join(slices.DeleteFunc([]string{r.Endpoint, r.Key().String(), r.Project}, func(s string) bool { return s == "" }), " "))
			}
			return strings.Join(list, ", ")
		},
	}
}

// parseReplicas reads an array of objects, or an object of keys by endpoint. It is what a
// variable may hold, and so names no command.
func (c *Config) parseReplicas(text string) ([]Replica, error) {
	if strings.HasPrefix(text, "{") {
		doc, err := decodeJSON([]byte(text))
		if err != nil {
			return nil, err
		}
		var list []any
		for _, url := range slices.Sorted(maps.Keys(doc)) {
			list = append(list, map[string]any{"api_url": url, "api_key": doc[url]})
		}
		return c.replicasFrom(list, false)
	}
	var list []any
	if json.Unmarshal([]byte(text), &list) != nil { // its error may quote a key
		return nil, errors.New("want a JSON array of objects with api_url, api_key and project")
	}
	return c.replicasFrom(list, false)
}

// replicasFrom reads a list of tables, with the names that LangSmith's tools use. runs
// says that a command may be named.
func (c *Config) replicasFrom(list []any, runs bool) ([]Replica, error) {
	if len(list) > maxReplicas {
		return nil, fmt.Errorf("more than %d destinations", maxReplicas)
	}
	var found []Replica
	for _, each := range list {
		table, ok := each.(map[string]any)
		if !ok {
			return nil, errors.New("want a list of tables")
		}
		r, err := c.replicaFrom(table)
		if err != nil {
			return nil, err
		}
		if r.KeyCommand != "" && !runs {
			return nil, errors.New("a command is for the user's own file to name")
		}
		found = append(found, r)
	}
	return found, nil
}

func (c *Config) replicaFrom(table map[string]any) (r Replica, err error) {
	auth, _ := table["auth"].(map[string]any) // where LangSmith's clients keep keys of late
	first := func(names ...string) string {
		for _, name := range names {
			if text := cmp.Or(asText(auth[name]), asText(table[name])); text != "" {
				return text
			}
		}
		return ""
	}
	if url := first("endpoint", "api_url", "apiUrl"); url != "" {
		if r.Endpoint, err = parseEndpoint(url); err != nil {
			return r, err
		}
	}
	if path := first("api_key_file"); path != "" {
		if r.APIKey, err = c.keyIn(path); err != nil {
			return r, err
		}
	}
	err = errors.Join(
		setText(&r.KeyCommand, first("api_key_command")),
		setText(&r.KeyKeyring, first("api_key_keyring")),
		setText(&r.APIKey, cmp.Or(first("api_key", "apiKey"), r.APIKey)),
		setText(&r.WorkspaceID, first("workspace_id", "tenant_id", "tenantId")),
		setText(&r.Project, first("project", "project_name", "projectName")),
	)
	if named := r.Key(); err == nil && named.several() {
		err = errors.New("more than one key for a destination")
	}
	r.Updates, _ = table["updates"].(map[string]any)
	r.Reroot, _ = table["reroot"].(bool)
	if primary, ok := table["primary"].(bool); ok {
		r.Primary = &primary
	}
	return r, err
}
