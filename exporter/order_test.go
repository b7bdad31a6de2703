package exporter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestSubmitRefusesADottedOrderThatDisagreesWithItsRun(t *testing.T) {
	batching(t, nil, func(t *testing.T, _ *langsmith, _ *drops, b *Batcher) {
		parent := pending(1)
		check := func(name string, spoil func(*runtypes.Run)) {
			t.Helper()
			r := runtypes.Tool(parent, idgen.New(), someTime, "bash")
			spoil(r)
			var fault *runtypes.FieldError
			if err := b.Submit(post(r)); !errors.As(err, &fault) || fault.Field != "dotted_order" || fault.Run != r.ID {
				t.Errorf("%s: %v", name, err)
			}
		}
		other := pending(2)
		check("another run's", func(r *runtypes.Run) { r.DottedOrder = other.DottedOrder })
		check("another trace", func(r *runtypes.Run) { r.TraceID = other.ID })
		check("another parent", func(r *runtypes.Run) { r.ParentID = other.ID })
		check("a parent above a root", func(r *runtypes.Run) {
			r.TraceID, r.DottedOrder = r.ID, idgen.Segment(someTime, r.ID)
		})
		check("no time", func(r *runtypes.Run) { r.DottedOrder = r.ID.String() })
		check("no id", func(r *runtypes.Run) { r.DottedOrder += "." })
		check("no order", func(r *runtypes.Run) { r.DottedOrder = "first" })
		check("a day that is none", func(r *runtypes.Run) { r.DottedOrder = strings.Replace(r.DottedOrder, "20261130", "20261131", 1) })
		check("a sign in the time", func(r *runtypes.Run) { r.DottedOrder = strings.Replace(r.DottedOrder, "2026", "+026", 1) })
	})
}

func TestADottedOrderIsMendedAlikeInEveryRunOfATrace(t *testing.T) {
	const root, child, leaf = "00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b", "00000000-0000-7000-8000-00000000000c"
	check := func(order, want, start string) {
		t.Helper()
		cfg, _ := Config{}.withDefaults()
		segments := strings.Split(order, ".")
		r := &runtypes.Run{
			ID: uuid.MustParse(segments[len(segments)-1][len(segments[len(segments)-1])-idLength:]), TraceID: uuid.MustParse(root),
			DottedOrder: order, Kind: runtypes.KindTool, Start: someTime, End: someTime.Add(-time.Hour),
		}
		if err := checkOrder(r); err != nil {
			t.Fatal(err)
		}
		rec, err := serialise(post(r), &cfg)
		if err != nil {
			t.Fatal(err)
		}
		w, err := rec.head()
		if err != nil {
			t.Fatal(err)
		}
		if w.DottedOrder != want || w.StartTime != start || w.EndTime < w.StartTime {
			t.Errorf("%s\nbecame %s\nwant   %s, start %s, end %s", order, w.DottedOrder, want, w.StartTime, w.EndTime)
		}
		if n := len(segments); n > 1 && w.ParentRunID != strings.ToLower(segments[n-2][len(segments[n-2])-idLength:]) {
			t.Errorf("parent %s", w.ParentRunID)
		}
	}
	const at = "20261130T040506"
	check(at+"007008Z"+root, at+"007008Z"+root, "2026-11-30T04:05:06.007008Z")
	check(at+"007Z"+root, at+"007000Z"+root, "2026-11-30T04:05:06.007000Z")
	check(at+"Z"+root, at+"000000Z"+root, "2026-11-30T04:05:06.000000Z")
	check(at+"123456789Z"+root, at+"123456Z"+root, "2026-11-30T04:05:06.123456Z")
	early := at + "500000Z" + root + "." + at + "400000Z" + child // the child's clock is behind
	mended := at + "500000Z" + root + "." + at + "500000Z" + child
	check(early, mended, "2026-11-30T04:05:06.500000Z")
	check(early+"."+at+"600000Z"+strings.ToUpper(leaf), mended+"."+at+"600000Z"+leaf, "2026-11-30T04:05:06.600000Z")
}

func FuzzMendOrder(f *testing.F) {
	const one, two = "20261130T040506007008Z019ad3c4-5e6f-7a8b-9c0d-1e2f3a4b5c6d", "20261130T040505Z019ad3c4-5e6f-7a8b-9c0d-1E2F3A4B5C6E"
	f.Add(one)
	f.Add(one + "." + two)
	f.Add("20260230T250000Z" + one[segmentTime:])
	f.Fuzz(func(t *testing.T, order string) {
		segments := strings.Split(order, ".")
		last := segments[len(segments)-1]
		id, err := uuid.Parse(last[max(0, len(last)-idLength):])
		if err != nil {
			return
		}
		trace, _ := uuid.Parse(segments[0][max(0, len(segments[0])-idLength):]) // wrong: refused
		r := &runtypes.Run{ID: id, TraceID: trace, DottedOrder: order}
		if checkOrder(r) != nil {
			return
		}
		w := runtypes.Wire{ID: id.String(), DottedOrder: order}
		if err := mendOrder(&w); err != nil {
			t.Fatalf("%q passed the check and cannot be mended: %v", order, err)
		}
		if len(segments) > 64 || strings.Contains(order, uuid.Nil.String()) || strings.HasPrefix(order, "0000") {
			return // what ParseParent does not take in
		}
		p, err := runtypes.ParseParent(w.DottedOrder)
		if err != nil || p.ID != id || p.TraceID != trace || p.Start.Format(runtypes.TimeLayout) != w.StartTime {
			t.Errorf("%q became %q: %v, %+v", order, w.DottedOrder, err, p)
		}
	})
}
