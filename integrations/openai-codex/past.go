package openaicodex

import (
	"iter"

	"github.com/tracesmith/tracesmith/integrations"
)

func past(src integrations.Source, place integrations.Place) iter.Seq2[integrations.Session, error] {
	return nil
}
