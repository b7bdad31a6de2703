package otlp

import (
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"
)

// contextOf is a run's ids as a span has them. LangSmith's clients take the first eight bytes
// of a run's id for its span; those of a derived UUIDv7 are the time of the turn and twelve
// bits more, so that the runs of one turn would meet. The last eight begin with the variant's
// bits and are never zero.
func contextOf(traceID, id string) trace.SpanContext {
	whole, err := uuid.Parse(traceID)
	own, ownErr := uuid.Parse(id)
	if err != nil || ownErr != nil {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(whole), SpanID: trace.SpanID(own[8:]), TraceFlags: trace.FlagsSampled,
	})
}
