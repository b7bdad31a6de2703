package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestARemovedSessionGoesOnFromItsTombstone(t *testing.T) {
	state := open(t)
	s := state.Session("toy", "s")
	add(t, s, "one")
	sizes, _ := s.Sizes()
	if err := s.Commit("store", Checkpoint{Session: "s", Positions: sizes, Reducer: json.RawMessage(`{"turns":3}`)}); err != nil {
		t.Fatal(err)
	}
	lock, err := s.TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(lock, sizes, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if sessions, err := state.Sessions(); err != nil || len(sessions) != 0 {
		t.Errorf("sessions %v, %v", sessions, err)
	}
	add(t, s, "resumed")
	c, err := s.Checkpoint("store")
	if err != nil || string(c.Reducer) != `{"turns":3}` || len(c.Positions) != 0 {
		t.Errorf("checkpoint after a resume: %+v, %v", c, err)
	}
	equal(t, read(t, s, Positions{}), "resumed")
}

func TestASessionOfWhichSomethingStaysIsRemovedAllTheSame(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("NOT TESTED: root, and Windows, remove from a folder that may not be written to; run this test as another user")
	}
	state := open(t)
	s := state.Session("toy", "s")
	add(t, s, "one")
	stuck := filepath.Join(s.Dir(), "stuck")
	if err := errors.Join(os.Mkdir(stuck, 0o700), os.WriteFile(filepath.Join(stuck, "file"), nil, 0o600), os.Chmod(stuck, 0o500)); err != nil {
		t.Fatal(err)
	}
	sizes, _ := s.Sizes()
	lock, err := s.TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(lock, sizes, time.Now()); err != nil {
		t.Errorf("what it held is gone and would not be counted: %v", err)
	}
	if err := state.Sweep(); err == nil {
		t.Error("nobody says that something stays")
	}
	_ = os.Chmod(filepath.Join(filepath.Dir(s.Dir()), removedPrefix+filepath.Base(s.Dir()), "stuck"), 0o700)
	if err := state.Sweep(); err != nil {
		t.Error(err)
	}
}

func TestPurgeTakesWhatIsLeftOfARemovedSession(t *testing.T) {
	state := open(t)
	left := state.path("sessions", "toy", removedPrefix+"abc")
	if err := errors.Join(os.MkdirAll(left, 0o700), os.WriteFile(filepath.Join(left, journalName), []byte("content"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if busy, err := state.Purge(time.Now()); err != nil || busy > 0 {
		t.Errorf("%d busy, %v", busy, err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestASessionThatGrewIsNotRemoved(t *testing.T) {
	s := open(t).Session("toy", "s")
	add(t, s, "one")
	sizes, _ := s.Sizes()
	add(t, s, "two")
	lock, _ := s.TryDrain()
	if err := s.Remove(lock, sizes, time.Now()); !errors.Is(err, ErrBehind) {
		t.Errorf("got %v, want ErrBehind", err)
	}
	equal(t, read(t, s, Positions{}), "one", "two")
	if lock, err := s.TryDrain(); err != nil {
		t.Errorf("the lock was kept: %v", err)
	} else {
		lock.Unlock()
	}
}

func TestAHookThatWaitedWhileItsSessionWasRemovedWritesToTheNewOne(t *testing.T) {
	for range 20 {
		s := open(t).Session("toy", "s")
		add(t, s, "one")
		sizes, _ := s.Sizes()
		_ = s.Commit("store", Checkpoint{Positions: sizes})
		lock, err := s.TryDrain()
		if err != nil {
			t.Fatal(err)
		}
		var hooks sync.WaitGroup
		for range 4 {
			hooks.Go(func() { _ = s.Append(Entry{Event: "late"}) })
		}
		removal := s.Remove(lock, sizes, time.Now())
		hooks.Wait()
		late := 0
		for _, event := range read(t, s, Positions{}) {
			if event == "late" {
				late++
			}
		}
		if late != 4 {
			t.Fatalf("%d of 4 late entries survived a removal (%v)", late, removal)
		}
	}
}
