package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestALineIsRecalledByItsName(t *testing.T) {
	state, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := state.Session("toy", "s1")
	for _, text := range []string{`"one"`, `"two"`, `"three"`} {
		if err := s.Append(Entry{Event: "e", Data: json.RawMessage(text)}); err != nil {
			t.Fatal(err)
		}
	}
	// One of a private file, as where the lock could not be had.
	line, err := s.encode(Entry{Event: "e", Data: json.RawMessage(`"four"`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.appendAlone(line); err != nil {
		t.Fatal(err)
	}
	sizes, err := s.Sizes()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for record, err := range s.Read(nil, sizes) {
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Recall(record.Ref())
		if err != nil || again.Entry.ID != record.Entry.ID || string(again.Entry.Data) != string(record.Entry.Data) || again.Ref() != record.Ref() {
			t.Errorf("%s: got %+v, %v", record.Ref(), again, err)
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d lines", n)
	}
}

func TestANameThatLeadsNowhereIsNotFound(t *testing.T) {
	state, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := state.Session("toy", "s1")
	look := func(ref string) {
		t.Helper()
		if r, err := s.Recall(ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %+v, %v", ref, r, err)
		}
	}
	look("0")
	if err := s.Append(Entry{Event: "e", Data: json.RawMessage(`{"a":"` + strings.Repeat("x", 100) + `"}`)}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("other.jsonl"), []byte("{\"event\":\"e\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"", "x!", "-1", "1", "zzz", "0:other.jsonl", "0:journal./../other.jsonl", "0:journal.none.jsonl"} {
		look(ref)
	}
}
