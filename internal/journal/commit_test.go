package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestACheckpointIsReplacedInOneStep(t *testing.T) {
	s := open(t).Session("toy", "s")
	add(t, s, "one")
	want := Checkpoint{Positions: Positions{journalName: 5}, Reducer: json.RawMessage(`{"n":12345678901234567890}`), Status: Status{Open: 1, Watch: []string{"/t"}}}
	if err := s.Commit("store", want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Checkpoint("store")
	if err != nil || got.Positions[journalName] != 5 || string(got.Reducer) != string(want.Reducer) || got.Status.Open != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if other, err := s.Checkpoint("langsmith"); err != nil || other.Positions != nil {
		t.Errorf("another destination has %+v, %v", other, err)
	}
}

func TestAnUnknownVersionIsLeftAlone(t *testing.T) {
	state := open(t)
	s := state.Session("toy", "s")
	add(t, s, "one")
	const newer = `{"version":2,"positions":"another shape"}`
	if err := os.WriteFile(s.checkpointPath("store"), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Checkpoint("store"); !errors.Is(err, ErrVersion) {
		t.Errorf("got %v, want ErrVersion", err)
	}
	lock, err := s.TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	sizes, _ := s.Sizes()
	if err := s.Remove(lock, sizes, time.Now()); !errors.Is(err, ErrVersion) {
		t.Errorf("removed: %v", err)
	}
	if raw, _ := os.ReadFile(s.checkpointPath("store")); string(raw) != newer {
		t.Errorf("it was changed: %s", raw)
	}
	_ = os.Mkdir(strings.TrimSuffix(state.Dir(), "v1")+"v2", 0o700)
	equal(t, state.OtherVersions(), "v2")
}

func TestAGarbledCheckpointCountsAsNone(t *testing.T) {
	s := open(t).Session("toy", "s")
	add(t, s, "one")
	for _, text := range []string{"", "{", `{"version":1,"positions":7}`, "null\x00"} {
		if err := os.WriteFile(s.checkpointPath("store"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := s.Checkpoint("store"); err != nil || c.Positions != nil {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

func TestTheDrainLockIsHeldByOneAtATime(t *testing.T) {
	s := open(t).Session("toy", "s")
	if _, err := s.TryDrain(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lock of no session: %v", err)
	}
	add(t, s, "one")
	lock, err := s.TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TryDrain(); !errors.Is(err, ErrLocked) {
		t.Errorf("second lock: %v", err)
	}
	lock.Unlock()
	lock, err = s.LockDrain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lock.Unlock()
}

func TestDropsAddUpByReason(t *testing.T) {
	state := open(t)
	if sums, err := state.Drops(); err != nil || len(sums) != 0 {
		t.Errorf("none yet: %v, %v", sums, err)
	}
	for _, reason := range []string{DropFull, DropBadInput, DropFull} {
		if err := state.Drop(reason, 2); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := state.Drops()
	if err != nil || sums[DropFull] != 4 || sums[DropBadInput] != 2 || len(sums) != 2 {
		t.Errorf("got %v, %v", sums, err)
	}
}

func TestABadLineDoesNotHideTheOtherCounts(t *testing.T) {
	state := open(t)
	bad := []string{
		strings.Repeat("x", 70<<10), "garbage", "\x00\x00", `{"reason":"x","count":"1"}`, `{"reason":"x\u001b[31m","count":1}`,
		`{"reason":"x","count":9223372036854775807}`, `{"reason":"x","count":-1}`, `{"reason":"x","cou`,
	}
	for _, line := range bad {
		_ = state.Drop(DropFull, 2)
		f, err := os.OpenFile(state.path("dropped.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString(line) // and no newline: its writer was killed
		f.Close()
	}
	_ = state.Drop(DropFull, 2)
	sums, err := state.Drops()
	if n := int64(len(bad)); err != nil || sums[DropFull] != 2*(n+1) || sums[DropCount] != n || len(sums) != 2 {
		t.Errorf("got %v, %v", sums, err)
	}
}

func TestALossThatIsNoticedAgainCountsOnce(t *testing.T) {
	state := open(t)
	s := state.Session("toy", "s")
	add(t, s, "one")
	path := s.path(journalName)
	text, _ := os.ReadFile(path)
	garbled := "garbage\n" + string(text) + "garbage\n\n" + strings.Repeat("garbage", 3) + "\n"
	if err := os.WriteFile(path, []byte(garbled), 0o600); err != nil {
		t.Fatal(err)
	}
	sizes, err := s.Sizes()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var ids []string
		for record, err := range s.Read(nil, sizes) {
			if err != nil {
				t.Fatal(err)
			}
			if record.Bad {
				ids = append(ids, record.ID)
			}
		}
		if err := state.DropOnce(DropCorrupt, ids); err != nil {
			t.Fatal(err)
		}
	}
	_ = state.Drop(DropCorrupt, 1) // by a version that gave no ids
	if sums, err := state.Drops(); err != nil || sums[DropCorrupt] != 3+1 {
		t.Errorf("got %v, %v, want 3 lines and one more", sums, err)
	}
}

func TestWhatIsNoAgentsFolderDoesNotHideTheSessions(t *testing.T) {
	state := open(t)
	add(t, state.Session("toy", "s"), "one")
	if err := os.WriteFile(state.path("sessions", "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := state.Sessions(); err != nil || len(found) != 1 {
		t.Errorf("%d sessions, %v", len(found), err)
	}
}

func TestDestinationRecordsAreChangedOneAtATime(t *testing.T) {
	state := open(t)
	var writers sync.WaitGroup
	for range 20 {
		writers.Go(func() {
			if _, err := state.UpdateDestination("langsmith", func(d *Destination) { d.Failures++ }); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if d, err := state.Destination("langsmith"); err != nil || d.Failures != 20 {
		t.Errorf("got %+v, %v, want 20 failures", d, err)
	}
	if _, err := state.UpdateDestination("../x", func(*Destination) {}); err == nil {
		t.Error("a path was taken for an id")
	}
}

func TestADrainerIsWorthWakingUnlessAllDestinationsRest(t *testing.T) {
	state := open(t)
	now := time.Now()
	f := func(want bool) {
		t.Helper()
		if got := state.Resting(now); got != want {
			t.Errorf("resting: %v, want %v", got, want)
		}
	}
	set := func(id string, until time.Time) {
		_, _ = state.UpdateDestination(id, func(d *Destination) { d.NotBefore = until })
	}
	f(false)
	set("langsmith", now.Add(time.Minute))
	f(true)
	_, _ = state.UpdateDestination("store", func(d *Destination) { d.Name = "store" })
	f(false)
	set("store", now.Add(time.Second))
	f(true)
	set("langsmith", now)
	f(false)
	set("langsmith", now.Add(LongestRest))
	f(true)
	set("langsmith", now.AddDate(70, 0, 0)) // written while the clock was wrong
	f(false)
}

func TestDeadRunsAreKeptOnceAndBounded(t *testing.T) {
	state := open(t)
	for i, want := range []bool{true, false} {
		fresh, err := state.KeepDead("langsmith", "run", "post", []byte("{}"))
		if err != nil || fresh != want {
			t.Errorf("time %d: fresh %v, %v", i, fresh, err)
		}
	}
	if fresh, err := state.KeepDead("langsmith", "run", "patch", []byte("{}")); err != nil || fresh {
		t.Errorf("a run's second write: fresh %v, %v", fresh, err)
	}
	if n, err := state.CountDead("langsmith"); n != 1 || err != nil {
		t.Errorf("%d kept, %v", n, err)
	}
}

func TestTheLogIsBounded(t *testing.T) {
	state := open(t)
	for range 2 {
		log, file, err := state.Log()
		if err != nil {
			t.Fatal(err)
		}
		log.Info("hello")
		file.Close()
		if err := os.Truncate(state.path("log", "tracesmith.jsonl"), maxLog+1); err != nil {
			t.Fatal(err)
		}
	}
	_, file, err := state.Log()
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	if info, err := os.Stat(state.path("log", "tracesmith.jsonl")); err != nil || info.Size() != 0 {
		t.Errorf("the log was not turned over: %v, %v", info.Size(), err)
	}
}

func TestAFullOrClosedStateIsAnErrorNotAPanic(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root writes anywhere: put a file where a directory must be.
		state := open(t)
		_ = os.WriteFile(state.path("sessions"), nil, 0o600)
		if err := state.Session("toy", "s").Append(Entry{Event: "x"}); err == nil {
			t.Error("appended below a file")
		}
		return
	}
	state := open(t)
	if err := os.Chmod(state.Dir(), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := state.Writable(); err == nil {
		t.Error("a closed directory counts as writable")
	}
}

func FuzzACheckpointIsReadOrCountsAsNone(f *testing.F) {
	f.Add([]byte(`{"version":1,"positions":{"journal.jsonl":5},"reducer":{"a":1},"skipped":["019ad000-0000-7000-8000-000000000000"]}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		state, err := Open(filepath.Join(t.TempDir(), "a", "v1"))
		if err != nil {
			t.Fatal(err)
		}
		s := state.Session("toy", "s")
		if err := s.prepare(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.checkpointPath("store"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := s.Checkpoint("store")
		if err != nil && !errors.Is(err, ErrVersion) {
			t.Fatal(err)
		}
		if err == nil {
			if err := s.Commit("store", c); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
		}
	})
}
