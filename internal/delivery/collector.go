package delivery

import (
	"fmt"
	"net/http"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/config"
)

// Collector is how runs are sent as spans to the place of the settings' OTLP. How they are
// prepared is left to the caller.
func Collector(settings config.Config, env func(string) string) (exporter.Config, error) {
	cfg := exporter.Config{
		Endpoint: settings.OTLP.Endpoint, Project: settings.Project, Credentials: http.Header{},
		Sampling:   settings.Sampling,
		HideInputs: settings.HideInputs, HideOutputs: settings.HideOutputs, HideMetadata: settings.HideMetadata,
		AllowHTTP: settings.AllowHTTP, Proxy: proxy(settings, env),
	}
	for name, value := range settings.OTLP.Headers {
		cfg.Credentials.Set(name, value)
	}
	var err error
	if cfg.TLS, err = tlsConfig(settings); err != nil {
		return exporter.Config{}, fmt.Errorf("OTLP: %w", err)
	}
	return cfg, nil
}
