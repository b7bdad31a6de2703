package drain

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// story is a session's hooks with two turns and an interrupted one between.
func story(b *bench) []func() {
	at := func(event string, minute int, data toyData) func() {
		return func() { b.hookAt(b.s, event, began.Add(time.Duration(minute)*time.Minute), data) }
	}
	return []func(){
		at("start", 0, toyData{Prompt: "first"}), at("tool", 0, toyData{Tool: "a"}), at("tool", 0, toyData{Tool: "b"}),
		at("stop", 1, toyData{}), at("unknown", 1, toyData{}), at("start", 2, toyData{Prompt: "second"}), at("tool", 2, toyData{Tool: "c"}),
		at("start", 3, toyData{Prompt: "third"}), at("tool", 3, toyData{Tool: "d"}), at("stop", 4, toyData{}), at("end", 5, toyData{}),
	}
}

// whole is what a server holds of the story when nothing goes wrong.
func whole(t *testing.T) []string {
	t.Helper()
	b := newBench(t)
	for _, hook := range story(b) {
		hook()
	}
	b.mustDrain()
	b.want("Toy Turn, b, a, Toy Turn (Interrupted by another prompt), c, Toy Turn, d")
	return b.server.state()
}

func TestWhereverADrainerIsCutTheRunsAreTheSame(t *testing.T) {
	want := whole(t)
	for cut := range len(story(newBench(t))) {
		for _, settled := range []bool{false, true} {
			b := newBench(t)
			b.cfg.Settled = settled
			for i, hook := range story(b) {
				hook()
				if i == cut {
					b.mustDrain()
				}
			}
			b.mustDrain()
			if got := b.server.state(); !slices.Equal(got, want) {
				t.Errorf("cut after %d, settled %v: got %s\nwant %s", cut, settled, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if b.server.again > 0 {
				t.Errorf("cut after %d: %d ops were sent twice", cut, b.server.again)
			}
		}
	}
}

func TestADrainerThatDiesAtAnyExportIsReplayedWithTheSameIDs(t *testing.T) {
	want := whole(t)
	for _, after := range []bool{false, true} { // before the server took it, and after
		for _, settled := range []bool{false, true} {
			for call := 1; call <= 5; call++ {
				b := newBench(t)
				b.cfg.Settled, b.cfg.MaxOps, b.cfg.Insist = settled, 2, true
				b.server.fail = func(n int, then bool) error {
					if n == call && then == after {
						return errDown
					}
					return nil
				}
				for _, hook := range story(b) {
					hook()
				}
				first := b.drain()
				if !settled && !errors.Is(first, errDown) {
					t.Fatalf("call %d: got %v, want the failure", call, first)
				}
				b.mustDrain()
				if got := b.server.state(); !slices.Equal(got, want) {
					t.Errorf("call %d, after %v, settled %v: got %s", call, after, settled, strings.Join(got, "\n"))
				}
			}
		}
	}
}

func TestACheckpointThatCannotBeWrittenMeansAReplay(t *testing.T) {
	b := newBench(t)
	for _, hook := range story(b) {
		hook()
	}
	block := filepath.Join(b.s.Dir(), "checkpoint.one.json")
	// A directory in its place is garbled to a reader and in the way of a rename.
	if err := os.MkdirAll(filepath.Join(block, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.drain(); err == nil {
		t.Fatal("no error")
	}
	if err := os.RemoveAll(block); err != nil {
		t.Fatal(err)
	}
	b.mustDrain()
	if got := b.server.state(); !slices.Equal(got, whole(t)) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
}

func TestSettledTurnsAreWrittenOnce(t *testing.T) {
	b := newBench(t)
	b.cfg.Settled = true
	for _, hook := range story(b) {
		hook()
		b.mustDrain()
	}
	for _, op := range b.server.order {
		if strings.HasPrefix(op, "patch") {
			t.Errorf("a patch was sent: %v", b.server.order)
		}
	}
	if got := b.server.state(); !slices.Equal(got, whole(t)) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
}
