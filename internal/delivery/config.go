package delivery

import (
	"errors"
	"fmt"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/profile"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/keyring"
)

// Place is a destination, how to send there, and why nothing can be sent, if so. How runs
// are prepared is left to the caller.
type Place struct {
	config.Place
	Send exporter.Config
	Err  error
}

// Places are those of settings, in the order of config.Config.Places; none where nothing
// is delivered. What is wrong with the key of one is no matter to the others.
func Places(settings config.Config, env func(string) string) []Place {
	return places(settings, env, keyring.Get)
}

// places is Places with a keyring of its own.
func places(settings config.Config, env func(string) string, ring func(name string) (string, error)) []Place {
	var list []Place
	for _, p := range settings.Places() {
		list = append(list, Place{Place: p})
	}
	if len(list) == 0 {
		return nil
	}
	each, err := split(settings, env)
	find := keys{env: env, ring: ring}
	for i := range list {
		p := &list[i]
		if p.Err = err; err != nil {
			continue
		}
		p.Send = each[i]
		if p.Key != (config.Key{}) {
			p.Send.Token = nil
			if p.Send.APIKey, p.Err = find.find(p.Key); p.Err != nil {
				p.Err = fmt.Errorf("LangSmith: %w", p.Err)
			}
		}
	}
	return list
}

// Config is where settings that deliver (see config.Config.Delivers) send runs, for whoever
// sends to all places at once. A replica whose key cannot be found is left out, and the
// error says so; ok is false where nothing can be sent.
func Config(settings config.Config, env func(string) string) (cfg exporter.Config, ok bool, err error) {
	places := Places(settings, env)
	if len(settings.Replicas) == 0 {
		if len(places) == 0 || places[0].Err != nil {
			return cfg, false, errors.Join(failures(places)...)
		}
		return places[0].Send, true, nil
	}
	if cfg, err = common(settings, env); err != nil {
		return exporter.Config{}, false, err
	}
	for i, p := range places {
		if p.Err == nil {
			r := replica(settings.Replicas[i])
			r.APIKey = p.Send.APIKey
			cfg.Replicas = append(cfg.Replicas, r)
		}
	}
	return cfg, len(cfg.Replicas) > 0, errors.Join(failures(places)...)
}

func failures(places []Place) []error {
	var list []error
	for _, p := range places {
		list = append(list, p.Err)
	}
	return list
}

// split is how to send to each place but for its key.
func split(settings config.Config, env func(string) string) ([]exporter.Config, error) {
	cfg, err := common(settings, env)
	if err != nil {
		return nil, err
	}
	for _, r := range settings.Replicas {
		cfg.Replicas = append(cfg.Replicas, replica(r))
	}
	list, err := cfg.Split()
	if err != nil {
		return nil, fmt.Errorf("LangSmith: %w", err)
	}
	return list, nil
}

// common is what all places share.
func common(settings config.Config, env func(string) string) (exporter.Config, error) {
	cfg := exporter.Config{
		Endpoint: settings.Endpoint, WorkspaceID: settings.WorkspaceID, Project: settings.Project,
		Sampling:   settings.Sampling,
		HideInputs: settings.HideInputs, HideOutputs: settings.HideOutputs, HideMetadata: settings.HideMetadata,
	}
	cfg.AllowHTTP, cfg.Proxy = settings.AllowHTTP, proxy(settings, env)
	var err error
	if cfg.TLS, err = tlsConfig(settings); err != nil {
		return exporter.Config{}, fmt.Errorf("LangSmith: %w", err)
	}
	if settings.Login {
		signedIn, err := profile.Config(env)
		if err != nil {
			return exporter.Config{}, fmt.Errorf("LangSmith: %w", err)
		}
		cfg.Token = signedIn.Token
	}
	return cfg, nil
}

func replica(r config.Replica) exporter.Replica {
	return exporter.Replica{
		Endpoint: r.Endpoint, WorkspaceID: r.WorkspaceID, Project: r.Project,
		Primary: r.Primary, Reroot: r.Reroot, Updates: r.Updates,
	}
}
