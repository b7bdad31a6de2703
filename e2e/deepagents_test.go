//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// deepAgentsLimit is how long one run may take: the program starts a server of its own
// for each. Its tests are not run beside others.
const deepAgentsLimit = 4 * time.Minute

const deepAgentsModel = "claude-sonnet-4-6"

// deepAgentsFlags leave out its interpreter of JavaScript, which gives up where it takes
// too long to start.
var deepAgentsFlags = []string{"--model", "anthropic:" + deepAgentsModel, "--no-interpreter", "--no-mcp"}

// deepAgentsScript has scenarios with the tools of Deep Agents Code.
func deepAgentsScript() map[string]modelserver.Scenario {
	say := func(text string) modelserver.Block { return modelserver.Block{Text: text} }
	call := func(tool string, args map[string]any) modelserver.Block {
		input, _ := json.Marshal(args)
		return modelserver.Block{Tool: tool, Input: input}
	}
	run := func(command string) modelserver.Block { return call("execute", map[string]any{"command": command}) }
	used := modelserver.Usage{Input: 10, Output: 20, CacheRead: 1500, Write5m: 200}
	step := func(blocks ...modelserver.Block) modelserver.Step {
		return modelserver.Step{Blocks: blocks, Usage: used}
	}
	return map[string]modelserver.Scenario{
		"da-tools":    {step(say("I will look."), run("cat README.md"), run("exit 3")), step(say("There is a README about widgets."))},
		"da-subagent": {step(say("Delegating."), call("task", map[string]any{"description": "SCENARIO:da-child count the files", "subagent_type": "general-purpose"})), step(say("There are two files."))},
		"da-child":    {step(run("ls -1 | wc -l")), step(say("Two files."))},
		"da-slowtool": {step(say("Waiting."), run("touch running; while [ -e running ]; do sleep 0.1; done")), step(say("Waited."))},
	}
}

// ways are how Deep Agents Code is traced: by its hooks, or by what it sends itself.
var ways = []string{"hooks", "relay"}

// inEachWay runs a test with a machine on which the agent is traced one way.
func inEachWay(t *testing.T, test func(t *testing.T, w *world)) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			long(t)
			agent, err := deepAgentsOnce()
			if errors.Is(err, errNoRegistry) {
				t.Skipf("!!! SKIPPED: the real Deep Agents Code was not tried, TestDeepAgentsLibraryThroughTheRelay alone: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			w := newWorldOf(t, &world{agent: agent.program, name: "deepagents-code", version: agent.version}, deepAgentsScript())
			w.env = append(w.env, "LANG=C.UTF-8", "DEEPAGENTS_CODE_NO_UPDATE_CHECK=1", "DEEPAGENTS_CODE_OFFLINE=1",
				"DEEPAGENTS_CODE_PRICES_AUTO_UPDATE=0", "DEEPAGENTS_CODE_ONBOARDING=0")
			if way == "relay" {
				w.relay()
			}
			test(t, w)
		})
	}
}

// relay sets the agent up for the relay, which its hooks start.
func (w *world) relay() {
	w.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	listen := free.Addr().String()
	if err := free.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.command(binary, "install", w.name, "--relay=hook", "--relay-listen", listen)
	w.t.Cleanup(func() {
		for _, pid := range processes(binary, w.home, true) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		w.until("the relay ends", func() bool { return len(processes(binary, w.home, true)) == 0 })
	})
}

// dcode runs the agent on a prompt to its end; flags may resume a thread.
func (w *world) dcode(prompt string, flags ...string) {
	w.t.Helper()
	s := &session{w: w}
	args := slices.Concat(deepAgentsFlags, []string{"--shell-allow-list", "all", "--non-interactive", prompt}, flags)
	s.cmd = exec.CommandContext(w.t.Context(), w.agent, args...)
	s.cmd.Dir, s.cmd.Env = w.repo, w.environ(w.env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	s.cmd.WaitDelay = 5 * time.Second
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	if _, code := s.waitFor(deepAgentsLimit); code != 0 {
		w.t.Errorf("the agent ended with %d", code)
	}
}

func TestDeepAgentsTwoTurns(t *testing.T) {
	inEachWay(t, func(t *testing.T, w *world) {
		w.dcode("SCENARIO:plain")
		thread := w.onlyThread()
		turn := w.turns(thread, 1)[0]
		if turn.has(1, 0); len(turn.llms) == 0 {
			return
		}
		turn.completed("Hello from the scripted model. Two widgets are in stock.")
		want := map[string]int64{
			"input_tokens": 2361, "output_tokens": 17, "total_tokens": 2378, "cache_read": 2000,
			"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 50,
		}
		got := usage(turn.llms[0])
		if got["cache_creation"] == 0 {
			delete(got, "cache_creation")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("usage (-want +got):\n%s", diff)
		}
		w.wants(turn.llms[0], "ls_model_name", deepAgentsModel)
		w.wants(turn.llms[0], "ls_provider", "anthropic")

		w.dcode("SCENARIO:da-tools", "--resume", thread)
		turns := w.turns(thread, 2)
		turns[0].numbered(1)
		turns[1].numbered(2)
		turns[1].has(2, 2)
		turns[1].completed("There is a README about widgets.")
		if diff := cmp.Diff([]string{"execute", "execute"}, turns[1].toolNames()); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	})
}

func TestDeepAgentsSubagent(t *testing.T) {
	inEachWay(t, func(t *testing.T, w *world) {
		w.dcode("SCENARIO:da-subagent")
		turn := w.turns(w.onlyThread(), 1)[0]
		turn.completed("There are two files.")
		if len(turn.others) != 1 || turn.others[0].Kind() != runtypes.KindSubagent {
			t.Fatalf("%d other runs, want one subagent", len(turn.others))
		}
		agent := turn.others[0]
		turn.below(agent).has(2, 1)
		w.wants(agent, "ls_subagent_type", "general-purpose")
		for _, tool := range turn.tools {
			if tool.Name == "task" && agent.ParentRunID != tool.ID {
				t.Errorf("the subagent hangs under %s, the call is %s", agent.ParentRunID, tool.ID)
			}
		}
		if !bytes.Contains(agent.Outputs, []byte("Two files.")) {
			t.Errorf("the subagent's outputs are %s", agent.Outputs)
		}
	})
}

// A person approves a tool, stops the agent in one, and asks once more.
func TestDeepAgentsApprovalAndAbort(t *testing.T) {
	inEachWay(t, func(t *testing.T, w *world) {
		needTerminal(t)
		term := w.openDeepAgents()
		term.ask("SCENARIO:da-tools")
		term.approve("the answer", func(screen string) bool { return strings.Contains(screen, "There is a README about widgets.") })
		term.still()

		term.ask("SCENARIO:da-slowtool")
		term.approve("the tool runs", func(string) bool {
			_, err := os.Stat(filepath.Join(w.repo, "running"))
			return err == nil
		})
		term.press("Escape")
		term.shows("Interrupted by user")
		term.still()

		term.ask("SCENARIO:plain")
		term.shows("Two widgets are in stock.")
		term.still()
		term.press("C-d")
		w.until("the program ends", func() bool {
			_, err := term.tmux("has-session")
			return err != nil
		})
		turns := w.turns(w.onlyThread(), 3)
		turns[0].has(2, 2)
		turns[0].completed("There is a README about widgets.")
		turns[1].interruptedInTool()
		turns[2].has(1, 0)
		turns[2].numbered(3)
		turns[2].completed("Hello from the scripted model. Two widgets are in stock.")
	})
}

// openDeepAgents starts the interactive program.
func (w *world) openDeepAgents() *terminal {
	w.t.Helper()
	term := &terminal{w: w, socket: filepath.Join(filepath.Dir(w.home), "screen")}
	command := append([]string{"new-session", "-d", "-x", "160", "-y", "50", "-c", w.repo, w.agent}, deepAgentsFlags...)
	if out, err := term.tmux(command...); err != nil {
		w.t.Fatalf("tmux: %v\n%s", err, out)
	}
	w.t.Cleanup(func() {
		if screen, err := term.tmux("capture-pane", "-p"); err == nil { // it is still there
			fmt.Fprintf(&w.output, "== the screen\n%s\n", screen)
			_, _ = term.tmux("kill-server")
		}
	})
	term.shows("anthropic:" + deepAgentsModel)
	return term
}

// ask types a line, once, and sends it when it is all there: a program that is still
// starting takes its keys late.
func (term *terminal) ask(line string) {
	term.w.t.Helper()
	if out, err := term.tmux("send-keys", "-l", line); err != nil {
		term.w.t.Fatalf("type %q: %v\n%s", line, err, out)
	}
	term.shows(line)
	time.Sleep(time.Second) // keys that come fast are taken for pasted text
	term.press("Enter")
}

// approve lets the agent run its tools until something holds of the screen. Before the first
// of them the program may still be starting its server.
func (term *terminal) approve(what string, done func(screen string) bool) {
	term.w.t.Helper()
	var pressed time.Time
	term.w.poll(deepAgentsLimit, what, func() bool {
		screen, err := term.tmux("capture-pane", "-p")
		if err != nil {
			return false
		}
		switch {
		case !strings.Contains(screen, "Awaiting decision"):
			pressed = time.Time{}
		case pressed.IsZero(): // it takes no keys yet
			pressed = time.Now()
		case time.Since(pressed) > 2*time.Second:
			term.press("y")
			pressed = time.Now()
		}
		return done(screen)
	})
}

// still waits until the agent works no more.
func (term *terminal) still() {
	term.w.t.Helper()
	quiet := 0
	term.w.until("the agent is done", func() bool {
		screen, err := term.tmux("capture-pane", "-p")
		if quiet++; err != nil || strings.Contains(screen, "esc to interrupt") {
			quiet = 0
		}
		return quiet > 50
	})
}
