package exporter

import (
	"math/bits"

	"github.com/google/uuid"
)

// sampled reports whether a trace is kept. The hash of its id decides, as in
// LangSmith's own clients, so that every process that has a part in the trace, now
// or after a crash, decides the same.
func sampled(rate *float64, trace uuid.UUID) bool {
	if rate == nil || *rate >= 1 {
		return true
	}
	const parts = 1_000_000
	hi, lo := xxh128(trace.String())
	_, rest := bits.Div64(0, hi, parts)
	_, rest = bits.Div64(rest, lo, parts)
	return float64(rest)/parts < *rate
}
