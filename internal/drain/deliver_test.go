package drain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestATurnArrivesAtEveryDestination(t *testing.T) {
	b := newBench(t)
	other := newServer()
	b.cfg.Destinations = append(b.cfg.Destinations, other.destination("two"))
	b.hook("start", toyData{Prompt: "hi"})
	b.hook("tool", toyData{Tool: "bash"})
	b.mustDrain()
	b.want("Toy Turn (open), bash")
	b.hook("stop", toyData{})
	b.mustDrain()
	b.want("Toy Turn, bash")
	if !slices.Equal(other.state(), b.server.state()) {
		t.Errorf("the destinations differ: %v, %v", other.state(), b.server.state())
	}
	if want := "[post Toy Turn post bash patch Toy Turn]"; fmt.Sprint(b.server.order) != want {
		t.Errorf("writes %v, want %s", b.server.order, want)
	}
	b.mustDrain()
	if b.server.again+len(b.server.sizes) != 2 {
		t.Errorf("something was sent again: %v", b.server.sizes)
	}
}

func TestNoHookIsStrandedWhenADrainerStops(t *testing.T) {
	for trial := range 40 {
		b := newBench(t)
		b.cfg.Linger = 1 // and then it stops
		var hooks sync.WaitGroup
		for i := range 5 {
			hooks.Go(func() { // append, look at the lock, start a drainer if it is free
				b.hook("tool", toyData{Tool: fmt.Sprint("t", i)})
				if lock, err := b.s.TryDrain(); err == nil {
					lock.Unlock()
					_ = b.drain()
				}
			})
		}
		hooks.Wait()
		if n := len(b.server.runs); n != 5 {
			t.Fatalf("trial %d: %d of 5 events arrived", trial, n)
		}
	}
}

func TestADrainerAtWorkIsLeftAloneOrWaitedFor(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{})
	lock, err := b.s.TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	b.mustDrain()
	b.want("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.drainer().Deliver(ctx, b.s.Key(), true); !errors.Is(err, context.Canceled) {
		t.Errorf("gave up with %v", err)
	}
	done := make(chan error)
	go func() { done <- b.drainer().Deliver(t.Context(), b.s.Key(), true) }()
	lock.Unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.want("Toy Turn (open)")
}

func TestADestinationThatHangsDoesNotHoldUpAnother(t *testing.T) {
	b := newBench(t)
	hung, release := make(chan struct{}), make(chan struct{})
	b.cfg.Destinations = append([]Destination{{ID: "hangs", Past: true, Export: Plain(func(ctx context.Context, ops []runtypes.Op) ([]runtypes.Op, error) {
		close(hung)
		<-release
		return ops, errDown
	})}}, b.cfg.Destinations...)
	b.hook("start", toyData{})
	done := make(chan error)
	go func() { done <- b.drain() }()
	<-hung
	b.hook("tool", toyData{Tool: "bash"}) // while it hangs
	for b.server.names() != "Toy Turn (open), bash" {
		time.Sleep(time.Millisecond)
	}
	close(release)
	if err := <-done; !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
}

func TestAFailingDestinationIsLeftAloneByEverybodyForAWhile(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	b.cfg.Now = func() time.Time { return now }
	b.server.fail = func(int, bool) error { return errDown }
	b.hook("start", toyData{})
	for range 3 {
		_ = b.drain()
	}
	if n := len(b.server.sizes); n != 1 {
		t.Errorf("%d tries, want 1", n)
	}
	record, err := b.state.Destination("one")
	if err != nil || record.Failures != 1 || !record.NotBefore.After(now) || record.NotBefore.After(now.Add(time.Second)) {
		t.Errorf("record %+v, %v", record, err)
	}
	now = record.NotBefore
	_ = b.drain()
	if again, _ := b.state.Destination("one"); again.Failures != 2 {
		t.Errorf("record %+v", again)
	}
	b.server.fail = nil
	b.cfg.Insist = true // somebody is waiting
	b.mustDrain()
	b.want("Toy Turn (open)")
	if record, _ = b.state.Destination("one"); record.Failures != 0 || record.Error != "" || !record.Delivered.Equal(now.UTC()) {
		t.Errorf("record %+v after a success", record)
	}
}

func TestADestinationThatIsDownIsTriedInOneSessionOnly(t *testing.T) {
	b := newBench(t)
	b.cfg.Insist = true
	b.server.fail = func(int, bool) error { return errDown }
	for i := range 5 {
		b.hookAt(b.state.Session("toy", fmt.Sprint(i)), "start", began, toyData{})
	}
	if err := b.drainer().All(t.Context(), false); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
	if n := len(b.server.sizes); n != 1 {
		t.Errorf("%d tries, want 1", n)
	}
}

func TestARefusedKeyRestsUntilSomebodyMayHaveActed(t *testing.T) {
	if got := rest(1, &exporter.StatusError{Status: 401}); got != refusedRest {
		t.Errorf("401 rests for %v", got)
	}
	for failures, most := range map[int]time.Duration{1: time.Second, 3: 4 * time.Second, 11: longestRest, 500: longestRest} {
		if got := rest(failures, errDown); got < most/2 || got > most {
			t.Errorf("after %d failures %v, want %v to %v", failures, got, most/2, most)
		}
	}
	if got := rest(1, &exporter.TemporaryError{RetryAfter: time.Minute}); got != time.Minute {
		t.Errorf("Retry-After is a floor: %v", got)
	}
}

func TestANewDestinationDoesNotGetThePast(t *testing.T) {
	b := newBench(t)
	past := time.Now().Add(-30 * time.Minute)
	b.hookAt(b.s, "start", past, toyData{})
	b.hookAt(b.s, "tool", past, toyData{Tool: "old"})
	b.mustDrain() // the store has it
	configured := newServer()
	late := configured.destination("late")
	late.Past = false
	b.cfg.Destinations = append(b.cfg.Destinations, late)
	b.hookAt(b.s, "tool", time.Now(), toyData{Tool: "of an old turn"})
	b.hookAt(b.s, "stop", time.Now(), toyData{})
	b.hookAt(b.s, "start", time.Now(), toyData{})
	b.hookAt(b.s, "tool", time.Now(), toyData{Tool: "new"})
	b.hookAt(b.s, "stop", time.Now(), toyData{})
	b.mustDrain()
	if got := configured.names(); got != "Toy Turn, new" {
		t.Errorf("it got %q", got)
	}
	b.want("Toy Turn, old, of an old turn, Toy Turn, new")
}

func TestTheFirstTurnAfterConfiguringIsNotThePast(t *testing.T) {
	b := newBench(t)
	b.cfg.Destinations[0].Past = false
	b.hookAt(b.s, "start", time.Now().Add(-time.Minute), toyData{}) // no drainer came through for a while
	b.hookAt(b.s, "stop", time.Now(), toyData{})
	b.mustDrain()
	b.want("Toy Turn")
}

func TestNothingLeavesUnredacted(t *testing.T) {
	b := newBench(t)
	b.cfg.Redact = func(r *runtypes.Run) error {
		if r.Name == "poison" {
			return errors.New("cannot vouch for it")
		}
		r.Inputs = []byte(`{"redacted":true}`)
		return nil
	}
	b.hook("start", toyData{Prompt: "secret"})
	b.hook("tool", toyData{Tool: "poison"})
	b.hook("tool", toyData{Tool: "bash"})
	b.mustDrain()
	b.want("Toy Turn (open), bash")
	if got := strings.Join(b.server.state(), ""); strings.Contains(got, "secret") {
		t.Error(got)
	}
	if drops, _ := b.state.Drops(); drops[journal.DropRedaction] != 1 {
		t.Errorf("drops %v", drops)
	}
}

func TestTheRemoteIsLookedUpOnceForATurn(t *testing.T) {
	b := newBench(t)
	var asked atomic.Int32
	b.cfg.Remote = func(_ context.Context, dir string) string {
		return fmt.Sprintf("https://example.com/%s/%d.git", strings.Trim(dir, "/"), asked.Add(1))
	}
	b.hook("start", toyData{})
	b.mustDrain()
	b.hook("tool", toyData{Tool: "bash"})
	b.hook("stop", toyData{})
	b.mustDrain()
	for _, w := range b.server.runs {
		if got := w.Metadata()["git_repo_url"]; got != "https://example.com/src/1.git" {
			t.Errorf("%s has %v", w.Name, got)
		}
	}
	b.hook("start", toyData{})
	b.mustDrain()
	if asked.Load() != 2 {
		t.Errorf("asked %d times for two turns", asked.Load())
	}
}

func TestAReducersFaultConcernsOneEvent(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{})
	b.hook("panic", toyData{})
	if err := b.s.Append(journal.Entry{Event: "tool", Data: []byte(`"no object"`)}); err != nil {
		t.Fatal(err)
	}
	b.hook("stop", toyData{})
	b.mustDrain()
	b.want("Toy Turn")
	if drops, _ := b.state.Drops(); drops[journal.DropReducer] != 2 {
		t.Errorf("drops %v", drops)
	}
}

func TestABacklogGoesOutInPartsOfBoundedSize(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxOps = 3
	for i := range 20 {
		b.hook("tool", toyData{Tool: fmt.Sprint(i)})
	}
	b.mustDrain()
	if len(b.server.runs) != 20 || slices.Max(b.server.sizes) > 3 {
		t.Errorf("%d runs in %v", len(b.server.runs), b.server.sizes)
	}
	b.cfg.MaxOps, b.cfg.MaxBytes = 100, 5000
	for i := range 20 {
		b.hook("tool", toyData{Tool: fmt.Sprint("more", i)})
	}
	b.mustDrain()
	if len(b.server.runs) != 40 || slices.Max(b.server.sizes) > 3 {
		t.Errorf("%d runs in %v", len(b.server.runs), b.server.sizes)
	}
}

func TestAnUnknownCheckpointVersionStopsItsDestinationAlone(t *testing.T) {
	b := newBench(t)
	other := newServer()
	b.cfg.Destinations = append(b.cfg.Destinations, other.destination("two"))
	b.hook("start", toyData{})
	path := filepath.Join(b.s.Dir(), "checkpoint.two.json")
	if err := os.WriteFile(path, []byte(`{"version":9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.drain(); !errors.Is(err, journal.ErrVersion) {
		t.Errorf("got %v", err)
	}
	b.want("Toy Turn (open)")
	if raw, _ := os.ReadFile(path); string(raw) != `{"version":9}` || len(other.runs) > 0 {
		t.Errorf("it was touched: %s, %v", raw, other.names())
	}
	status := ReadStatus(b.state, time.Now(), func(journal.Proc) bool { return false })
	if !strings.Contains(status.Sessions[0].Problem, "version 9") {
		t.Errorf("status %+v", status.Sessions)
	}
}

func TestAStateThatCannotBeWrittenIsAnError(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{})
	if err := os.WriteFile(filepath.Join(b.state.Dir(), "destinations"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.drain(); err == nil {
		t.Error("no error")
	}
	b.want("")
}

func TestRefusedRunsAreKeptAndCountedOnceWhateverTheirWrites(t *testing.T) {
	b := newBench(t)
	keep := Letters(b.state, "one", b.drainer().log)
	run := runtypes.Root(uuid.New(), began, runtypes.Identity{Runtime: "Toy"})
	ops := []runtypes.Op{{Verb: runtypes.Post, Run: run}, {Verb: runtypes.Patch, Run: run}}
	for range 2 {
		keep(ops, &exporter.DropError{Reason: exporter.ReasonRejected, Err: errDown})
	}
	keep(ops, &exporter.DropError{Reason: exporter.ReasonRedaction, Err: errDown})
	drops, _ := b.state.Drops()
	if n, _ := b.state.CountDead("one"); n != 1 || drops[journal.DropRefused] != 1 || drops[journal.DropRedaction] != 1 {
		t.Errorf("%d runs, drops %v", n, drops)
	}
}

func TestStatusSaysWhatWaits(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{})
	b.mustDrain()
	b.hook("tool", toyData{Tool: "a"})
	b.hook("tool", toyData{Tool: "b"})
	_ = b.state.Drop(journal.DropFull, 3)
	status := ReadStatus(b.state, time.Now(), func(journal.Proc) bool { return true })
	if len(status.Sessions) != 1 || len(status.Destinations) != 1 {
		t.Fatalf("got %+v", status)
	}
	s := status.Sessions[0]
	if s.At["one"].Queued != 2 || s.Queued != 2 || s.Open != 1 || !s.Gone || s.Session != "thread" || status.Dropped[journal.DropFull] != 3 {
		t.Errorf("got %+v, dropped %v", s, status.Dropped)
	}
	if d := status.Destinations[0]; d.Delivered.IsZero() || d.Resting {
		t.Errorf("destination %+v", d)
	}
}

func TestContentCanBeLeftOut(t *testing.T) {
	run := runtypes.Root(uuid.New(), began, runtypes.Identity{})
	run.Inputs, run.Outputs, run.Error = []byte(`{"a":1}`), []byte(`{"b":1}`), "secret"
	run.Events = []runtypes.RunEvent{{Name: "new_token", Data: map[string]any{"token": "secret"}}}
	runtypes.StripContent(run)
	wire, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: run})
	text := fmt.Sprintf("%s%s%s%s", wire.Inputs, wire.Outputs, wire.Error, wire.Events)
	if err != nil || strings.Contains(text, "secret") || wire.Error == "" || wire.Metadata()["ls_tracing_mode"] != "metadata" {
		t.Errorf("%s, %v, %v", text, wire.Metadata(), err)
	}
}

func TestAMachineThatMetALimitSendsOneExportAMinuteForAnHour(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	b.cfg.Now = func() time.Time { return now }
	b.cfg.MaxOps = 1 // an export each
	b.server.fail = func(int, bool) error {
		return &exporter.TemporaryError{Err: &exporter.StatusError{Status: 429}}
	}
	b.hook("start", toyData{})
	for i := range 4 {
		b.hook("tool", toyData{Tool: fmt.Sprint("t", i)})
	}
	_ = b.drain()
	b.server.fail = nil
	met := now
	for sent := 1; sent <= 2; sent++ {
		record, _ := b.state.Destination("one")
		if rest := record.NotBefore.Sub(now); rest < 29*time.Second || rest > time.Minute {
			t.Errorf("before export %d it is left alone for %v", sent, rest)
		}
		b.mustDrain()
		now = record.NotBefore
		b.mustDrain()
		if got := len(b.server.runs); got != sent {
			t.Errorf("%d runs arrived, want %d", got, sent)
		}
	}
	now = met.Add(time.Hour)
	b.mustDrain()
	if got := len(b.server.runs); got != 5 {
		t.Errorf("an hour later %d runs are there, want 5", got)
	}
	if record, _ := b.state.Destination("one"); !record.NotBefore.IsZero() {
		t.Errorf("an hour later it is still left alone: %+v", record)
	}
}

func TestWhoAsksForADeliveryGetsAllOfItAlsoAfterALimit(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxOps, b.cfg.Insist = 1, true
	b.server.fail = func(call int, _ bool) error {
		if call == 1 {
			return &exporter.StatusError{Status: 429}
		}
		return nil
	}
	b.hook("start", toyData{})
	b.hook("tool", toyData{Tool: "bash"})
	_ = b.drain()
	b.mustDrain()
	b.want("Toy Turn (open), bash")
}

func TestARunDoesNotOutliveItsDelivery(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a", "b", "c"} {
		b.hook("tool", toyData{Tool: name})
	}
	b.cfg.MaxBytes = 5000 // two runs are more
	var before []weak.Pointer[runtypes.Run]
	b.cfg.Destinations[0].Export = Plain(func(_ context.Context, ops []runtypes.Op) ([]runtypes.Op, error) {
		runtime.GC()
		for i, run := range before {
			if run.Value() != nil {
				t.Errorf("run %d is held while run %d is sent", i, len(before))
			}
		}
		for _, op := range ops {
			before = append(before, weak.Make(op.Run))
		}
		return nil, nil
	})
	b.mustDrain()
	if len(before) != 3 {
		t.Errorf("%d runs", len(before))
	}
}
