//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestPlainTurn(t *testing.T) {
	t.Parallel()
	const answer = "Hello from the scripted model. Two widgets are in stock."
	secret := "sk-ant-" + "api03-" + strings.Repeat("Zx9", 31) + "AA" // put together here: a scanner must not find it
	w := newWorld(t)
	s := w.begin("SCENARIO:plain my key is " + secret)
	if out, code := s.wait(); out != answer+"\n" || code != 0 {
		t.Errorf("the agent printed %q and exited %d: the hooks must not show", out, code)
	}
	turn := w.turns(s.thread, 1)[0]
	turn.has(1, 0)
	turn.completed(answer)
	want := map[string]int64{
		"input_tokens": 2361, "output_tokens": 17, "total_tokens": 2378,
		"cache_read": 2000, "ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 50,
	}
	if diff := cmp.Diff(want, usage(turn.llms[0])); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	w.wants(turn.llms[0], "ls_model_name", "claude-opus-4-8")
	w.wants(turn.llms[0], "ls_provider", "anthropic")
	if !bytes.Contains(turn.root.Inputs, []byte("SCENARIO:plain my key is ")) {
		t.Errorf("the turn's input is %s, want the prompt", turn.root.Inputs)
	}
	for _, run := range w.server.Memory().Runs() {
		if raw, _ := json.Marshal(run); bytes.Contains(raw, []byte(secret)) {
			t.Errorf("%s %s holds the secret", run.Kind(), run.Name)
		}
	}
}

func TestParallelTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin("SCENARIO:parallel")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(2, 3)
	turn.completed("main.go prints a widget count; there are a few files.")
	turn.succeeded(turn.llms)
	turn.succeeded(turn.tools)
	if diff := cmp.Diff([]string{"Bash", "Read", "Read"}, turn.toolNames()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	var output int64
	for _, llm := range turn.llms {
		output += usage(llm)["output_tokens"]
	}
	if output != 120+20 { // the transcript repeats a reply's usage for each of its blocks
		t.Errorf("%d output tokens, want 140: each reply counts once", output)
	}
}

func TestFailingTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin("SCENARIO:failing")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(3, 4)
	turn.completed("All four failed as expected.")
	turn.succeeded(turn.llms)
	turn.failed(turn.tools)
	if diff := cmp.Diff([]string{"Bash", "NoSuchTool", "Read", "Read"}, turn.toolNames()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestModelFailure(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"err500", "err400"} {
		t.Run(scenario, func(t *testing.T) {
			w := newWorld(t)
			s := w.begin("SCENARIO:" + scenario)
			if _, code := s.wait(); code != 1 {
				t.Errorf("the agent exited %d, want 1", code)
			}
			turn := w.turns(s.thread, 1)[0]
			if kind := turn.root.Kind(); kind != runtypes.KindRoot {
				t.Errorf("the turn is %s, want a root that failed", kind)
			}
			turn.failed([]runtypes.Wire{turn.root})
			turn.failed(turn.llms)
			if len(turn.tools) != 0 {
				t.Errorf("%d tools, want none", len(turn.tools))
			}
		})
	}
}

func TestInterruptInATool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin("SCENARIO:slowtool")
	w.inTool(s.thread)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.wait()
	w.turns(s.thread, 1)[0].interruptedInTool()
}

func TestInterruptInAReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin("SCENARIO:slow")
	w.answering()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.wait()
	w.turns(s.thread, 1)[0].interrupted()
}

func TestKilledAgentThenANewSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	killed := w.begin("SCENARIO:slowtool")
	w.inTool(killed.thread)
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.wait()
	next := w.begin("SCENARIO:plain2")
	next.wait()
	turn := w.turns(next.thread, 1)[0]
	turn.has(1, 0)
	turn.completed("Second answer: three widgets.")
	w.turns(killed.thread, 1)[0].interruptedInTool()
}
