package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/delivery"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// destinations opens every place that runs go to. end closes them.
func (a *app) destinations(ctx context.Context, state *journal.State, settings config.Config, flags drainFlags, log *slog.Logger) (list []drain.Destination, end func() error, err error) {
	var closers []func() error
	end = func() error {
		var failures []error
		for _, each := range closers {
			failures = append(failures, each())
		}
		return errors.Join(failures...)
	}
	if settings.Store {
		dest := drain.Destination{ID: "store", Name: "local store", Past: true}
		if local, err := a.openStore(ctx, state); err != nil {
			dest.Broken = err // LangSmith must not suffer for it
		} else {
			closers = append(closers, local.Close)
			dest.Export = drain.Plain(local.Export)
		}
		list = append(list, dest)
	}
	if settings.Upload == config.Off && flags.linger {
		return list, end, nil
	}
	for _, each := range append([]config.Config{settings}, settings.Elsewhere()...) {
		served, closing := a.places(state, each, log)
		closers, list = append(closers, closing...), append(list, served...)
	}
	served, closing := a.collector(state, settings, log)
	closers, list = append(closers, closing...), append(list, served...)
	return list, end, nil
}

// places opens the places in LangSmith that settings name.
func (a *app) places(state *journal.State, settings config.Config, log *slog.Logger) (list []drain.Destination, closers []func() error) {
	for _, place := range delivery.Places(settings, a.env) {
		if place.Err != nil { // neither the store nor what waits for this must suffer
			list = append(list, drain.Destination{ID: place.ID, Name: place.Endpoint, Key: settings.KeyHash(), Broken: place.Err})
			continue
		}
		cfg := place.Send
		cfg.MaxElapsed, cfg.Logger = exportLimit, log
		cfg.Redact = exporter.NoRedaction // the drainer has done it
		if settings.Store {
			cfg.Wrap = func(next http.RoundTripper) http.RoundTripper { return &witness{next, state, log, a.now} }
		}
		cfg.OnDrop = drain.Letters(state, place.ID, log)
		client, err := exporter.NewClient(cfg)
		if err != nil {
			list = append(list, drain.Destination{ID: place.ID, Name: place.Endpoint, Key: settings.KeyHash(), Broken: fmt.Errorf("LangSmith: %w", err)})
			continue
		}
		closers = append(closers, client.Close)
		list = append(list, drain.Destination{ID: place.ID, Name: place.Endpoint, Key: settings.KeyHash(), Export: client.Deliver})
	}
	return list, closers
}
