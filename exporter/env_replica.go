package exporter

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// replicaEntry is a replica as the environment spells it.
type replicaEntry struct {
	URL     string `json:"api_url"`
	Key     string `json:"api_key"`
	Tenant  string `json:"tenant_id"`
	Project string `json:"project_name"`
	Primary *bool  `json:"primary"`
	Reroot  bool   `json:"reroot"`
	Auth    struct {
		Key           string `json:"api_key"`
		ServiceKey    string `json:"service_key"`
		Tenant        string `json:"tenant_id"`
		Authorization string `json:"authorization"`
		Cookie        string `json:"cookie"`
	} `json:"auth"`
	Updates map[string]any `json:"updates"`
}

func (e *replicaEntry) replica() Replica {
	r := Replica{
		Endpoint: e.URL, APIKey: cmp.Or(e.Auth.Key, e.Key), WorkspaceID: cmp.Or(e.Auth.Tenant, e.Tenant),
		Project: e.Project, Primary: e.Primary, Reroot: e.Reroot, Updates: e.Updates,
	}
	for name, value := range map[string]string{"X-Service-Key": e.Auth.ServiceKey, "Authorization": e.Auth.Authorization, "Cookie": e.Auth.Cookie} {
		if value == "" {
			continue
		}
		if r.Credentials == nil {
			r.Credentials = http.Header{}
		}
		r.Credentials.Set(name, value)
	}
	return r
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
	var entries []replicaEntry
	if json.Unmarshal([]byte(text), &entries) != nil { // ditto
		return nil, fault
	}
	list := make([]Replica, 0, len(entries))
	for _, each := range entries {
		if each.URL == "" {
			return nil, fault
		}
		list = append(list, each.replica())
	}
	return list, nil
}
