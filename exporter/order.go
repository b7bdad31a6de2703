package exporter

import (
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// segmentTime is the length of the time in a segment of a dotted order.
const segmentTime = len("20261130T040506007008Z")

const (
	idLength      = len("00000000-0000-0000-0000-000000000000")
	segmentLayout = "20060102T150405"
	wholeSeconds  = len(segmentLayout)
)

var (
	errSegment = errors.New("a segment is no time with an id behind it")
	errOwnID   = errors.New("it does not end in the run's id")
	errTraceID = errors.New("it does not begin with the trace's id")
	errParent  = errors.New("the id before the last is not the parent's")
)

// checkOrder finds a dotted order that does not agree with the ids of its run.
// LangSmith refuses the whole request that holds one.
func checkOrder(r *runtypes.Run) error {
	var first, before, last uuid.UUID
	n := 0
	for rest, more := r.DottedOrder, true; more; n++ {
		var segment string
		segment, rest, more = strings.Cut(rest, ".")
		_, text, ok := cutSegment(segment)
		id, err := uuid.Parse(text)
		if !ok || err != nil {
			return errSegment
		}
		if n == 0 {
			first = id
		}
		before, last = last, id
	}
	switch {
	case last != r.ID:
		return errOwnID
	case first != r.TraceID:
		return errTraceID
	case r.ParentID != uuid.Nil && r.ParentID != before:
		return errParent
	}
	return nil
}

// cutSegment splits a segment into its time, which has any number of sub-second
// digits, and its id.
func cutSegment(segment string) (at, id string, ok bool) {
	cut := len(segment) - idLength
	if cut < segmentTime-6 || cut > segmentTime+3 {
		return "", "", false
	}
	at, id = segment[:cut], segment[cut:]
	if at[8] != 'T' || at[len(at)-1] != 'Z' || !digits(at[:8]) || !digits(at[9:len(at)-1]) || !onClock(at) {
		return "", "", false
	}
	return at, id, true
}

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// onClock reports whether there is such a time. It is asked for every segment of
// every run, and time.Parse takes as long as the rest of Submit.
func onClock(at string) bool {
	two := func(i int) int { return int(at[i]-'0')*10 + int(at[i+1]-'0') }
	year, month, day := two(0)*100+two(2), two(4), two(6)
	if month < 1 || month > 12 || day < 1 || two(9) > 23 || two(11) > 59 || two(13) > 59 {
		return false
	}
	return day <= 28 || day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// mendOrder makes a dotted order what LangSmith takes: six sub-second digits, no
// run earlier than its parent, and the start that it says. What it does to a
// segment follows from those before it alone, so that all runs of a trace stay in
// agreement. Its ids were checked.
func mendOrder(w *runtypes.Wire) error {
	segments := strings.Split(w.DottedOrder, ".")
	latest, changed := "", false
	for i, segment := range segments {
		at, id, ok := cutSegment(segment)
		if !ok {
			return errSegment
		}
		at = max(sixDigits(at), latest)
		latest = at
		if mended := at + strings.ToLower(id); mended != segment {
			segments[i], changed = mended, true
		}
	}
	if changed {
		w.DottedOrder = strings.Join(segments, ".")
	}
	if len(segments) > 1 {
		w.ParentRunID = segments[len(segments)-2][segmentTime:]
	}
	w.StartTime = startOf(latest)
	if w.EndTime != "" && len(w.EndTime) == len(w.StartTime) {
		w.EndTime = max(w.EndTime, w.StartTime) // both of one layout: they sort as texts
	} else if w.EndTime != "" { // of a year that the layout does not hold
		w.EndTime = w.StartTime
	}
	return nil
}

// sixDigits cuts or pads the sub-second digits of a segment's time.
func sixDigits(at string) string {
	if len(at) == segmentTime {
		return at
	}
	return at[:wholeSeconds] + (at[wholeSeconds:len(at)-1] + "000000")[:6] + "Z"
}

// startOf writes the time of a segment as runtypes.TimeLayout.
func startOf(at string) string {
	return at[:4] + "-" + at[4:6] + "-" + at[6:8] + "T" + at[9:11] + ":" + at[11:13] + ":" + at[13:15] + "." + at[15:]
}
