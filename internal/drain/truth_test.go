package drain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

func (b *bench) drops() map[string]int64 {
	b.t.Helper()
	drops, err := b.state.Drops()
	if err != nil {
		b.t.Fatal(err)
	}
	return drops
}

func (b *bench) status() Status {
	return ReadStatus(b.state, time.Now(), func(journal.Proc) bool { return false })
}

func TestWhatExpiresBeforeADestinationOfAnotherShellHasItIsCounted(t *testing.T) {
	b := newBench(t)
	far := newServer()
	far.fail = func(int, bool) error { return errDown }
	dest := far.destination("far")
	dest.Past = false
	b.cfg.Destinations = append(b.cfg.Destinations, dest)
	for _, to := range []string{"far", "far", "elsewhere"} { // the last is for a place that was never seen
		err := b.s.Append(journal.Entry{Event: "tool", At: began, Data: []byte("{}"), Policy: journal.Policy{To: to}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.drain(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	old(t, b.s, 30*24*time.Hour)
	b.cfg.Destinations = b.cfg.Destinations[:1] // this shell has no key
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.status().Dropped[journal.DropExpired]; got != 2 {
		t.Errorf("%d expired, want 2", got)
	}
}

func TestASessionDoesNotWaitForADestinationThatItIsNotFor(t *testing.T) {
	b := newBench(t)
	for _, event := range []string{"start", "stop", "end"} {
		b.hook(event, toyData{})
	}
	b.mustDrain() // and later another destination is configured, in another shell
	if _, err := b.state.UpdateDestination("late", func(r *journal.Destination) { r.Since = time.Now() }); err != nil {
		t.Fatal(err)
	}
	old(t, b.s, 2*time.Hour)
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.s.Dir()); err == nil || len(b.drops()) > 0 {
		t.Errorf("kept (%v), or counted: %v", err, b.drops())
	}
}

func TestATimeToComeStopsNoDelivery(t *testing.T) {
	b := newBench(t)
	b.cfg.Destinations[0].Past = false
	wrong := time.Now().AddDate(70, 0, 0)
	_, err := b.state.UpdateDestination("one", func(r *journal.Destination) {
		r.Since, r.NotBefore, r.Delivered = wrong, wrong, wrong
	})
	if err != nil {
		t.Fatal(err)
	}
	b.hookAt(b.s, "start", time.Now(), toyData{})
	b.hookAt(b.s, "stop", time.Now(), toyData{})
	b.mustDrain()
	b.want("Toy Turn")
	if r, err := b.state.Destination("one"); err != nil || r.Since.After(time.Now()) || !r.NotBefore.IsZero() || r.Delivered.After(time.Now()) {
		t.Errorf("the record stays wrong: %+v, %v", r, err)
	}
	future := time.Now().AddDate(70, 0, 0)
	b.hookAt(b.s, "end", time.Now(), toyData{})
	if err := os.Chtimes(filepath.Join(b.s.Dir(), "journal.jsonl"), future, future); err != nil {
		t.Fatal(err)
	}
	if err := b.drainer().All(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.s.Dir()); err == nil {
		t.Error("a session that is over was kept for 70 years")
	}
}

func TestALineThatIsNoEntryIsLostOnce(t *testing.T) {
	b := newBench(t)
	b.cfg.Destinations = append(b.cfg.Destinations, newServer().destination("two"))
	b.hook("start", toyData{})
	b.write(filepath.Join(b.s.Dir(), "journal.jsonl"), "garbage", "garbage")
	b.hook("stop", toyData{})
	b.mustDrain()
	for _, id := range []string{"one", "two"} {
		if err := os.Remove(filepath.Join(b.s.Dir(), "checkpoint."+id+".json")); err != nil {
			t.Fatal(err)
		}
	}
	b.mustDrain()
	old(t, b.s, 30*24*time.Hour)
	b.write(filepath.Join(b.s.Dir(), "journal.jsonl"), "garbage that no drainer reads")
	old(t, b.s, 30*24*time.Hour)
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if drops := b.drops(); drops[journal.DropCorrupt] != 3 || drops[journal.DropExpired] != 0 {
		t.Errorf("drops %v, want 3 lines", drops)
	}
}

func TestARunThatWasShortenedIsNotLost(t *testing.T) {
	b := newBench(t)
	b.cfg.Destinations[0].Export = func(ctx context.Context, ops []runtypes.Op) (exporter.Receipt, error) {
		rest, err := b.server.export(ctx, ops)
		return exporter.Receipt{Rest: rest, Shortened: 1}, err // also of one that fails
	}
	b.hook("start", toyData{})
	b.server.fail = func(call int, _ bool) error {
		if call == 1 {
			return errDown
		}
		return nil
	}
	if err := b.drain(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	b.mustDrainInsisting()
	if s := b.status(); s.Shortened != 1 || len(s.Dropped) > 0 {
		t.Errorf("%d shortened, dropped %v", s.Shortened, s.Dropped)
	}
}

// mustDrainInsisting drains even to a destination that rests.
func (b *bench) mustDrainInsisting() {
	b.t.Helper()
	b.cfg.Insist = true
	b.mustDrain()
}

func TestADestinationThatCannotBeUsedIsSaidAndHoldsUpNoOther(t *testing.T) {
	b := newBench(t)
	broken := Destination{ID: "store", Name: "local store", Past: true, Broken: errors.New("not a store")}
	b.cfg.Destinations = append([]Destination{broken}, b.cfg.Destinations...)
	b.hook("start", toyData{})
	if err := b.drain(); err == nil || !strings.Contains(err.Error(), "local store: not a store") {
		t.Errorf("got %v", err)
	}
	b.want("Toy Turn (open)")
	s := b.status()
	if d := s.Destinations[1]; d.ID != "store" || d.Error != "not a store" || d.Failures != 1 || !d.Resting {
		t.Errorf("status %+v", d)
	}
	if err := b.drain(); err != nil {
		t.Errorf("tried again while it rests: %v", err)
	}
	b.cfg.Insist = true
	if err := b.drainer().All(t.Context(), true); err == nil || b.status().Destinations[1].Failures != 2 {
		t.Errorf("somebody asked, and is told %v", err)
	}
	b.cfg.Destinations[0].Broken, b.cfg.Destinations[0].Export = nil, Plain(newServer().export) // it was repaired
	b.mustDrain()
	if d := b.status().Destinations[1]; d.Failures > 0 || d.Resting {
		t.Errorf("status %+v", d)
	}
}

func TestADestinationThatCannotBeUsedIsLeftOutThoughItsRestEndsMeanwhile(t *testing.T) {
	b := newBench(t)
	var late atomic.Int64
	b.cfg.Now = func() time.Time { return began.Add(time.Duration(late.Load())) }
	slow := b.server.destination("one")
	slow.Export = Plain(func(ctx context.Context, ops []runtypes.Op) ([]runtypes.Op, error) {
		late.Add(int64(time.Hour))
		return b.server.export(ctx, ops)
	})
	b.cfg.Destinations = []Destination{{ID: "store", Name: "local store", Past: true, Broken: errors.New("not a store")}, slow}
	b.hook("start", toyData{})
	if err := b.drain(); err == nil {
		t.Error("nobody said that a destination cannot be used")
	}
	late.Store(0)
	b.hook("stop", toyData{})
	if err := b.drain(); err != nil {
		t.Errorf("said again while it rests: %v", err)
	}
	b.want("Toy Turn")
}

func TestAFenceInTheJournalTellsNeitherWhoseItIsNorWhen(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(b.s.Dir(), "journal.jsonl")
	if err := b.s.Append(journal.Entry{Event: "tool", At: began, Data: []byte("{}"), Policy: journal.Policy{To: "one", Key: "theirs"}}); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, slices.Concat([]byte("\n"), line, []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if !b.drainer().foreign(b.s, Destination{ID: "one", Key: "ours"}) {
		t.Error("what was recorded with another key goes out with ours")
	}
	if at, err := firstUntaken(b.s); err != nil || !at.Equal(began) {
		t.Errorf("the first entry is of %v, %v", at, err)
	}
}

func TestOneBadFileDoesNotHideTheRestOfTheStatus(t *testing.T) {
	b := newBench(t)
	b.cfg.Destinations = append(b.cfg.Destinations, newServer().destination("two"))
	b.hook("start", toyData{})
	b.mustDrain()
	if err := b.state.Drop(journal.DropFull, 3); err != nil {
		t.Fatal(err)
	}
	dir := b.state.Dir()
	b.write(filepath.Join(dir, "dropped.jsonl"), strings.Repeat("x", 70<<10))
	b.write(filepath.Join(dir, "sessions", "notes"), "no folder")
	b.write(filepath.Join(dir, "destinations", "garbled.json"), "{")
	b.write(filepath.Join(dir, "dead"), "no folder")
	for _, path := range []string{filepath.Join(dir, "destinations", "folder.json"), filepath.Join(b.s.Dir(), "checkpoint.two.json")} {
		_ = os.Remove(path)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := b.status()
	if len(s.Destinations) != 2 || len(s.Sessions) != 1 || s.Sessions[0].Session != "thread" || s.Sessions[0].Problem == "" {
		t.Errorf("got %+v", s)
	}
	if s.Dropped[journal.DropFull] != 3 || s.Dropped[journal.DropCount] != 1 {
		t.Errorf("dropped %v", s.Dropped)
	}
	problems := strings.Join(s.Problems, "\n")
	for _, name := range []string{"garbled.json", "folder.json", "dead"} {
		if !strings.Contains(problems, name) {
			t.Errorf("nothing is said of %s: %s", name, problems)
		}
	}
}

func TestOneBadFileDoesNotStopTheOtherDeliveries(t *testing.T) {
	b := newBench(t)
	b.cfg.Destinations = append(b.cfg.Destinations, newServer().destination("two"))
	b.hook("start", toyData{})
	bad := b.state.Session("toy", "bad")
	b.hookAt(bad, "start", began, toyData{})
	dir := b.state.Dir()
	b.write(filepath.Join(dir, "sessions", "notes"), "no folder")
	for _, path := range []string{filepath.Join(dir, "destinations", "two.json"), filepath.Join(bad.Dir(), "checkpoint.one.json")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	err := b.drainer().All(t.Context(), true)
	if err == nil || !strings.Contains(err.Error(), "two.json") || !strings.Contains(err.Error(), "checkpoint.one.json") {
		t.Errorf("got %v", err)
	}
	b.want("Toy Turn (open)")
}

func TestStatusCanBePrinted(t *testing.T) {
	b := newBench(t)
	b.s = b.state.Session("toy", "\x1b[31mred\r\nforged: line\u202e\x00"+strings.Repeat("x", 10_000))
	b.cfg.Destinations[0].Name = "one\x1b[2J"
	b.hook("start", toyData{})
	b.mustDrain()
	s := b.status()
	session, name := s.Sessions[0].Session, s.Destinations[0].Name
	if strings.ContainsAny(session+name, "\x1b\r\n\x00\u202e") || len(session) > 600 || !strings.Contains(session, "red") {
		t.Errorf("session %q, destination %q", session, name)
	}
}
