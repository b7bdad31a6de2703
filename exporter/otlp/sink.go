package otlp

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Sink sends spans in the background. It is safe for concurrent use.
type Sink struct {
	to      *exporter.Batcher
	joiner  joiner
	onDrop  func([]runtypes.Op, error)
	unended atomic.Int64
}

var _ runtypes.Sink = (*Sink)(nil)

var errUnended = errors.New("otlp: the run has not ended")

// New checks cfg, as NewClient does, and starts a Sink. It keeps the beginnings of runs in
// memory until they end, up to cfg.QueueBytes; a run that finds no room goes without its
// inputs. A spool keeps runs from their ends on.
func New(cfg exporter.Config) (*Sink, error) {
	cfg, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	to, err := exporter.New(cfg)
	if err != nil {
		return nil, wrap(err)
	}
	return &Sink{to: to, onDrop: cfg.OnDrop, joiner: joiner{limit: cmp.Or(cfg.QueueBytes, exporter.DefaultQueueBytes)}}, nil
}

// Submit takes an op and returns at once; the run belongs to the Sink from then on. What it
// refuses, as exporter.Batcher does, is counted and reported to OnDrop too.
func (s *Sink) Submit(op runtypes.Op) error {
	whole, ended := s.joiner.join(op)
	if !ended {
		return nil
	}
	return wrap(s.to.Submit(whole))
}

// Flush waits until the runs that had ended when it was called are delivered or dropped, or
// ctx ends.
func (s *Sink) Flush(ctx context.Context) error { return wrap(s.to.Flush(ctx)) }

// Shutdown delivers what has ended and ends the Sink. Runs that have not ended go to OnDrop:
// a span has an end.
func (s *Sink) Shutdown(ctx context.Context) error {
	err := s.to.Shutdown(ctx)
	if left := s.joiner.left(); len(left) > 0 {
		s.unended.Add(int64(len(left)))
		if s.onDrop != nil {
			s.onDrop(left, &exporter.DropError{Reason: exporter.ReasonShutdown, Err: errUnended})
		}
	}
	return wrap(err)
}

// Stats returns the counts so far.
func (s *Sink) Stats() Stats {
	stats := Stats{Stats: s.to.Stats(), Bare: s.joiner.bareRuns()}
	if n := s.unended.Load(); n > 0 {
		stats.Dropped[exporter.ReasonShutdown] += n
	}
	return stats
}
