package relay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

func openedIndex(t *testing.T, dir string) *index {
	t.Helper()
	x, err := openIndex(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.close() })
	return x
}

func nothingLeft(place) error { return nil }

func TestATurnIsNotEnteredBeforeTheOneBeforeIsLeft(t *testing.T) {
	x := openedIndex(t, t.TempDir())
	if _, err := x.enter(place{Trace: "trace-1", Thread: "thread", Turn: "turn-1", Number: 1}, nothingLeft); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if _, err := x.enter(place{Trace: "trace-2", Thread: "thread", Turn: "turn-2", Number: 2}, func(place) error { return full }); !errors.Is(err, full) {
		t.Fatal(err)
	}
	var left []string
	p, err := x.enter(place{Trace: "trace-2", Thread: "thread", Turn: "turn-2", Number: 2}, func(p place) error { left = append(left, p.Turn); return nil })
	if err != nil || p.Number != 2 || len(left) != 1 || left[0] != "turn-1" {
		t.Errorf("%+v, left %q, %v", p, left, err)
	}
}

func TestTheIndexOutlivesAKilledWriterAndForgetsNoThread(t *testing.T) {
	dir := t.TempDir()
	x := openedIndex(t, dir)
	if _, err := x.enter(place{Trace: "old-trace", Thread: "old", Turn: "old-turn", Number: 7}, nothingLeft); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "turns.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxIndex + 1 {
		number := strconv.Itoa(n + 1)
		text = append(text, `{"trace":"t`+number+`","thread":"long","turn":"u`+number+`","number":`+number+"}\n"...)
	}
	if err := os.WriteFile(path, append(text, `{"trace":"half`...), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first shortens it
		x = openedIndex(t, dir)
		if p, ok := x.find("old-trace"); !ok || p.Number != 7 {
			t.Errorf("the newest turn of a thread is %+v", p)
		}
	}
	p, err := x.enter(place{Trace: "new-trace", Thread: "long", Turn: "new-turn", Number: 1}, nothingLeft)
	if err != nil || p.Number != maxIndex+2 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, ok := x.find("t1"); ok {
		t.Error("the index was not shortened")
	}
	if _, ok := openedIndex(t, dir).find("new-trace"); !ok {
		t.Error("a line behind half a one was lost")
	}
}

func TestTheIndexStaysShortWhileTheRelayRuns(t *testing.T) {
	dir := t.TempDir()
	x := openedIndex(t, dir)
	if _, err := x.enter(place{Trace: "old-trace", Thread: "old", Turn: "old-turn", Number: 7}, nothingLeft); err != nil {
		t.Fatal(err)
	}
	var all []place
	for n := range maxIndex - 1 {
		id := strconv.Itoa(n + 1)
		p := place{Trace: "t" + id, Thread: "long", Turn: "u" + id, Number: n + 1}
		if n < keptThreads { // more threads than are kept
			p.Thread = "thread-" + id
		}
		x.add(p)
		line, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.file.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	x.lines = maxIndex
	p, err := x.enter(place{Trace: "new-trace", Thread: "long", Turn: "new-turn", Number: 1}, nothingLeft)
	if err != nil || p.Number != maxIndex {
		t.Errorf("%+v, %v", p, err)
	}
	for range 2 { // the second time as another relay reads it
		if got := len(x.traces); got > keptTurns+keptThreads+1 || len(x.turns) != got || len(x.threads) > keptThreads+1 {
			t.Errorf("it knows %d traces, %d turns and %d threads", got, len(x.turns), len(x.threads))
		}
		for trace, want := range map[string]bool{"new-trace": true, all[len(all)-1].Trace: true, all[0].Trace: true, all[keptThreads+1].Trace: false, "old-trace": false} {
			if _, ok := x.find(trace); ok != want {
				t.Errorf("%s: known is %v", trace, ok)
			}
		}
		x = openedIndex(t, dir)
	}
}

func TestALineThatAFullDiskCutShortCostsNoOtherOne(t *testing.T) {
	dir := t.TempDir()
	x := openedIndex(t, dir)
	whole := x.file
	full, err := os.Open(whole.Name()) // takes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	x.file = full
	if _, err := x.enter(place{Trace: "t1", Thread: "thread", Turn: "turn-1", Number: 1}, nothingLeft); err == nil {
		t.Fatal("written to a file that takes nothing")
	}
	x.file = whole
	if _, err := whole.WriteString(`{"trace":"t`); err != nil {
		t.Fatal(err)
	}
	if _, err := x.enter(place{Trace: "t2", Thread: "thread", Turn: "turn-2", Number: 2}, nothingLeft); err != nil {
		t.Fatal(err)
	}
	if _, ok := openedIndex(t, dir).find("t2"); !ok {
		t.Error("the line behind it was lost")
	}
}

func TestAForeignRootTellsWhoseItsChildrenAre(t *testing.T) {
	in := &intake{index: openedIndex(t, t.TempDir())}
	child := runtypes.Wire{ID: "b", TraceID: "a", ParentRunID: "a", Extra: []byte(`{"metadata":{"langgraph_node":"tools"}}`)}
	if s := in.sort(ingest.Writes{Posts: []runtypes.Wire{child}}); !s.open {
		t.Error("nobody knows whose this is")
	}
	if s := in.sort(ingest.Writes{Posts: []runtypes.Wire{{ID: "a", TraceID: "a"}}}); s.open || s.others != 1 {
		t.Errorf("%+v", s)
	}
	if s := in.sort(ingest.Writes{Posts: []runtypes.Wire{child}}); s.open || s.others != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAForeignRootBehindItsChildrenIsWaitedForNoMore(t *testing.T) {
	in := &intake{index: openedIndex(t, t.TempDir())}
	var writes ingest.Writes
	for _, trace := range []string{"a", "b"} {
		child := runtypes.Wire{ID: trace + "1", TraceID: trace, ParentRunID: trace, Extra: []byte(`{"metadata":{"langgraph_node":"tools"}}`)}
		writes.Posts = append(writes.Posts, child, runtypes.Wire{ID: trace, TraceID: trace})
	}
	if s := in.sort(writes); s.open || s.others != 4 {
		t.Errorf("%+v", s)
	}
}
