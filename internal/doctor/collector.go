package doctor

import (
	"context"
	"errors"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/otlp"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Collector looks at a destination that takes spans and, with send, sends a test run there
// by the way that every run goes. Where the run goes from there cannot be seen.
func (r *Report) Collector(ctx context.Context, n Network, cfg exporter.Config, send bool) {
	const check = "OTLP"
	if !send {
		r.note(check, "", "no test run was sent to %s", cfg.Endpoint)
		return
	}
	n = n.withDefaults()
	run := testRun(n.Now())
	switch err := sendSpan(ctx, n, cfg, run); {
	case errors.Is(err, exporter.ErrUnauthorized), errors.Is(err, exporter.ErrForbidden):
		r.problem(check, "look at otlp_headers, and at the key that the collector has", "%s refuses what is sent: %v", cfg.Endpoint, err)
	case err != nil:
		r.problem(check, "is a collector listening there, with the otlp receiver over http? What is recorded is kept and sent then", "%s takes no spans: %v", cfg.Endpoint, err)
	default:
		r.ok(check, "%s took a test run: %s", cfg.Endpoint, run.ID)
	}
}

func sendSpan(ctx context.Context, n Network, cfg exporter.Config, run *runtypes.Run) error {
	var lost error
	cfg.MaxElapsed, cfg.Redact = min(tryFor, n.Patience), exporter.NoRedaction
	cfg.OnDrop = func(_ []runtypes.Op, why error) { lost = why }
	client, err := otlp.NewClient(cfg)
	if err != nil {
		return err
	}
	_, err = client.Export(ctx, []runtypes.Op{{Verb: runtypes.Post, Run: run}})
	return errors.Join(err, lost, client.Close())
}

// Unusable reports settings that nothing can be sent with.
func (r *Report) Unusable(check string, err error) {
	r.problem(check, "mend it; what is recorded is kept", "%v", err)
}
