package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

// batching runs f in a bubble with a Batcher, and shuts that down if f has not.
func batching(t *testing.T, tune func(*Config), f func(t *testing.T, s *langsmith, d *drops, b *Batcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, d := newLangsmith(t), new(drops)
		cfg := config(s, d)
		if tune != nil {
			tune(&cfg)
		}
		b, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		f(t, s, d, b)
		b.Shutdown(t.Context())
		if got := b.Stats(); got.Queued != 0 || got.QueuedBytes != 0 {
			t.Errorf("at the end %d ops, %d bytes are held", got.Queued, got.QueuedBytes)
		}
	})
}

func submit(t *testing.T, b *Batcher, ops ...runtypes.Op) {
	t.Helper()
	for _, op := range ops {
		if err := b.Submit(op); err != nil {
			t.Fatal(err)
		}
	}
}

// script sets the server's answers while a Batcher may be calling it.
func (s *langsmith) script(answer func(int, call) *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func always(rep *reply) func(int, call) *reply { return func(int, call) *reply { return rep } }

func TestARunWaitsForCompanyNoLongerThanTheInterval(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		submit(t, b, posts(0, 1)...)
		time.Sleep(DefaultInterval - time.Millisecond)
		submit(t, b, posts(1, 2)...)
		synctest.Wait()
		if got := s.seen(); len(got) != 0 {
			t.Errorf("sent early: %v", got)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if diff := cmp.Diff([][]string{names(posts(0, 2))}, s.seen()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAFullRequestLeavesAtOnce(t *testing.T) {
	check := func(name string, tune func(*Config)) {
		t.Run(name, func(t *testing.T) {
			batching(t, tune, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
				submit(t, b, posts(0, 9)...)
				synctest.Wait()
				if diff := cmp.Diff([][]string{names(posts(0, 3)), names(posts(3, 6)), names(posts(6, 9))}, s.seen()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	check("ops", func(c *Config) { c.MaxBatch = 3 })
	check("bytes", func(c *Config) { c.MaxBytes = int(3 * weight(pending(0))) })
}

func TestAPatchJoinsItsWaitingPost(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		submit(t, b, posts(0, 50)...)
		submit(t, b, patch(ended(7)), patch(ended(99)))
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := append(names(posts(0, 50)), names([]runtypes.Op{patch(ended(99))})...)
		if diff := cmp.Diff([][]string{want}, s.seen()); diff != "" {
			t.Error(diff)
		}
		if got := s.field(ended(7).ID.String(), "outputs"); got != `{"done":7}` {
			t.Errorf("outputs %q", got)
		}
	})
}

func TestAPatchWaitsWhileItsPostIsUnderWay(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		s.script(first(4, status(503)))
		submit(t, b, posts(0, 1)...)
		time.Sleep(DefaultInterval + time.Millisecond) // the post is between two attempts
		submit(t, b, patch(ended(0)))
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := names(posts(0, 1))
		if diff := cmp.Diff([][]string{p, p, p, p, p, names([]runtypes.Op{patch(ended(0))})}, s.seen()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSubmitNeverBlocksAndTheQueueIsBoundedInBytes(t *testing.T) {
	room := 5 * weight(pending(0))
	tune := func(c *Config) { c.QueueBytes = room }
	batching(t, tune, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(always(&reply{hang: true}))
		start, full := time.Now(), 0
		for n := range 20 {
			if err := b.Submit(post(pending(n))); errors.Is(err, ErrQueueFull) {
				full++
			} else if err != nil {
				t.Fatal(err)
			}
			time.Sleep(DefaultInterval) // what is under way counts as well
			if got := b.Stats().QueuedBytes; got > room {
				t.Errorf("%d bytes are held", got)
			}
		}
		if time.Since(start) != 20*DefaultInterval {
			t.Error("Submit blocked")
		}
		if full != 15 || b.Stats().Dropped[ReasonQueueFull] != 15 || len(d.ops) != 15 || d.why[0].Reason != ReasonQueueFull {
			t.Errorf("%d refused, stats %+v, %d reported", full, b.Stats(), len(d.ops))
		}
		s.script(nil)
	})
}

func TestARunThatNoQueueCanHoldLeavesRoomForOthersButNotForItsLike(t *testing.T) {
	batching(t, func(c *Config) { c.QueueBytes = 100 << 10 }, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		big := func(n int) runtypes.Op {
			r := pending(n)
			r.Outputs = json.RawMessage(`"` + strings.Repeat("x", 200<<10) + `"`)
			return post(r)
		}
		submit(t, b, post(pending(0)), big(1), post(pending(2)))
		if err := b.Submit(big(3)); !errors.Is(err, ErrQueueFull) {
			t.Error(err)
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.runs) != 3 {
			t.Errorf("%d runs", len(s.runs))
		}
		submit(t, b, big(4))
	})
}

func TestSubmitOfNoRunIsAnError(t *testing.T) {
	batching(t, nil, func(t *testing.T, _ *langsmith, d *drops, b *Batcher) {
		var field *runtypes.FieldError
		if err := b.Submit(runtypes.Op{Verb: runtypes.Post}); !errors.As(err, &field) || len(d.ops) != 1 {
			t.Error(err)
		}
	})
}

func TestFlushWaitsForExactlyWhatWasQueued(t *testing.T) {
	batching(t, func(c *Config) { c.MaxBatch = 4 }, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		late := names(posts(10, 11))[0]
		s.script(func(_ int, c call) *reply {
			for _, op := range c.ops {
				if op == late {
					return &reply{hang: true}
				}
			}
			return &reply{status: 202, store: true, delay: time.Second}
		})
		submit(t, b, posts(0, 10)...)
		done := make(chan error, 1)
		go func() { done <- b.Flush(t.Context()) }()
		time.Sleep(time.Millisecond)
		submit(t, b, posts(10, 11)...)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := len(s.seen()); got != 3 {
			t.Errorf("%d requests when the flush was over", got)
		}
		s.script(nil)
	})
}

func TestFlushOfAnEmptyQueueReturnsAtOnce(t *testing.T) {
	batching(t, nil, func(t *testing.T, _ *langsmith, _ *drops, b *Batcher) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Flush(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestFlushReportsAFailureAndObeysItsContext(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(always(status(401)))
		submit(t, b, posts(0, 2)...)
		if err := b.Flush(t.Context()); !errors.Is(err, ErrUnauthorized) {
			t.Error(err)
		}
		if len(d.ops) != 2 || d.why[0].Reason != ReasonUndelivered || !errors.Is(d.why[0], ErrUnauthorized) {
			t.Errorf("dropped %v", d.why)
		}
		s.script(always(&reply{hang: true}))
		submit(t, b, posts(2, 3)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := b.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		s.script(nil)
	})
}

func TestShutdownDeliversWhatIsQueuedAndRefusesTheRest(t *testing.T) {
	batching(t, func(c *Config) { c.MaxBatch = 3 }, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		submit(t, b, posts(0, 10)...)
		if err := b.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if len(s.runs) != 10 {
			t.Errorf("%d of 10 arrived", len(s.runs))
		}
		if err := b.Submit(post(pending(11))); !errors.Is(err, ErrShutdown) || len(d.ops) != 1 {
			t.Error(err)
		}
		if err := b.Shutdown(t.Context()); err != nil {
			t.Error("second shutdown:", err)
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Error("flush after shutdown:", err)
		}
	})
}

func TestShutdownKeepsItsDeadline(t *testing.T) {
	for name, rep := range map[string]*reply{"hung": {hang: true}, "refusing": {broken: true}, "busy": status(429)} {
		t.Run(name, func(t *testing.T) {
			batching(t, func(c *Config) { c.MaxBatch = 3 }, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
				s.script(always(rep))
				submit(t, b, posts(0, 10)...)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				start := time.Now()
				err := b.Shutdown(ctx)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
					t.Errorf("after %v: %v", time.Since(start), err)
				}
				if diff := cmp.Diff(names(posts(0, 10)), names(d.ops)); diff != "" {
					t.Error(diff)
				}
				if b.Stats().Dropped[ReasonShutdown] != 10 {
					t.Errorf("stats %+v", b.Stats())
				}
			})
		})
	}
}

func TestASecondShutdownWaitsForTheFirstOrItsOwnContext(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		s.script(always(&reply{status: 202, store: true, delay: 10 * time.Second}))
		submit(t, b, posts(0, 1)...)
		first := make(chan error, 1)
		go func() { first <- b.Shutdown(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestShutdownDoesNotWaitForAClientThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := roundTrip(func(r *http.Request) (*http.Response, error) {
			<-release // /info hangs as well
			return nil, errBroken
		})
		d := new(drops)
		b, err := New(config(deaf, d))
		if err != nil {
			t.Fatal(err)
		}
		submit(t, b, posts(0, 2)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		b.Shutdown(ctx)
		if d := time.Since(start); d > time.Second+shutdownGrace {
			t.Errorf("took %v", d)
		}
		close(release)
		<-b.pipes[0].done
		if len(d.ops) != 2 {
			t.Errorf("%d ops reported", len(d.ops))
		}
	})
}

func TestTheSenderOutlivesAPanic(t *testing.T) {
	tune := func(c *Config) { c.OnDrop = func([]runtypes.Op, error) { panic("user's fault") } }
	batching(t, tune, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		s.script(first(1, status(422)))
		submit(t, b, posts(0, 1)...)
		b.Flush(t.Context())
		submit(t, b, posts(1, 2)...)
		b.Flush(t.Context())
		if len(s.runs) != 1 || b.Stats().Dropped[ReasonRejected] != 1 {
			t.Errorf("%d runs, stats %+v", len(s.runs), b.Stats())
		}
	})
}

func TestATurnArrivesThroughABatcher(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		turn := runtypes.StartTurn(b, someone, "hello")
		call := turn.Tool("bash", "call_1", map[string]string{"command": "ls"})
		time.Sleep(time.Second)
		call.End("files")
		turn.End("done")
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.seen(); len(s.runs) != 2 || len(got) != 2 {
			t.Errorf("%d runs in %v", len(s.runs), got)
		}
	})
}

// Whoever makes runs by hand goes on with the one that it has submitted: it ends it,
// or makes the next of it.
func TestARunMayChangeOnceItWasSubmitted(t *testing.T) {
	batching(t, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		r := pending(0)
		r.Metadata = map[string]any{"step": "begun"}
		submit(t, b, post(r))
		r.Metadata["step"], r.Outputs, r.End = "ended", ended(0).Outputs, ended(0).End
		submit(t, b, patch(r))
		next := pending(1)
		r.ID, r.TraceID, r.DottedOrder, r.Metadata["step"] = next.ID, next.TraceID, next.DottedOrder, "next"
		submit(t, b, post(r))
		r.Metadata["step"] = "other"
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for run, step := range map[*runtypes.Run]string{pending(0): "ended", next: "next"} {
			if got := s.field(run.ID.String(), "extra"); !strings.Contains(got, `"step":"`+step+`"`) || len(s.runs) != 2 {
				t.Errorf("%d runs, extra %s, want step %s", len(s.runs), got, step)
			}
		}
	})
}

func TestSubmitAllocatesLittle(t *testing.T) {
	hung := roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	b, err := New(config(hung, nil))
	if err != nil {
		t.Fatal(err)
	}
	ops, n := make([]runtypes.Op, 200), 0
	for i := range ops {
		ops[i] = post(payload(i))
	}
	if got := testing.AllocsPerRun(len(ops)-1, func() {
		submit(t, b, ops[n])
		n++
	}); got > 4 {
		t.Errorf("%v allocations", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.Shutdown(ctx)
}
