package exporter

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func TestSubmitNamesTheFieldThatNoRepairCanMend(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		check := func(field string, spoil func(*runtypes.Op)) {
			t.Helper()
			op := post(ended(1))
			spoil(&op)
			var fault *runtypes.FieldError
			if err := b.Submit(op); !errors.As(err, &fault) || fault.Field != field || op.Run != nil && fault.Run != op.Run.ID {
				t.Errorf("%s: %v", field, err)
			}
		}
		check("run", func(op *runtypes.Op) { op.Run = nil })
		check("verb", func(op *runtypes.Op) { op.Verb = "put" })
		check("id", func(op *runtypes.Op) { op.Run.ID = uuid.Nil })
		check("trace_id", func(op *runtypes.Op) { op.Run.TraceID = uuid.Nil })
		check("start_time", func(op *runtypes.Op) { op.Run.Start = time.Time{} })
		check("dotted_order", func(op *runtypes.Op) { op.Run.DottedOrder = "" })
		if len(d.ops) != 6 || b.Stats().Dropped[ReasonInvalid] != 6 {
			t.Errorf("%d reported, %+v", len(d.ops), b.Stats())
		}
	})
}

func TestBadRunsAreRepairedOrDroppedAlone(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		odd := func(n int, spoil func(*runtypes.Run)) *runtypes.Run {
			r := ended(n)
			spoil(r)
			submit(t, b, post(r))
			return r
		}
		late := odd(1, func(r *runtypes.Run) { r.End = r.Start.Add(-time.Hour) })
		list := odd(2, func(r *runtypes.Run) { r.Inputs = json.RawMessage(`[1,2]`) })
		name := odd(3, func(r *runtypes.Run) { r.Name = "a\x00b\r\nc\xff" })
		bad := odd(4, func(r *runtypes.Run) { r.Outputs = json.RawMessage(`{"a":`) })
		nan := odd(5, func(r *runtypes.Run) { r.Metadata = map[string]any{"f": func() {}} })
		far := odd(20, func(r *runtypes.Run) { r.End = time.Date(30_000, 1, 1, 0, 0, 0, 0, time.UTC) })
		submit(t, b, posts(6, 20)...)
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*runtypes.Run{late, far} {
			if got := s.field(r.ID.String(), "end_time"); !strings.Contains(got, r.Start.UTC().Format(runtypes.TimeLayout)) {
				t.Errorf("end_time %s", got)
			}
		}
		if got := s.field(list.ID.String(), "inputs"); got != `{"input":[1,2]}` {
			t.Errorf("inputs %s", got)
		}
		if got := s.field(name.ID.String(), "name"); got != `"a b  c�"` {
			t.Errorf("name %s", got)
		}
		if len(s.runs) != 18 || len(d.ops) != 2 {
			t.Fatalf("%d runs arrived, %d dropped", len(s.runs), len(d.ops))
		}
		var fault *runtypes.FieldError
		if !errors.As(d.why[0], &fault) || fault.Field != "outputs" || fault.Run != bad.ID || d.ops[1].Run.ID != nan.ID {
			t.Errorf("%v", d.why)
		}
	})
}

func TestAHugeOutputIsShortenedAndItsNeighboursAreUnharmed(t *testing.T) {
	s := newLangsmith(t)
	c := newTestClient(t, config(s, nil))
	huge := ended(1)
	huge.Outputs = json.RawMessage(`{"text":"` + strings.Repeat("all work and no play ", 1<<20) + `"}`)
	export(t, c, post(pending(0)), post(huge), post(pending(2)))
	got := s.field(huge.ID.String(), "outputs")
	if len(s.runs) != 3 || len(got) > DefaultMaxBytes || !strings.Contains(got, "bytes left out]") || c.Stats().Shortened != 1 {
		t.Errorf("%d runs, %d bytes left, %+v", len(s.runs), len(got), c.Stats())
	}
}
