//go:build e2e

package e2e

import (
	"testing"

	"github.com/google/uuid"
)

func TestConversationGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin("SCENARIO:plain")
	s.wait()
	w.resume(s.thread, "SCENARIO:plain2").wait()
	w.start(s.thread, "--continue", "SCENARIO:parallel").wait()
	turns := w.turns(s.thread, 3)
	for i, answer := range []string{
		"Hello from the scripted model. Two widgets are in stock.",
		"Second answer: three widgets.",
		"main.go prints a widget count; there are a few files.",
	} {
		turns[i].completed(answer)
		turns[i].numbered(i + 1)
	}
	turns[0].has(1, 0)
	turns[1].has(1, 0)
	turns[2].has(2, 3)
}

// A fork's record begins with a copy of the history it came from.
func TestForkTracesItsHistoryOnce(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	s := w.begin("SCENARIO:parallel")
	s.wait()
	w.resume(s.thread, "SCENARIO:plain").wait()
	fork := uuid.NewString()
	w.start(fork, "--resume", s.thread, "--fork-session", "--session-id", fork, "SCENARIO:plain2").wait()
	w.resume(fork, "SCENARIO:plain").wait()
	w.resume(s.thread, "SCENARIO:plain2").wait()

	forked := w.turns(fork, 2)
	original := w.turns(s.thread, 3)
	original[0].has(2, 3)
	for _, turn := range append(forked, original[1:]...) {
		turn.has(1, 0)
	}
	forked[0].completed("Second answer: three widgets.")
	for _, turns := range [][]turn{forked, original} {
		for i, turn := range turns {
			turn.numbered(i + 1)
		}
	}
}

// Without a record the hooks are all there is: they tell of tools, and not of
// model calls.
func TestSessionWithoutARecord(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	w.silent = true
	s := w.begin("SCENARIO:parallel", "--no-session-persistence")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(0, 3)
	turn.completed("main.go prints a widget count; there are a few files.")
	turn.succeeded(turn.tools)
}
