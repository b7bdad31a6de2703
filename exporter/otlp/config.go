package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/exporter"
)

// Defaults of exporter.Config where they are not those of LangSmith.
const (
	DefaultEndpoint = "http://localhost:4318" // a Collector on this machine
	DefaultMaxBytes = 8 << 20                 // a Collector takes 20 MiB, and attachments grow by a third
)

// prepare makes a Config that speaks OTLP.
func prepare(cfg exporter.Config) (exporter.Config, error) {
	switch {
	case cfg.Address != "":
		return cfg, errors.New("otlp: a span names a project, not an Address")
	case len(cfg.Replicas) > 0:
		return cfg, errors.New("otlp: spans go to one place: a Collector passes them on to several")
	}
	// Whoever pastes the address of the signal means its base.
	cfg.Endpoint = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(cfg.Endpoint), "/"), "/v1/traces")
	cfg.Endpoint = cmp.Or(cfg.Endpoint, DefaultEndpoint)
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, DefaultMaxBytes)
	cfg.Dialect = protocol()
	return cfg, nil
}

// Stats counts what was done. Ops are runs: a post and its patch are one.
type Stats struct {
	exporter.Stats
	Bare int64 // runs sent without their inputs: their posts could not be kept
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("otlp: %w", err)
}
