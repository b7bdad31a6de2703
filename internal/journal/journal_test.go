package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test program be a hook: it appends and ends.
func TestMain(m *testing.M) {
	if dir := os.Getenv("JOURNAL_HOOK"); dir != "" {
		os.Exit(hookProcess(dir))
	}
	goleak.VerifyTestMain(m)
}

func hookProcess(dir string) int {
	state, err := Open(dir)
	if err != nil {
		return 1
	}
	n, _ := strconv.Atoi(os.Getenv("JOURNAL_COUNT"))
	for i := range n {
		if err := state.Session("toy", "s").Append(Entry{Event: fmt.Sprintf("%d-%d", os.Getpid(), i)}); err != nil {
			return 1
		}
	}
	return 0
}

func open(t *testing.T) *State {
	t.Helper()
	state, err := Open(filepath.Join(t.TempDir(), "tracesmith", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func add(t *testing.T, s *Session, events ...string) {
	t.Helper()
	for _, event := range events {
		if err := s.Append(Entry{Event: event}); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the events beyond a position, "bad" for a line that is none, and
// moves the position.
func read(t *testing.T, s *Session, from Positions) []string {
	t.Helper()
	to, err := s.Sizes()
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for r, err := range s.Read(from, to) {
		if err != nil {
			t.Fatal(err)
		}
		from[r.File] = r.Next
		switch {
		case r.Bad:
			events = append(events, "bad")
		case r.Entry.Event != "":
			events = append(events, r.Entry.Event)
		}
	}
	return events
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatIsAppendedIsReadOnceInOrder(t *testing.T) {
	s := open(t).Session("toy", "s")
	at := Positions{}
	add(t, s, "one", "two")
	equal(t, read(t, s, at), "one", "two")
	equal(t, read(t, s, at))
	if more, err := s.Behind(at); more || err != nil {
		t.Errorf("behind: %v, %v", more, err)
	}
	add(t, s, "three")
	if more, err := s.Behind(at); !more || err != nil {
		t.Errorf("not behind: %v, %v", more, err)
	}
	equal(t, read(t, s, at), "three")
}

func TestAnEntryKeepsWhatTheHookSaid(t *testing.T) {
	s := open(t).Session("toy", "the session")
	when := time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.FixedZone("", 3600))
	want := Entry{At: when, Event: "Stop", CWD: "/src", Proc: Proc{PID: 7, Start: "x", Boot: "y"}, Data: []byte(`{"a":"<&>"}`)}
	want.Head.Branch = "main"
	if err := s.Append(want); err != nil {
		t.Fatal(err)
	}
	to, _ := s.Sizes()
	for r, err := range s.Read(nil, to) {
		got := r.Entry
		if err != nil || !got.At.Equal(when) || got.Session != "the session" || got.CWD != want.CWD ||
			got.Proc != want.Proc || got.Head != want.Head || len(got.ID) != 36 {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestDataIsOneLineWhateverItsLayout(t *testing.T) {
	s := open(t).Session("toy", "s")
	for _, data := range []string{`{"a": "<b>\n"}`, "{\n\t\"a\": \"<b>\\n\"\r\n}", "null"} {
		if err := s.Append(Entry{Event: "x", Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, data := range []string{`{"a":`, "x", `{}{}`} {
		if err := s.Append(Entry{Event: "x", Data: []byte(data)}); err == nil {
			t.Errorf("%q was taken for JSON", data)
		}
	}
	equal(t, read(t, s, Positions{}), "x", "x", "x")
	to, _ := s.Sizes()
	for r := range s.Read(nil, to) {
		var got struct{ A string }
		if err := json.Unmarshal(r.Entry.Data, &got); err != nil || got.A != "<b>\n" && string(r.Entry.Data) != "null" {
			t.Errorf("got %s, %v", r.Entry.Data, err)
		}
	}
}

func TestAKilledWritersHalfLineIsFencedOff(t *testing.T) {
	s := open(t).Session("toy", "s")
	add(t, s, "one")
	f, err := os.OpenFile(s.path(journalName), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"id":"x","event":"ha`)
	f.Close()

	at := Positions{}
	equal(t, read(t, s, at), "one")
	if more, _ := s.Behind(at); more {
		t.Error("half a line counts as something to read")
	}
	add(t, s, "two")
	equal(t, read(t, s, at), "bad", "two")
}

func TestWithoutTheLockAHookWritesAFileOfItsOwn(t *testing.T) {
	s := open(t).Session("toy", "s")
	first := time.Now().Add(-time.Hour)
	if err := s.Append(Entry{Event: "first", At: first}); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(Entry{Event: "third", At: first.Add(2 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	lock, err := try(s.path(appendLock))
	if err != nil {
		t.Fatal(err)
	}
	for i, event := range []string{"fourth", "second"} {
		if err := s.Append(Entry{Event: event, At: first.Add(time.Duration(3-2*i) * time.Minute)}); err != nil {
			t.Fatal(err)
		}
	}
	lock.Unlock()
	sizes, _ := s.Sizes()
	if len(sizes) != 3 {
		t.Fatalf("files %v, want the shared one and two private ones", sizes)
	}
	at := Positions{}
	equal(t, read(t, s, at), "first", "second", "third", "fourth")
	equal(t, read(t, s, at))
	add(t, s, "fifth")
	equal(t, read(t, s, at), "fifth")
}

func TestHooksOfManyProcessesLoseNothing(t *testing.T) {
	state := open(t)
	const processes, each = 8, 25
	var hooks []*exec.Cmd
	for range processes {
		hook := exec.Command(os.Args[0])
		hook.Env = append(os.Environ(), "JOURNAL_HOOK="+state.Dir(), fmt.Sprintf("JOURNAL_COUNT=%d", each))
		if err := hook.Start(); err != nil {
			t.Fatal(err)
		}
		hooks = append(hooks, hook)
	}
	for _, hook := range hooks {
		if err := hook.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	at := Positions{} // one pass opens a bounded number of private files
	for events := read(t, state.Session("toy", "s"), at); len(events) > 0; events = read(t, state.Session("toy", "s"), at) {
		for _, event := range events {
			seen[event] = true
		}
	}
	if len(seen) != processes*each || seen["bad"] {
		t.Errorf("%d distinct events, want %d", len(seen), processes*each)
	}
}

func TestLimitsAreErrorsToBeCounted(t *testing.T) {
	s := open(t).Session("toy", "s")
	if err := s.Append(Entry{Event: "x", Data: make([]byte, MaxEntry+1)}); err != ErrTooLong {
		t.Errorf("got %v, want ErrTooLong", err)
	}
	add(t, s, "one")
	if err := os.Truncate(s.path(journalName), MaxJournal); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(Entry{Event: "x"}); err != ErrFull {
		t.Errorf("got %v, want ErrFull", err)
	}
}

func TestAJournalShorterThanItsPositionIsReadAnew(t *testing.T) {
	s := open(t).Session("toy", "s")
	add(t, s, "one", "two", "three")
	at := Positions{}
	read(t, s, at)
	if err := os.Remove(s.path(journalName)); err != nil {
		t.Fatal(err)
	}
	add(t, s, "new")
	equal(t, read(t, s, at), "new")
}

func TestADirectoryThatOthersOwnOrLeadToIsRefused(t *testing.T) {
	base := t.TempDir()
	elsewhere := filepath.Join(base, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := Open(link); err == nil {
		t.Error("a linked state was opened")
	}
	if _, err := Open(filepath.Join(link, "v1")); err == nil {
		t.Error("a state below a link was opened")
	}
	state := open(t)
	s := state.Session("toy", "s")
	add(t, s, "one")
	victim := filepath.Join(base, "victim")
	_ = os.Remove(s.path(journalName))
	if err := os.Symlink(victim, s.path(journalName)); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(Entry{Event: "two"}); err == nil {
		t.Error("a linked journal was followed")
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("something was written where the link leads")
	}
}

func TestEverythingIsPrivate(t *testing.T) {
	state := open(t)
	if err := os.Chmod(state.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	state, err := Open(state.Dir())
	if err != nil {
		t.Fatal(err)
	}
	s := state.Session("toy", "s")
	add(t, s, "one")
	_ = s.Commit("store", Checkpoint{})
	_ = state.Drop(DropFull, 1)
	_, _ = state.UpdateDestination("store", func(d *Destination) { d.Name = "x" })
	_, _ = state.KeepDead("store", "run", "post", []byte("{}"))
	_, file, err := state.Log()
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	n := 0
	err = filepath.Walk(state.Dir(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		n++
		return err
	})
	if err != nil || n < 12 {
		t.Errorf("%d files, %v", n, err)
	}
}

func TestASessionsNameNeverReachesAPath(t *testing.T) {
	state := open(t)
	for _, agent := range []string{"", "..", "a/b", "a b", "."} {
		if err := state.Session(agent, "s").Append(Entry{Event: "x"}); err == nil {
			t.Errorf("agent %q was taken", agent)
		}
	}
	s := state.Session("toy", "../../../etc/passwd")
	add(t, s, "x")
	same, err := state.Keyed(s.Key())
	if err != nil || same.Dir() != s.Dir() {
		t.Errorf("key %q leads to %v, %v", s.Key(), same, err)
	}
	for _, key := range []string{"", "toy", "toy/../x", "toy/a/b", "/x"} {
		if _, err := state.Keyed(key); err == nil {
			t.Errorf("key %q was taken", key)
		}
	}
}

func TestTheStateIsWhereTheSystemWantsIt(t *testing.T) {
	f := func(system, want string, pairs ...string) {
		t.Helper()
		env := func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
		got, err := stateHome(env, system)
		if (err != nil) != (want == "") || got != want {
			t.Errorf("%s %v: got %q, %v, want %q", system, pairs, got, err, want)
		}
	}
	f("linux", "/own", "TRACESMITH_STATE", "/own", "HOME", "/home/dev")
	f("linux", "/xdg", "XDG_STATE_HOME", "/xdg", "HOME", "/home/dev")
	f("linux", "/home/dev/.local/state", "XDG_STATE_HOME", "relative", "HOME", "/home/dev")
	f("darwin", "/Users/dev/Library/Application Support", "HOME", "/Users/dev")
	f("windows", "/local", "LocalAppData", "/local")
	f("windows", "")
	f("linux", "")
}

func FuzzReadTakesAnyBytesAndResumesAnywhere(f *testing.F) {
	f.Add([]byte("{\"event\":\"a\"}\nhalf\n\n{\"event\":\"b\"}\n{\"ev"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		state, err := Open(filepath.Join(t.TempDir(), "a", "v1"))
		if err != nil {
			t.Fatal(err)
		}
		s := state.Session("toy", "s")
		if err := s.prepare(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.path(journalName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		whole := read(t, s, Positions{})
		at, n := Positions{}, 0
		to, _ := s.Sizes()
		var parts []string
		for r, err := range s.Read(at, to) {
			if err != nil {
				t.Fatal(err)
			}
			at[r.File] = r.Next
			if r.Bad {
				parts = append(parts, "bad")
			} else if r.Entry.Event != "" {
				parts = append(parts, r.Entry.Event)
			}
			if n++; n == cut {
				break
			}
		}
		parts = append(parts, read(t, s, at)...)
		equal(t, parts, whole...)
	})
}
