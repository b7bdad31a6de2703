package goagent

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// outlet is a destination.
type outlet struct {
	*exporter.Batcher
	name string
}

// named says of an error which destination it is about.
func (o outlet) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("goagent: %s: %w", o.name, err)
}

// losses counts the runs that will not arrive where `tracesmith status` finds the
// count, each once, and tells the agent.
func losses(cfg Config) func([]runtypes.Op, error) {
	return func(lost []runtypes.Op, why error) {
		if err := count(cfg.Env, lost, why); err != nil && cfg.Logger != nil {
			cfg.Logger.Error("a loss is not counted", slog.Int("ops", len(lost)), slog.String("error", err.Error()))
		}
		if cfg.OnDrop != nil {
			cfg.OnDrop(lost, why)
		}
	}
}

func count(env func(string) string, lost []runtypes.Op, why error) error {
	dir, err := journal.DefaultDir(env)
	if err != nil {
		return err
	}
	state, err := journal.Open(dir)
	if err != nil {
		return err
	}
	var ids []string
	for _, op := range lost {
		if op.Run != nil {
			ids = append(ids, op.Run.ID.String())
		}
	}
	return state.DropOnce(reasonOf(why), ids)
}

// reasonOf is the word for a loss that status knows.
func reasonOf(why error) string {
	var drop *exporter.DropError
	if errors.As(why, &drop) {
		switch drop.Reason {
		case exporter.ReasonRedaction:
			return journal.DropRedaction
		case exporter.ReasonInvalid, exporter.ReasonRejected, exporter.ReasonTooLarge:
			return journal.DropRefused
		}
	}
	return journal.DropUnsent
}
