package profile

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"

	"github.com/tracesmith/tracesmith/exporter"
)

// Config reads the environment (env is os.Getenv or the like), and the profile for
// what the environment leaves open. Its error is that of exporter.ConfigFromEnv,
// and the Config is usable all the same.
func Config(env func(string) string) (exporter.Config, error) {
	cfg, err := exporter.ConfigFromEnv(env)
	path := location(env)
	if path == "" {
		return cfg, err
	}
	f, unreadable := readFile(path)
	if unreadable != nil {
		return cfg, err
	}
	name, p := f.pick(env("LANGSMITH_PROFILE"))
	if p == nil {
		return cfg, err
	}
	fill(&cfg.Endpoint, p.URL)
	fill(&cfg.WorkspaceID, p.WorkspaceID)
	switch {
	case cfg.APIKey != "":
	case p.OAuth.AccessToken != "":
		endpoint := cfg.Endpoint
		fill(&endpoint, exporter.DefaultEndpoint)
		cfg.Token = newSource(path, name, endpoint, http.DefaultTransport).token
	default:
		cfg.APIKey = p.APIKey
	}
	return cfg, err
}

func fill(to *string, from string) { *to = cmp.Or(*to, from) }

// location is the file's path, empty where there is no home.
func location(env func(string) string) string {
	if path := env("LANGSMITH_CONFIG_FILE"); path != "" {
		return path
	}
	home := cmp.Or(env("HOME"), env("USERPROFILE"))
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return ""
		}
	}
	return filepath.Join(home, ".langsmith", "config.json")
}
