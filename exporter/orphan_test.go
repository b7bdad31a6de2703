package exporter

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
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

// whole is a run with its end that says all that its beginning did.
func whole(n int) *runtypes.Run {
	r := ended(n)
	r.Inputs = pending(n).Inputs
	return r
}

func TestAPatchThatWaitsBehindItsPostTakesItsPlaceOnceThatIsDropped(t *testing.T) {
	check := func(name string, bad *reply, why Reason) {
		t.Run(name, func(t *testing.T) {
			tune := func(c *Config) { c.MaxElapsed = time.Minute }
			batching(t, tune, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
				s.script(first(1, bad))
				submit(t, b, post(pending(1)))
				time.Sleep(time.Second)
				submit(t, b, patch(whole(1)))
				_ = b.Flush(t.Context()) // its failure is the post's
				id := whole(1).ID.String()
				if s.runs[id]["post"] == nil || s.field(id, "end_time") == "" || s.field(id, "inputs") == "" {
					t.Errorf("run %v", s.runs[id])
				}
				if got := b.Stats(); got.Dropped[why] != 1 || got.Delivered != 1 || len(d.ops) != 1 {
					t.Errorf("stats %+v", got)
				}
			})
		})
	}
	later := reply{status: 503, header: http.Header{"Retry-After": {"61"}}, delay: 2 * time.Second}
	check("undelivered", &later, ReasonUndelivered)
	check("refused", &reply{status: 422, delay: 2 * time.Second}, ReasonRejected)
}

func TestAPatchTakesThePlaceOfAPostThatWasRefused(t *testing.T) {
	spooling(t, new(memory), nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		s.script(first(1, status(422)))
		submit(t, b, post(pending(1)))
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		submit(t, b, patch(whole(1)))
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		id := whole(1).ID.String()
		if s.runs[id]["post"] == nil || s.field(id, "end_time") == "" || s.field(id, "inputs") == "" {
			t.Errorf("run %v", s.runs[id])
		}
	})
}

// After an outage a post is sent again in one request with the patch that came meanwhile.
func TestAPatchInOneRequestWithItsPostTakesItsPlaceWhereThatIsRefused(t *testing.T) {
	m := new(memory)
	spooling(t, m, func(c *Config) { c.InFlight = 2 }, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(first(1, &reply{status: 401, delay: 2 * time.Second}))
		submit(t, b, post(pending(1)))
		time.Sleep(time.Second)
		submit(t, b, patch(ended(1)))
		time.Sleep(10 * time.Second)
		s.script(func(_ int, c call) *reply {
			for _, has := range c.has {
				if has["inputs"] != nil {
					return status(422)
				}
			}
			return nil
		})
		time.Sleep(2 * refusedRest)
		synctest.Wait()
		if id := ended(1).ID.String(); s.runs[id]["post"] == nil || s.field(id, "end_time") == "" {
			t.Errorf("run %v, requests %v", s.runs[id], s.seen())
		}
		if len(d.ops) != 1 || d.why[0].Reason != ReasonRejected || m.left(t) != 0 {
			t.Errorf("dropped %v, %d left", d.why, m.left(t))
		}
	})
}

func TestAPostThatWasTakenForLostStillGetsItsEnd(t *testing.T) {
	tune := func(c *Config) { c.MaxElapsed = time.Second }
	batching(t, tune, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		s.conflict = true
		s.script(always(&reply{broken: true, store: true}))
		submit(t, b, post(pending(1)))
		if err := b.Flush(t.Context()); err == nil {
			t.Fatal("an answer that did not arrive was taken for one")
		}
		s.script(nil)
		submit(t, b, patch(whole(1)))
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if id := whole(1).ID.String(); s.field(id, "end_time") == "" || s.field(id, "outputs") == "" {
			t.Errorf("run %v", s.runs[id])
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
	if o.has(old.ID) {
		t.Error("the oldest is not forgotten")
	}
}
