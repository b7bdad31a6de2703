package drain

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

// A reducer keeps the names of lines in its checkpoint and asks for them in another
// drainer's life.
func TestAReducerRecallsTheLinesThatItHeardBefore(t *testing.T) {
	b := newBench(t)
	var names []string
	hear := func(_ *toyReducer, _ integrations.Source, e integrations.Event) {
		if e.Ref != "" {
			names = append(names, e.Ref)
		}
	}
	b.cfg.Agents = toyAgents(hear)
	b.hook("start", toyData{Prompt: "hello"})
	b.hook("tool", toyData{Tool: "bash"})
	b.mustDrain()
	if len(names) != 2 {
		t.Fatalf("%d lines have a name", len(names))
	}
	asked := false
	b.cfg.Agents = toyAgents(func(_ *toyReducer, src integrations.Source, e integrations.Event) {
		if e.Kind != "stop" {
			return
		}
		asked = true
		again, err := src.Recall(names[0])
		if err != nil || again.Kind != "start" || string(again.Data) != `{"prompt":"hello"}` || again.CWD != "/src" || !again.At.Equal(began) || again.Ref != names[0] {
			t.Errorf("got %+v, %v", again, err)
		}
		if _, err := src.Recall("zzzz"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a line that is not there: %v", err)
		}
	})
	b.hook("stop", toyData{})
	b.mustDrain()
	if !asked {
		t.Error("the second drainer applied nothing")
	}
	if _, err := NewSnapshot().Recall("0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was never told: %v", err)
	}
}
