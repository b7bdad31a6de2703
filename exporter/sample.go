package exporter

import (
	"math/bits"

	"github.com/google/uuid"
	"github.com/zeebo/xxh3"
)

// sampled reports whether a trace is kept. The hash of its id decides, as in
// LangSmith's own clients, so that every process that has a part in the trace, now
// or after a crash, decides the same.
func sampled(rate *float64, trace uuid.UUID) bool {
	if rate == nil || *rate >= 1 {
		return true
	}
	const parts = 1_000_000
	h := xxh3.HashString128(trace.String())
	_, rest := bits.Div64(0, h.Hi, parts)
	_, rest = bits.Div64(rest, h.Lo, parts)
	return float64(rest)/parts < *rate
}
