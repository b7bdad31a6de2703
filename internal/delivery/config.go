package delivery

import (
	"fmt"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/profile"
	"github.com/tracesmith/tracesmith/internal/config"
)

// Config is where settings that deliver (see config.Config.Delivers) send runs and
// what authenticates there: a key, or what somebody signed in with. Replicas are in
// the order of config.Config.Places. How runs are prepared is left to the caller.
func Config(settings config.Config, env func(string) string) (exporter.Config, error) {
	cfg := exporter.Config{
		Endpoint: settings.Endpoint, APIKey: settings.APIKey,
		WorkspaceID: settings.WorkspaceID, Project: settings.Project,
		Sampling:   settings.Sampling,
		HideInputs: settings.HideInputs, HideOutputs: settings.HideOutputs, HideMetadata: settings.HideMetadata,
	}
	cfg.AllowHTTP, cfg.Proxy = settings.AllowHTTP, proxy(settings, env)
	var err error
	if cfg.TLS, err = tlsConfig(settings); err != nil {
		return exporter.Config{}, fmt.Errorf("LangSmith: %w", err)
	}
	if settings.KeyCommand != "" && cfg.APIKey == "" {
		if cfg.APIKey, err = keyFrom(settings.KeyCommand, env); err != nil {
			return exporter.Config{}, fmt.Errorf("LangSmith: %w", err)
		}
	}
	if settings.Login {
		signedIn, err := profile.Config(env)
		if err != nil {
			return exporter.Config{}, fmt.Errorf("LangSmith: %w", err)
		}
		cfg.Token = signedIn.Token
	}
	for _, r := range settings.Replicas {
		cfg.Replicas = append(cfg.Replicas, exporter.Replica{
			Endpoint: r.Endpoint, APIKey: r.APIKey, WorkspaceID: r.WorkspaceID, Project: r.Project,
			Primary: r.Primary, Reroot: r.Reroot, Updates: r.Updates,
		})
	}
	return cfg, nil
}
