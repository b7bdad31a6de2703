package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Lines that came while a session was moved away go to the session that began in
// its place: a private file whole, of the shared one what nobody has seen.
func TestASessionThatBeganAnewTakesOverWhatCameLate(t *testing.T) {
	state := open(t)
	session := func(name string, files map[string]string) *Session {
		s := state.Session("toy", name)
		if err := s.prepare(); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(s.path(file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	gone := session("gone", map[string]string{
		journalName:             "seen\nlate\n",
		"journal.1-seen.jsonl":  "seen\n",
		"journal.2-late.jsonl":  "private\n",
		"journal.3-empty.jsonl": "",
	})
	to := session("new", map[string]string{journalName: "new\n"})
	late, err := os.OpenFile(gone.path("journal.3-empty.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if grown, err := gone.grown(Positions{journalName: 10, "journal.1-seen.jsonl": 5, "journal.2-late.jsonl": 8}); !grown || err != nil {
		t.Errorf("a new file that is still empty: grown %v, %v", grown, err)
	}
	if err := gone.handOver(to, Positions{journalName: 5, "journal.1-seen.jsonl": 5}); err != nil {
		t.Fatal(err)
	}
	if _, err := late.WriteString("late by a moment\n"); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	files, err := filepath.Glob(to.path("journal.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got[string(text)]++
	}
	for _, want := range []string{"new\n", "late\n", "private\n", "late by a moment\n"} {
		if got[want] != 1 {
			t.Errorf("%q is there %d times; all: %v", want, got[want], got)
		}
	}
	if len(got) != 4 {
		t.Errorf("more than what came late was taken over: %v", got)
	}
}

// moving leaves a session as it is while it is removed: one line was seen, another came
// late, and the directory is off its name.
func moving(t *testing.T) *Session {
	t.Helper()
	s := open(t).Session("toy", "s")
	add(t, s, "seen")
	sizes, _ := s.Sizes()
	if err := errors.Join(s.Commit("store", Checkpoint{Session: "s", Positions: sizes}), s.prepareRemoval(sizes, time.Now())); err != nil {
		t.Fatal(err)
	}
	line, _ := s.encode(Entry{Event: "late"})
	if err := errors.Join(s.appendAlone(line), os.Rename(s.dir, s.away())); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatCameLateOutlivesACrashOfTheRemoval(t *testing.T) {
	for name, next := range map[string]func(s *Session) error{
		"swept":             func(s *Session) error { return s.state.Sweep() },
		"and begun anew":    func(s *Session) error { add(t, s, "new"); return s.state.Sweep() },
		"swept twice":       func(s *Session) error { return errors.Join(s.takeOver(), s.state.Sweep()) },
		"and removed again": func(s *Session) error { add(t, s, "new"); return removeAnew(t, s) },
	} {
		s := moving(t)
		if err := next(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		late := 0
		for _, event := range read(t, s, Positions{}) {
			switch event {
			case "late":
				late++
			case "seen":
				t.Errorf("%s: what was seen is there again", name)
			}
		}
		if late != 1 {
			t.Errorf("%s: the late line is there %d times", name, late)
		}
		if _, err := os.Lstat(s.away()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the old directory is still there: %v", name, err)
		}
	}
}

// removeAnew removes a session that has a leftover: what that holds is no part of what
// the caller saw.
func removeAnew(t *testing.T, s *Session) error {
	t.Helper()
	sizes, _ := s.Sizes()
	lock, err := s.TryDrain()
	if err != nil {
		return err
	}
	if err := s.Remove(lock, sizes, time.Now()); !errors.Is(err, ErrBehind) {
		return fmt.Errorf("got %v, want ErrBehind", err)
	}
	return nil
}

func TestASessionThatIsBeingRemovedIsNotSwept(t *testing.T) {
	if locksBlockRename {
		t.Skip("NOT TESTED: Windows renames no directory with an open lock; run this test elsewhere")
	}
	s := moving(t)
	lock, err := try(filepath.Join(s.away(), drainLock))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := s.state.Sweep(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.away()); err != nil {
		t.Errorf("it was taken from the one that removes it: %v", err)
	}
}
