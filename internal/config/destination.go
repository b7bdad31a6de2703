package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Place is one destination in LangSmith.
type Place struct {
	// ID is the same for the same endpoint, workspace and project, whatever the key:
	// a new key is no new place.
	ID                             string
	Key                            Key
	Endpoint, WorkspaceID, Project string
}

// Places lists where runs go in LangSmith; none if they go nowhere. A replica has its
// own key, or that of the settings if it is at the same endpoint.
func (c Config) Places() []Place {
	if len(c.Replicas) == 0 {
		if !c.LangSmith() {
			return nil
		}
		return []Place{place(c.Endpoint, c.Key(), c.WorkspaceID, c.Project)}
	}
	var list []Place
	for _, r := range c.Replicas {
		key := r.Key()
		if r.Endpoint != "" && r.Endpoint != c.Endpoint {
			list = append(list, place(r.Endpoint, key, r.WorkspaceID, cmp.Or(r.Project, c.Project)))
			continue
		}
		list = append(list, place(c.Endpoint, cmp.Or(key, c.Key()), cmp.Or(r.WorkspaceID, c.WorkspaceID), cmp.Or(r.Project, c.Project)))
	}
	return list
}

// Elsewhere lists the settings for the workspaces that routes name beside those of the
// settings themselves: a drainer serves these too.
func (c Config) Elsewhere() []Config {
	if len(c.Replicas) > 0 || !c.LangSmith() {
		return nil
	}
	var list []Config
	for _, id := range c.workspaces {
		if id != c.WorkspaceID {
			other := c
			other.WorkspaceID = id
			list = append(list, other)
		}
	}
	return list
}

func place(endpoint string, key Key, workspace, project string) Place {
	return Place{"langsmith-" + digest(endpoint, workspace, project), key, endpoint, workspace, project}
}

// Destination names the places that runs go to: their ids, parted by commas. It is empty
// where nothing leaves this machine.
func (c Config) Destination() string {
	var ids []string
	for _, p := range c.Places() {
		ids = append(ids, p.ID)
	}
	if id := c.OTLP.ID(); id != "" {
		ids = append(ids, id)
	}
	return strings.Join(ids, ",")
}

// KeyHash tells one key for a destination from another, and nothing of the key: two
// shells may hold keys of different owners. It is empty where nothing leaves this
// machine.
func (c Config) KeyHash() string {
	keys := []string{"key"}
	for _, p := range c.Places() {
		keys = append(keys, p.Key.parts()...)
	}
	keys = append(keys, c.OTLP.secrets()...)
	switch {
	case len(keys) == 1:
		return ""
	case c.Login:
		keys = append(keys, c.Source("api_key"))
	}
	return digest(keys...)
}

// Offline is the settings with nowhere to go.
func (c Config) Offline() Config {
	c.OTLP = OTLP{}
	c.APIKey, c.KeyCommand, c.KeyKeyring, c.Login, c.Replicas, c.workspaces = "", "", "", false, nil, nil
	return c
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
