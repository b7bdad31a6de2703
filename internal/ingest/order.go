package ingest

import (
	"net/http"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// A dotted order's segment is a time of 22 bytes, 20060102T150405000000Z, and a
// run id of 36.
const (
	stampLen   = 22
	idLen      = 36
	segmentLen = stampLen + idLen
)

type segment struct {
	at time.Time
	id string
}

func parseOrder(order string) ([]segment, error) {
	parts := strings.Split(order, ".")
	segments := make([]segment, len(parts))
	for i, part := range parts {
		if len(part) != segmentLen || part[stampLen-1] != 'Z' || !isUUID(part[stampLen:]) {
			return nil, badOrder("invalid dotted_order: part %d is not <time>Z<run id>", i)
		}
		// time.Parse wants a dot before the fraction; the wire has none.
		at, err := time.Parse("20060102T150405.000000", part[:15]+"."+part[15:stampLen-1])
		if err != nil {
			return nil, badOrder("invalid timestamp format in dotted_order: part %d", i)
		}
		segments[i] = segment{at: at, id: strings.ToLower(part[stampLen:])}
	}
	return segments, nil
}

// checkOrder enforces the rules that tie a dotted order to its run. One run that
// breaks them has the whole request refused. With anyTime a child may be earlier than its
// parent.
func checkOrder(verb runtypes.Verb, w *runtypes.Wire, anyTime bool) error {
	segments, err := parseOrder(w.DottedOrder)
	if err != nil {
		return err
	}
	last := len(segments) - 1
	switch {
	case segments[last].id != w.ID:
		return badOrder("run %s: dotted_order must end in the run id", w.ID)
	case segments[0].id != w.TraceID:
		return badOrder("run %s: dotted_order must start with trace_id %s", w.ID, w.TraceID)
	case last == 0 && w.ParentRunID != "":
		return badOrder("run %s: dotted_order must contain at least two parts for child runs", w.ID)
	case last > 0 && w.ParentRunID == "" && verb == runtypes.Post:
		return badOrder("run %s: dotted_order must contain a single part for root runs", w.ID)
	case last > 0 && w.ParentRunID != "" && segments[last-1].id != w.ParentRunID:
		return badOrder("run %s: dotted_order disagrees with parent_run_id %s", w.ID, w.ParentRunID)
	}
	for i := 1; i <= last; i++ {
		if !anyTime && segments[i].at.Before(segments[i-1].at) {
			return badOrder("run %s: dotted_order has a timestamp earlier than the parent timestamp in part %d", w.ID, i)
		}
	}
	return nil
}

func badOrder(format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, format, args...)
}

// isUUID reports whether s is a UUID in its hyphenated form, the only one
// LangSmith writes.
func isUUID(s string) bool {
	if len(s) != idLen {
		return false
	}
	for i := range idLen {
		c := s[i]
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		digit := '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
		if hyphen != (c == '-') || !hyphen && !digit {
			return false
		}
	}
	return true
}
