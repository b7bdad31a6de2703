package opencode

import (
	"iter"

	"github.com/tracesmith/tracesmith/integrations"
)

func promptsBefore(src integrations.Source, db string, t *turn) (int, error) { return 0, nil }

func past(src integrations.Source, place integrations.Place) iter.Seq2[integrations.Session, error] {
	return func(yield func(integrations.Session, error) bool) {}
}
