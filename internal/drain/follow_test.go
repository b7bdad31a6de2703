package drain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// patient gives a configuration its real waits, for a bubble of synthetic time.
func (b *bench) patient() {
	b.cfg.Linger, b.cfg.Poll, b.cfg.Idle, b.cfg.Grace, b.cfg.Adopt = 0, 0, 0, 0, 0
}

func TestATranscriptsLinesFollowItsHooks(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "transcript")
	b.write(path, "before")
	b.hook("start", toyData{Path: path})
	b.mustDrain()
	b.want("Toy Turn (open), before")
	b.write(path, "grown")
	b.mustDrain()
	b.want("Toy Turn (open), grown, before")
	b.hook("stop", toyData{})
	b.write(path, "last")
	b.mustDrain()
	b.want("Toy Turn, grown, before")
	if b.server.again > 0 {
		t.Errorf("%d ops were sent twice", b.server.again)
	}
}

func TestALineIsNeverSeenBeforeTheHookThatRanBeforeIt(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	b.write(first, "x")
	b.write(second)
	var order []string
	agentActs := true
	b.cfg.Agents = toyAgents(func(_ *toyReducer, src integrations.Source, e integrations.Event) {
		if e.Kind != integrations.Grew {
			order = append(order, e.Kind)
			return
		}
		if agentActs { // right now: a hook, and then a line in a file not looked at so far
			agentActs = false
			b.hook("tool", toyData{Tool: "bash"})
			b.write(second, "line")
		}
		for line := range src.Lines(second, 0) {
			order = append(order, string(line.Data))
		}
	})
	b.hook("start", toyData{Path: first})
	b.mustDrain()
	b.mustDrain()
	// The reducer that saw the line too early was thrown away with what it knew.
	got := strings.Join(order, " ")
	if !strings.HasSuffix(got, "tool line") {
		t.Errorf("applied in the order %q", got)
	}
	b.want("Toy Turn (open), x, bash")
	if b.server.again > 0 {
		t.Errorf("%d ops were sent twice", b.server.again)
	}
}

func TestAFileEndsWhereItEndedWhenTheLookBegan(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "transcript")
	b.write(path, "one")
	look := newFiles(func(yield func(string) bool) { yield(path) })
	b.write(path, "two")
	read := func() (all string) {
		for line, err := range look.Lines(path, 0) {
			if err != nil {
				t.Fatal(err)
			}
			all += string(line.Data)
		}
		return all
	}
	if got := read(); got != "one" {
		t.Errorf("read %q", got)
	}
	look = newFiles(func(func(string) bool) {})
	if got := read(); got != "onetwo" || len(look.late) != 1 {
		t.Errorf("read %q, late %v", got, look.late)
	}
	b.write(path, "three")
	if got := read(); got != "onetwo" {
		t.Errorf("the end moved: %q", got)
	}
}

func TestMoreFilesThanAreReadAreAnErrorAndNotSomeOfThem(t *testing.T) {
	found := slices.Repeat([]string{"b", "a"}, maxGlob/2)
	if list, err := bounded(found); err != nil || len(list) != maxGlob || list[1] != "a" {
		t.Errorf("%d of %d, %v", len(list), maxGlob, err)
	}
	if list, err := bounded(append(found, "c")); err == nil || len(list) > 0 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

func TestOnlyRegularFilesOfBoundedSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	look := newFiles(func(func(string) bool) {})
	for _, path := range []string{filepath.Join(dir, "missing"), dir} {
		for _, err := range look.Lines(path, 0) {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	for name, size := range map[string]int64{"b": maxSmall, "a": maxSmall + 1} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if raw, err := look.File(path); (err == nil) != (size <= maxSmall) {
			t.Errorf("%d bytes: %d, %v", size, len(raw), err)
		}
	}
	found, err := look.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) != 2 || filepath.Base(found[0]) != "a" {
		t.Errorf("glob %v, %v", found, err)
	}
}

func TestADrainerLingersForMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.patient()
		b.hook("start", toyData{})
		begin := time.Now()
		done := make(chan error)
		go func() { done <- b.drainer().Run(t.Context(), b.s.Key()) }()
		time.Sleep(9 * time.Second)
		b.want("Toy Turn (open)")
		b.hook("tool", toyData{Tool: "bash"})
		time.Sleep(time.Second)
		b.want("Toy Turn (open), bash")
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < 18*time.Second || took > 21*time.Second {
			t.Errorf("it stayed %v, want 10 s after the last line", took)
		}
	})
}

func TestWhatWasPromisedIsWaitedForWithinBounds(t *testing.T) {
	for _, comes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.patient()
			path := filepath.Join(t.TempDir(), "transcript")
			b.hook("start", toyData{Path: path})
			b.hook("stop", toyData{}) // the transcript's last line is promised
			begin := time.Now()
			done := make(chan error)
			go func() { done <- b.drain() }()
			time.Sleep(time.Second)
			b.want("Toy Turn (open)")
			if comes {
				b.write(path, "last")
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			b.want("Toy Turn")
			took := time.Since(begin)
			if most := 1100 * time.Millisecond; comes && took > most || !comes && (took < 2*time.Second || took > 3*time.Second) {
				t.Errorf("comes %v: it took %v", comes, took)
			}
		})
	}
}

func TestAReducerThatHoldsRunsBackIsAskedForMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.patient()
		path := filepath.Join(t.TempDir(), "transcript")
		b.hook("start", toyData{Path: path, Step: 1})
		b.write(path, "one")
		b.write(path, "two")
		b.write(path, "three")
		if err := b.drain(); err != nil {
			t.Error(err)
		}
		b.want("Toy Turn (open), three, two, one")
	})
}

func TestATurnWhoseAgentDiedIsClosedAfterAllThatItWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.patient()
		path := filepath.Join(t.TempDir(), "transcript")
		gone := false
		b.cfg.Gone = func(p journal.Proc) bool { return p.PID == 7 && gone }
		b.hook("start", toyData{Path: path})
		b.mustDrain()
		b.mustDrain()
		b.want("Toy Turn (open)")
		b.write(path, "tool")
		gone = true
		b.mustDrain()
		b.want("Toy Turn (The agent's process ended), tool")
		if got := b.server.order[1]; got != "post tool" {
			t.Errorf("writes %v", b.server.order)
		}
		b.mustDrain()
		if b.server.again > 0 {
			t.Errorf("closed again: %v", b.server.order)
		}
	})
}

func TestAnAgentOfUnknownPidNeverCountsAsDead(t *testing.T) {
	b := newBench(t)
	b.cfg.Gone = nil // the system is asked
	raw := []byte(`{}`)
	for _, proc := range []journal.Proc{{}, {PID: 1 << 22}, {PID: os.Getpid()}} {
		if err := b.s.Append(journal.Entry{Event: "start", At: began, Data: raw, Proc: proc}); err != nil {
			t.Fatal(err)
		}
		b.mustDrain()
	}
	if strings.Count(b.server.names(), "(open)") != 1 || strings.Contains(b.server.names(), "ended") {
		t.Error(b.server.names())
	}
}

func TestSessionsThatNobodyLooksAfterAreAdoptedOldestFirst(t *testing.T) {
	b := newBench(t)
	b.cfg.Adopt = time.Minute
	var behind []*journal.Session
	for i, age := range []time.Duration{2 * time.Hour, 3 * time.Hour, 0} {
		s := b.state.Session("toy", fmt.Sprint("other", i))
		b.hookAt(s, "tool", began, toyData{Tool: fmt.Sprint("other", i)})
		old(t, s, age)
		behind = append(behind, s)
	}
	b.hook("tool", toyData{Tool: "own"})
	if err := b.drainer().Run(t.Context(), b.s.Key()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(b.server.order); got != "[post own post other1 post other0]" {
		t.Errorf("writes %s", got)
	}
	if err := b.drainer().All(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got := b.server.order[len(b.server.order)-1]; got != "post other2" {
		t.Errorf("drain of all sessions wrote %s last", got)
	}
	for _, s := range behind {
		if cp, err := s.Checkpoint("one"); err != nil || len(cp.Positions) == 0 {
			t.Errorf("%s: %+v, %v", s.Key(), cp, err)
		}
	}
}

func TestATurnWhoseAgentDiedUnnoticedIsAdopted(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{})
	b.mustDrain()
	b.cfg.Adopt = time.Hour // it was written to a moment ago
	b.cfg.Gone = func(journal.Proc) bool { return true }
	other := b.state.Session("toy", "other")
	b.hookAt(other, "tool", began, toyData{Tool: "bash"})
	if err := b.drainer().Run(t.Context(), other.Key()); err != nil {
		t.Fatal(err)
	}
	b.want("bash, Toy Turn (The agent's process ended)")
}

// old makes a session's journal look as old as that.
func old(t *testing.T, s *journal.Session, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	if err := os.Chtimes(filepath.Join(s.Dir(), "journal.jsonl"), at, at); err != nil {
		t.Fatal(err)
	}
}

func TestAFinishedSessionIsRemovedAndAResumeCountsOn(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "transcript")
	b.write(path, "first", "last")
	b.hook("start", toyData{Path: path})
	b.hook("stop", toyData{})
	b.hook("end", toyData{})
	b.mustDrain()
	b.want("Toy Turn, first")
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.s.Dir()); err != nil {
		t.Fatalf("it was removed at once: %v", err)
	}
	old(t, b.s, 2*time.Hour)
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("it was not removed: %v", err)
	}
	b.hookAt(b.s, "start", began.Add(time.Hour), toyData{Path: path})
	b.write(path, "second")
	b.mustDrain()
	b.want("Toy Turn, first, Toy Turn (open), second")
	turns := map[string]bool{}
	for _, w := range b.server.runs {
		turns[fmt.Sprint(w.Metadata()["turn_number"])] = true
	}
	if len(turns) != 2 || b.server.again > 0 {
		t.Errorf("turn numbers %v, %d ops twice", turns, b.server.again)
	}
}

func TestASessionInUseOrBehindIsKept(t *testing.T) {
	b := newBench(t)
	other := newServer()
	b.cfg.Destinations = append(b.cfg.Destinations, other.destination("two"))
	other.fail = func(int, bool) error { return errDown }
	b.hook("start", toyData{})
	b.hook("stop", toyData{})
	b.hook("end", toyData{})
	_ = b.drain()
	old(t, b.s, 24*time.Hour)
	b.cfg.Destinations = b.cfg.Destinations[:1] // another shell does not know the second
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.s.Dir()); err != nil {
		t.Errorf("removed though a destination is behind: %v", err)
	}
	lock, err := b.s.TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	old(t, b.s, 30*24*time.Hour)
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.s.Dir()); err != nil {
		t.Errorf("removed though it is in use: %v", err)
	}
}

func TestBeyondTheLimitsTheOldestGoAndAreCounted(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxTotal = 400
	b.server.fail = func(int, bool) error { return errDown }
	var sessions []*journal.Session
	for i, age := range []time.Duration{time.Hour, 2 * time.Hour, 8 * 24 * time.Hour} {
		s := b.state.Session("toy", fmt.Sprint(i))
		for range i + 1 {
			b.hookAt(s, "tool", began, toyData{Tool: "x"})
		}
		old(t, s, age)
		sessions = append(sessions, s)
	}
	if err := b.drainer().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, s := range sessions {
		_, err := os.Stat(s.Dir())
		if kept := err == nil; kept != (i == 0) {
			t.Errorf("session %d: kept %v", i, kept)
		}
	}
	if drops, _ := b.state.Drops(); drops[journal.DropExpired] != 2+3 {
		t.Errorf("drops %v", drops)
	}
}
