package exporter

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// traffic watches the requests that are under way at the same time.
type traffic struct {
	*langsmith
	mu     sync.Mutex
	now    map[string]int // runs under way
	known  map[string]bool
	flying int
	most   int
	faults []string
}

func (f *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/info" {
		return f.langsmith.RoundTrip(r)
	}
	c, r := f.peek(r)
	f.mu.Lock()
	f.flying++
	f.most = max(f.most, f.flying)
	for _, op := range c.ops {
		verb, id, _ := strings.Cut(op, " ")
		if f.now[id] > 0 {
			f.faults = append(f.faults, op+" while another write of its run is under way")
		}
		if verb == "patch" && !f.known[id] {
			f.faults = append(f.faults, op+" before its post arrived")
		}
		f.now[id]++
	}
	f.mu.Unlock()
	resp, err := f.langsmith.RoundTrip(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flying--
	for _, op := range c.ops {
		_, id, _ := strings.Cut(op, " ")
		f.now[id]--
		f.known[id] = f.known[id] || err == nil && resp.StatusCode == http.StatusAccepted
	}
	return resp, err
}

func (f *traffic) peek(r *http.Request) (call, *http.Request) {
	body, _ := r.GetBody()
	seen := r.Clone(r.Context())
	seen.Body = body
	c, err := readCall(seen)
	if err != nil {
		f.t.Error(err)
	}
	return c, r
}

// turn is a root with children, each written twice, in the order of an agent.
func turn(n, children int) (ops []runtypes.Op) {
	root := pending(n)
	ops = append(ops, post(root))
	for i := range children {
		child := runtypes.Tool(root, idgen.Run(someTime, "child", root.ID.String(), string(rune('a'+i))), someTime, "bash")
		ended := *child
		ops = append(ops, post(child), patch(runtypes.Finish(&ended, someTime.Add(time.Second))))
	}
	return append(ops, patch(ended(n)))
}

func TestSeveralRequestsAreUnderWayAndNoPatchOvertakesItsPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 2))
		f := &traffic{langsmith: newLangsmith(t), now: map[string]int{}, known: map[string]bool{}}
		f.script(func(n int, _ call) *reply {
			rep := &reply{status: 202, store: true, delay: time.Duration(n*7919%100) * time.Millisecond}
			if n%5 == 4 {
				rep.status, rep.store = 503, false
			}
			return rep
		})
		cfg := config(f, nil)
		cfg.InFlight, cfg.MaxBatch = 4, 5
		b, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		want := map[uuid.UUID]bool{}
		for n := range 40 {
			for _, op := range turn(n, 3) {
				want[op.Run.ID] = true
				submit(t, b, op)
				if rnd.IntN(3) == 0 {
					time.Sleep(time.Duration(rnd.IntN(200)) * time.Millisecond)
				}
			}
		}
		if err := b.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		for id := range want {
			if f.field(id.String(), "end_time") == "" {
				t.Errorf("run %s has no end", id)
			}
		}
		if len(f.faults) > 0 {
			t.Errorf("%d faults, such as %s", len(f.faults), f.faults[0])
		}
		if f.most < 2 || f.most > 4 {
			t.Errorf("%d requests were under way at once", f.most)
		}
	})
}

func TestTracesTakeTurns(t *testing.T) {
	l := newLanes()
	for n := range 3 {
		for _, op := range turn(n, 1) {
			it := newItem(op)
			it.weight = 10
			l.add(it)
		}
	}
	if l.items != 6 || l.held != 6 || l.weight != 120 {
		t.Fatalf("%d items, %d held, weight %d", l.items, l.held, l.weight)
	}
	first := l.take(3, 1000, 100)
	if len(first.items) != 3 || len(first.lanes) != 2 || l.items != 2 || l.held != 3 {
		t.Errorf("took %d of %d traces, %d left, %d held", len(first.items), len(first.lanes), l.items, l.held)
	}
	second := l.take(100, 1000, 100)
	if len(second.items) != 2 {
		t.Errorf("took %d, although a trace is under way", len(second.items))
	}
	if none := l.take(100, 1000, 100); len(none.items) != 0 {
		t.Errorf("took %d more", len(none.items))
	}
	l.release(&first)
	if last := l.take(100, 1000, 100); len(last.items) != 1 || l.weight != 0 {
		t.Errorf("took %d at last, weight %d", len(last.items), l.weight)
	}
}
