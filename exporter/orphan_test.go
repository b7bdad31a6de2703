package exporter

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestAPatchTakesThePlaceOfAPostThatWasDropped(t *testing.T) {
	tune := func(c *Config) { c.QueueBytes, c.MaxElapsed = 2*weight(pending(0)), time.Second }
	batching(t, tune, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		submit(t, b, posts(0, 2)...)
		if err := b.Submit(post(pending(2))); !errors.Is(err, ErrQueueFull) {
			t.Fatal(err)
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.script(always(status(503)))
		submit(t, b, post(pending(3)))
		if err := b.Flush(t.Context()); err == nil {
			t.Fatal("delivered to a server that is down")
		}
		s.script(nil)
		whole := func(n int) *runtypes.Run {
			r := ended(n)
			r.Inputs = pending(n).Inputs
			return r
		}
		for _, n := range []int{0, 2, 3} {
			submit(t, b, patch(whole(n)))
			if err := b.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range []int{0, 2, 3} {
			id := whole(n).ID.String()
			if s.runs[id]["post"] == nil || s.field(id, "end_time") == "" || s.field(id, "inputs") == "" {
				t.Errorf("run %d: %v", n, s.runs[id])
			}
		}
		if s.runs[whole(0).ID.String()]["patch"] == nil {
			t.Error("a patch whose post arrived became a post")
		}
	})
}

func TestOrphansAreBounded(t *testing.T) {
	var o orphans
	old := pending(0)
	o.lost(post(old))
	for range mostOrphans {
		r := *old
		r.ID = uuid.New()
		o.lost(post(&r))
	}
	if len(o.ids) > mostOrphans || len(o.order) > mostOrphans {
		t.Errorf("%d are remembered, %d in order", len(o.ids), len(o.order))
	}
	if got := o.adopt(patch(old)); got.Verb != runtypes.Patch {
		t.Error("the oldest is not forgotten")
	}
}
