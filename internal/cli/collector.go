package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/otlp"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/delivery"
	"github.com/tracesmith/tracesmith/internal/doctor"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// collector opens the place that gets runs as spans, if there is one.
func (a *app) collector(state *journal.State, settings config.Config, log *slog.Logger) (list []drain.Destination, closers []func() error) {
	if settings.OTLP.Endpoint == "" {
		return nil, nil
	}
	dest := drain.Destination{ID: settings.OTLP.ID(), Name: settings.OTLP.Endpoint + " (OTLP)", Key: settings.KeyHash(), Ended: true}
	drop := drain.Letters(state, dest.ID, log)
	client, err := a.otlpClient(settings, drop, log)
	if err != nil { // neither the store nor what waits for this must suffer
		dest.Broken = fmt.Errorf("OTLP: %w", err)
		return append(list, dest), nil
	}
	dest.Export, dest.GiveUp = client.Deliver, drop
	return append(list, dest), append(closers, client.Close)
}

func (a *app) otlpClient(settings config.Config, drop func([]runtypes.Op, error), log *slog.Logger) (*otlp.Client, error) {
	cfg, err := delivery.Collector(settings, a.env)
	if err != nil {
		return nil, err
	}
	cfg.MaxElapsed, cfg.Logger = exportLimit, log
	cfg.Redact = exporter.NoRedaction // the drainer has done it
	cfg.OnDrop = drop
	return otlp.NewClient(cfg)
}

// examineCollectors looks at the places that get runs as spans, each once.
func (a *app) examineCollectors(ctx context.Context, report *doctor.Report, dir string, send bool) {
	seen := map[string]bool{}
	for _, name := range append([]string{""}, agents.Names()...) {
		settings, _ := a.settings(name, dir) // what cannot be read was reported
		if id := settings.OTLP.ID(); id == "" || seen[id] {
			continue
		} else {
			seen[id] = true
		}
		cfg, err := delivery.Collector(settings, a.env)
		if err != nil {
			report.Unusable("OTLP", err)
			continue
		}
		report.Collector(ctx, doctor.Network{Now: a.now}, cfg, send)
	}
}
