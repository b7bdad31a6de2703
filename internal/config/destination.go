package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Destination names the place in LangSmith that runs go to: the same id for the same
// endpoint, workspace and project, whatever the key, so that a new key is no new
// place. It is empty where no key is set, since nothing goes to LangSmith then.
func (c Config) Destination() string {
	if c.APIKey == "" {
		return ""
	}
	return "langsmith-" + digest(c.Endpoint, c.WorkspaceID, c.Project)
}

// KeyHash tells one key for a destination from another, and nothing of the key: two
// shells may hold keys of different owners. It is empty where no key is set.
func (c Config) KeyHash() string {
	if c.APIKey == "" {
		return ""
	}
	return digest("key", c.APIKey)
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
