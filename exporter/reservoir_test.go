package exporter

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tracesmith/tracesmith/internal/patience"
)

// memory is a Spool that outlives a Batcher, if not the process.
type memory struct {
	mu      sync.Mutex
	entries [][]byte
	taken   int
	done    map[uint64]int
	full    bool
}

var errFull = errors.New("full")

func (m *memory) Put(entry []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errFull
	}
	m.entries = append(m.entries, bytes.Clone(entry))
	return nil
}

func (m *memory) Take(limit int64) (tickets []uint64, entries [][]byte, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ; m.taken < len(m.entries) && (limit > 0 || len(entries) == 0); m.taken++ {
		limit -= int64(len(m.entries[m.taken]))
		tickets, entries = append(tickets, uint64(m.taken)), append(entries, m.entries[m.taken])
	}
	return tickets, entries, nil
}

func (m *memory) Done(tickets []uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done == nil {
		m.done = map[uint64]int{}
	}
	for _, t := range tickets {
		m.done[t]++
	}
	return nil
}

// adopted is what a later process finds.
func (m *memory) adopted() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := new(memory)
	for i, entry := range m.entries {
		if m.done[uint64(i)] == 0 {
			next.entries = append(next.entries, entry)
		}
	}
	return next
}

// left counts the entries that are not done, and finds those that are twice.
func (m *memory) left(t *testing.T) int {
	t.Helper()
	for ticket, n := range m.done {
		if n > 1 {
			t.Errorf("ticket %d was done %d times", ticket, n)
		}
	}
	return len(m.entries) - len(m.done)
}

func spooling(t *testing.T, m *memory, tune func(*Config), f func(t *testing.T, s *langsmith, d *drops, b *Batcher)) {
	t.Helper()
	batching(t, func(c *Config) {
		c.Spool, c.MaxElapsed = m, time.Minute
		if tune != nil {
			tune(c)
		}
	}, f)
}

func TestAnOutageOfAnyLengthLosesNothingThatIsSpooled(t *testing.T) {
	m := new(memory)
	spooling(t, m, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(always(status(503)))
		submit(t, b, turn(1, 5)...)
		time.Sleep(time.Hour)
		synctest.Wait()
		if b.Stats().Retried == 0 || len(s.runs) != 0 {
			t.Errorf("%+v", b.Stats())
		}
		s.script(nil)
		time.Sleep(patience.LongestPause + refusedRest)
		synctest.Wait()
		if len(s.runs) != 6 || m.left(t) != 0 || len(d.ops) != 0 {
			t.Errorf("%d runs, %d left in the spool, %d dropped", len(s.runs), m.left(t), len(d.ops))
		}
	})
}

func TestARefusedKeyLosesNothingThatIsSpooled(t *testing.T) {
	m := new(memory)
	spooling(t, m, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(always(status(401)))
		submit(t, b, posts(0, 5)...)
		if err := b.Flush(t.Context()); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("flush: %v", err)
		}
		time.Sleep(10 * refusedRest)
		synctest.Wait()
		if n := len(s.calls); n < 5 || n > 15 {
			t.Errorf("%d requests in ten minutes", n)
		}
		s.script(nil)
		time.Sleep(2 * refusedRest)
		synctest.Wait()
		if len(s.runs) != 5 || len(d.ops) != 0 {
			t.Errorf("%d runs, %d dropped", len(s.runs), len(d.ops))
		}
	})
}

func TestWithASpoolMemoryIsBoundedAndNothingIsRefused(t *testing.T) {
	m := new(memory)
	room := 10 * weight(pending(0))
	spooling(t, m, func(c *Config) { c.QueueBytes = room }, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(always(&reply{hang: true}))
		for n := range 500 {
			submit(t, b, post(pending(n)))
			if n%50 == 0 {
				time.Sleep(time.Second)
			}
			if got := b.Stats().QueuedBytes; got > room+2*weight(pending(0)) {
				t.Fatalf("%d bytes are held", got)
			}
		}
		s.script(nil)
		time.Sleep(2 * time.Minute) // for the request that hangs
		synctest.Wait()
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.runs) != 500 || m.left(t) != 0 {
			t.Errorf("%d runs, %d left in the spool", len(s.runs), m.left(t))
		}
	})
}

func TestAFullSpoolLeavesRunsToMemory(t *testing.T) {
	m := &memory{full: true}
	spooling(t, m, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		submit(t, b, post(pending(1)))
		m.full = false
		submit(t, b, patch(ended(1)), post(pending(2)))
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.field(ended(1).ID.String(), "outputs"); got != `{"done":1}` || len(s.runs) != 2 {
			t.Errorf("outputs %s of %d runs", got, len(s.runs))
		}
		if got := b.Stats(); got.Unspooled != 1 || got.Delivered != 3 {
			t.Errorf("%+v", got)
		}
	})
}

func TestShutdownLeavesTheRestToTheNextProcess(t *testing.T) {
	m := new(memory)
	spooling(t, m, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(always(&reply{hang: true}))
		submit(t, b, turn(1, 3)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if len(d.ops) != 0 || m.left(t) != 8 {
			t.Errorf("%d dropped, %d left in the spool", len(d.ops), m.left(t))
		}
		if err := b.Submit(post(pending(9))); !errors.Is(err, ErrShutdown) || m.left(t) != 8 {
			t.Errorf("%v, %d left in the spool", err, m.left(t))
		}
	})
	next := m.adopted()
	spooling(t, next, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.runs) != 4 || next.left(t) != 0 || len(s.calls) != 1 {
			t.Errorf("%d runs in %d requests, %d left in the spool", len(s.runs), len(s.calls), next.left(t))
		}
		for _, op := range turn(1, 3) {
			if s.field(op.Run.ID.String(), "end_time") == "" {
				t.Errorf("run %s has no end", op.Run.ID)
			}
		}
	})
}

func TestAShutdownThatMeetsARefusalEnds(t *testing.T) {
	m := new(memory)
	spooling(t, m, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(always(status(403)))
		submit(t, b, posts(0, 3)...)
		if err := b.Shutdown(t.Context()); !errors.Is(err, ErrForbidden) {
			t.Error(err)
		}
		if len(d.ops) != 0 || m.left(t) != 3 {
			t.Errorf("%d dropped, %d left in the spool", len(d.ops), m.left(t))
		}
	})
}

func TestASpooledRunThatIsRefusedIsReportedWithItsContent(t *testing.T) {
	m := new(memory)
	spooling(t, m, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		poison := ended(3)
		s.script(func(_ int, c call) *reply {
			if c.has["post "+poison.ID.String()] != nil {
				return status(422)
			}
			return nil
		})
		submit(t, b, append(posts(0, 3), post(poison))...)
		submit(t, b, posts(4, 8)...)
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.runs) != 7 || m.left(t) != 0 || len(d.ops) != 1 {
			t.Fatalf("%d runs, %d left in the spool, %d dropped", len(s.runs), m.left(t), len(d.ops))
		}
		if got := d.ops[0].Run; got.ID != poison.ID || got.Name != poison.Name || string(got.Outputs) != `{"done":3}` || d.why[0].Reason != ReasonRejected {
			t.Errorf("%+v: %v", got, d.why[0])
		}
	})
}

// A post arrived before the crash and its patch did not: both are in the spool
// still, merge, meet a 409, and the patch goes alone. While it is on its way the
// post is settled already.
func TestWhatAConflictSettlesIsDoneEvenIfTheRestFails(t *testing.T) {
	m := new(memory)
	spooling(t, m, nil, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		s.script(func(_ int, c call) *reply {
			if len(c.ops) == 1 && c.ops[0][:4] == "post" {
				return status(409)
			}
			return status(503)
		})
		submit(t, b, post(pending(1)), patch(ended(1)))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if m.left(t) != 1 || m.done[0] != 1 {
			t.Errorf("done: %v", m.done)
		}
		s.script(nil)
		if err := b.Flush(t.Context()); err != nil {
			time.Sleep(refusedRest)
			synctest.Wait()
		}
		if m.left(t) != 0 || s.field(ended(1).ID.String(), "outputs") != `{"done":1}` {
			t.Errorf("done: %v", m.done)
		}
	})
}

func TestAnEntryThatIsNoneIsDropped(t *testing.T) {
	m := &memory{entries: [][]byte{[]byte("nonsense")}}
	spooling(t, m, nil, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		submit(t, b, posts(0, 1)...)
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.runs) != 1 || m.left(t) != 0 || len(d.why) != 1 || d.why[0].Reason != ReasonInvalid {
			t.Errorf("%d runs, %d left in the spool, %v", len(s.runs), m.left(t), d.why)
		}
	})
}

var _ Spool = (*memory)(nil)

func TestAPatchThatTheSpoolHasNoRoomForDoesNotOvertakeItsPost(t *testing.T) {
	m, room := new(memory), 40*weight(pending(0))
	tune := func(c *Config) { c.QueueBytes, c.InFlight = room, 4 }
	spooling(t, m, tune, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		s.script(func(int, call) *reply { return &reply{delay: time.Minute, store: true, status: 202} })
		const runs = 120
		submit(t, b, posts(0, runs/2)...)
		time.Sleep(time.Second) // they leave the spool, and fill the queue
		submit(t, b, posts(runs/2, runs)...)
		m.mu.Lock()
		m.full = true
		m.mu.Unlock()
		kept := 0
		for n := range runs {
			if b.Submit(patch(ended(n))) == nil {
				kept++
			}
		}
		if kept < 30 || kept+len(d.ops) != runs {
			t.Errorf("%d patches kept, %d dropped", kept, len(d.ops))
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended, posted := 0, map[string]bool{}
		for _, c := range s.calls {
			for _, op := range c.ops {
				verb, id, _ := strings.Cut(op, " ")
				if verb == "patch" && !posted[id] {
					t.Errorf("the patch of %s came first", id)
				}
				posted[id] = true
			}
		}
		for id := range s.runs {
			if s.field(id, "outputs") != "" {
				ended++
			}
		}
		if len(posted) != runs || ended != kept {
			t.Errorf("%d of %d runs arrived, %d of %d patches", len(posted), runs, ended, kept)
		}
		if got := len(b.pipes[0].spool.late.posts); got != 0 {
			t.Errorf("%d posts are still expected", got)
		}
	})
}
