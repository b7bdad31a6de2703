package drain

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

var errVague = &exporter.TemporaryError{Err: &exporter.StatusError{Status: 500}}

// passer is a bench whose one destination passes runs on, and says 500 to a request with
// a run that refuses says no to.
type passer struct {
	*bench
	now     time.Time
	refuses func(name string) bool
	tries   int
}

func newPasser(t *testing.T) *passer {
	p := &passer{bench: newBench(t), now: began, refuses: func(string) bool { return false }}
	p.cfg.Now, p.cfg.Insist = func() time.Time { return p.now }, true
	dest := &p.cfg.Destinations[0]
	dest.Ended = true
	dest.GiveUp = Letters(p.state, dest.ID, p.drainer().log)
	dest.Export = Plain(func(ctx context.Context, ops []runtypes.Op) ([]runtypes.Op, error) {
		p.tries++
		if slices.ContainsFunc(ops, func(op runtypes.Op) bool { return p.refuses(op.Run.Name) }) {
			return ops, errVague
		}
		return p.server.export(ctx, ops)
	})
	return p
}

// wait drains as often and as long as a session has to be stuck before anything is given up.
func (p *passer) wait() {
	p.t.Helper()
	for range stuckTries {
		if err := p.drain(); !errors.Is(err, errVague) {
			p.t.Fatal(err)
		}
		p.now = p.now.Add(stuckFor / (stuckTries - 1))
	}
}

func (p *passer) wantRefused(n int64) {
	p.t.Helper()
	drops, err := p.state.Drops()
	if err != nil || drops[journal.DropRefused] != n {
		p.t.Errorf("drops %v, %v; want %d refused", drops, err, n)
	}
	if dead, _ := p.state.CountDead("one"); dead != int(n) {
		p.t.Errorf("%d kept aside", dead)
	}
}

func names(list ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(list, name) }
}

func TestARunThatNeverGetsThroughIsGivenUpForTheOthers(t *testing.T) {
	p := newPasser(t)
	p.refuses = names("bad", "worse")
	for _, tool := range []string{"bad", "a", "b", "worse", "c", "d", "e"} {
		p.hook("tool", toyData{Tool: tool})
	}
	p.wait()
	p.want("")
	p.wantRefused(0)
	p.mustDrain()
	for _, tool := range []string{"a", "b", "c", "d", "e"} {
		if !slices.Contains(p.server.order, "post "+tool) {
			t.Errorf("%s did not arrive", tool)
		}
	}
	p.wantRefused(2)
	cp, err := p.s.Checkpoint("one")
	if err != nil || cp.Stuck != (journal.Stuck{}) || cp.Rejected != 2 || cp.Accepted != 5 {
		t.Errorf("%+v, %v", cp, err)
	}
	tried := p.tries
	p.mustDrain()
	if p.tries != tried {
		t.Error("something was sent again")
	}
	p.hook("tool", toyData{Tool: "bad"}) // the waiting begins anew
	if err := p.drain(); !errors.Is(err, errVague) {
		t.Error(err)
	}
	p.wantRefused(2)
}

func TestWhatGetsThroughBeforeARunEveryTimeDoesNotKeepIt(t *testing.T) {
	p := newPasser(t)
	p.cfg.MaxOps = 2
	p.refuses = names("bad")
	path := filepath.Join(t.TempDir(), "transcript")
	p.write(path, "a", "b", "c", "d", "bad", "e") // which come at once and go in parts
	p.hook("start", toyData{Path: path})
	p.wait()
	p.wantRefused(0)
	p.mustDrain()
	p.wantRefused(1)
	if len(p.server.runs) != 5 {
		t.Errorf("%d runs arrived", len(p.server.runs))
	}
}

func TestWhatIsDownForLongCostsNothing(t *testing.T) {
	p := newPasser(t)
	p.refuses = func(string) bool { return true }
	for _, tool := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		p.hook("tool", toyData{Tool: tool})
	}
	p.wait()
	p.now = p.now.Add(24 * time.Hour)
	p.tries = 0
	if err := p.drain(); !errors.Is(err, errVague) {
		t.Error(err)
	}
	if p.tries > 2*stuckLead+4 {
		t.Errorf("%d tries of something that is down", p.tries)
	}
	p.refuses = names()
	p.mustDrain()
	if len(p.server.runs) != 8 {
		t.Errorf("%d runs arrived", len(p.server.runs))
	}
	p.wantRefused(0)
}

// What came back while a run was being looked for is no proof against that run.
func TestARunThatGetsThroughAfterAllIsNotGivenUp(t *testing.T) {
	p := newPasser(t)
	p.refuses = func(string) bool { return true }
	p.hook("tool", toyData{Tool: "a"})
	p.hook("tool", toyData{Tool: "b"})
	p.wait()
	p.tries = 0
	p.refuses = func(string) bool { return p.tries < 3 } // both, then a alone; back at b
	p.mustDrain()
	if len(p.server.runs) != 2 {
		t.Errorf("%d runs arrived", len(p.server.runs))
	}
	p.wantRefused(0)
}

func TestALoneRunIsGivenUpOnceAnotherSessionGetsThrough(t *testing.T) {
	p := newPasser(t)
	p.refuses = names("bad")
	p.hook("tool", toyData{Tool: "bad"})
	p.wait()
	if err := p.drain(); !errors.Is(err, errVague) {
		t.Error(err)
	}
	p.wantRefused(0)
	p.now = p.now.Add(time.Minute)
	other := p.state.Session("toy", "other")
	p.hookAt(other, "tool", began, toyData{Tool: "good"})
	if err := p.drainer().Deliver(t.Context(), other.Key(), false); err != nil {
		t.Fatal(err)
	}
	p.mustDrain()
	p.want("good")
	p.wantRefused(1)
}

func TestASuccessThatAWrongClockPutAheadIsNoNewOne(t *testing.T) {
	p := newPasser(t)
	right := p.now
	p.now = right.Add(2 * stuckFor) // and at the end of the waiting that is no longer ahead
	p.hook("tool", toyData{Tool: "good"})
	p.mustDrain()
	p.now = right
	p.refuses = func(string) bool { return true }
	p.hook("tool", toyData{Tool: "late"})
	p.wait()
	for range 4 {
		if err := p.drain(); !errors.Is(err, errVague) {
			t.Error(err)
		}
		p.now = p.now.Add(stuckFor / 3)
	}
	p.wantRefused(0)
}

func TestOnlyAFivehundredIsInDoubt(t *testing.T) {
	for _, why := range []error{
		&exporter.TemporaryError{Err: &exporter.StatusError{Status: 503}}, &exporter.StatusError{Status: 401}, errDown,
	} {
		p := newPasser(t)
		p.cfg.Destinations[0].Export = Plain(func(_ context.Context, ops []runtypes.Op) ([]runtypes.Op, error) { return ops, why })
		p.hook("tool", toyData{Tool: "a"})
		for range 2 * stuckTries {
			if err := p.drain(); !errors.Is(err, why) {
				t.Fatal(err)
			}
			p.now = p.now.Add(stuckFor)
		}
		if cp, _ := p.s.Checkpoint("one"); cp.Stuck.Tries > 0 {
			t.Errorf("%v: %+v", why, cp.Stuck)
		}
		p.wantRefused(0)
	}
}
