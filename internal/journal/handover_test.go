package journal

import (
	"os"
	"path/filepath"
	"testing"
)

// Lines that came while a session was moved away go to the session that began in
// its place: a private file whole, of the shared one what nobody has seen.
func TestASessionThatBeganAnewTakesOverWhatCameLate(t *testing.T) {
	dir := t.TempDir()
	session := func(name string, files map[string]string) *Session {
		s := &Session{dir: filepath.Join(dir, name)}
		if err := os.Mkdir(s.dir, 0o700); err != nil {
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
	open, err := os.OpenFile(gone.path("journal.3-empty.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if grown, err := gone.grown(Positions{journalName: 10, "journal.1-seen.jsonl": 5, "journal.2-late.jsonl": 8}); !grown || err != nil {
		t.Errorf("a new file that is still empty: grown %v, %v", grown, err)
	}
	if err := gone.handOver(to, Positions{journalName: 5, "journal.1-seen.jsonl": 5}); err != nil {
		t.Fatal(err)
	}
	if _, err := open.WriteString("late by a moment\n"); err != nil {
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
