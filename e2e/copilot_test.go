//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// copilotVersion is the Copilot CLI that the reducer was made with.
const copilotVersion = "1.0.102"

var copilotOnce = sync.OnceValues(func() (string, error) {
	path, err := fetched("copilot-"+copilotVersion, "@github/copilot@"+copilotVersion, "copilot", "GitHub Copilot CLI "+copilotVersion+".")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(path, "--version") // unpacks the program, so that not every home has to
	cmd.Env = []string{"HOME=" + copilotCache(path), "COPILOT_CACHE_HOME=" + copilotCache(path), "PATH=" + os.Getenv("PATH")}
	return path, cmd.Run()
})

// copilotCache is where the program unpacks itself to.
func copilotCache(program string) string {
	return filepath.Join(filepath.Dir(program), "..", "..", "unpacked")
}

// copilotScript has scenarios with the tools that Copilot gives a Claude model.
func copilotScript() map[string]modelserver.Scenario {
	say := func(text string) modelserver.Block { return modelserver.Block{Text: text} }
	call := func(tool string, args map[string]any) modelserver.Block {
		input, _ := json.Marshal(args)
		return modelserver.Block{Tool: tool, Input: input}
	}
	bash := func(command string) modelserver.Block {
		return call("bash", map[string]any{"command": command, "description": "Run"})
	}
	first := modelserver.Usage{Input: 10, Output: 120, CacheRead: 1500, Write5m: 200}
	last := modelserver.Usage{Input: 6, Output: 20, CacheRead: 1700, Write5m: 60}
	step := func(u modelserver.Usage, blocks ...modelserver.Block) modelserver.Step {
		return modelserver.Step{Blocks: blocks, Usage: u}
	}
	task := func(mode string) modelserver.Block {
		return call("task", map[string]any{
			"agent_type": "explore", "name": "count", "description": "Count the files",
			"prompt": "SCENARIO:copilot-child count the files", "mode": mode,
		})
	}
	return map[string]modelserver.Scenario{
		"copilot-parallel": {
			step(first, say("I will look."), bash("sleep 0.2; ls -1"), bash("cat README.md")),
			step(last, say("There is a README about widgets.")),
		},
		"copilot-fail": {
			step(first, bash("echo oops >&2; exit 3"), call("view", map[string]any{"path": "/nowhere/missing.txt"}), call("no_such_tool", map[string]any{"a": 1})),
			step(last, say("All of it failed.")),
		},
		"copilot-subagent": {
			step(first, say("Delegating."), task("sync")),
			step(last, say("There are two files.")),
		},
		"copilot-background": {
			step(first, say("Delegating."), task("background")),
			step(last, say("It is on its way.")),
			step(last, say("It says that there are two files.")),
		},
		"copilot-child": {
			step(first, bash("ls -1 | wc -l")),
			step(last, say("Two files.")),
		},
		"copilot-slowtool": { // ends with the repository, so that no orphan is left when the agent is killed
			step(first, say("Waiting."), bash("touch running; while [ -e running ]; do sleep 0.1; done")),
			step(last, say("Waited.")),
		},
	}
}

// newCopilotWorld sets a machine up with Copilot CLI, its model behind a provider of
// the user's own, and the hooks installed.
func newCopilotWorld(t *testing.T) *world {
	t.Helper()
	long(t)
	w := newWorldOf(t, &world{agent: installed(t, "Copilot CLI", copilotOnce), name: "copilot", version: copilotVersion}, copilotScript())
	w.env = append(w.env, "COPILOT_CACHE_HOME="+copilotCache(w.agent),
		"COPILOT_AUTO_UPDATE=false", "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_TYPE=anthropic",
		"COPILOT_PROVIDER_BASE_URL="+w.model.URL(), "COPILOT_PROVIDER_API_KEY="+modelKey, "COPILOT_MODEL=claude-sonnet-4.6")
	return w
}

// copilot starts the agent on a prompt; flags may resume a session.
func (w *world) copilot(prompt string, flags ...string) *session {
	w.t.Helper()
	s := &session{w: w}
	args := append([]string{"-p", prompt, "--allow-all-tools", "--allow-all-paths"}, flags...)
	s.cmd = exec.CommandContext(w.t.Context(), w.agent, args...)
	s.cmd.Dir, s.cmd.Env = w.repo, w.environ(w.env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = 5 * time.Second
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// copilotLog is the log of the one session that there is, with its id.
func (w *world) copilotLog() (thread string, text []byte) {
	w.t.Helper()
	paths, _ := filepath.Glob(filepath.Join(w.home, ".copilot/session-state/*/events.jsonl"))
	if len(paths) != 1 {
		return "", nil
	}
	text, _ = os.ReadFile(paths[0])
	return filepath.Base(filepath.Dir(paths[0])), text
}

// copilotTurns are the turns of the one session that there is.
func (w *world) copilotTurns(count int) []turn {
	w.t.Helper()
	thread, log := w.copilotLog()
	if uuid.Validate(thread) != nil {
		w.t.Fatal("there is no session, or more than one")
	}
	if bytes.Contains(log, []byte(`"success":false,"error":{"message":"Hook`)) {
		w.t.Error("the agent noticed a hook")
	}
	return w.turns(thread, count)
}

func TestCopilotPlain(t *testing.T) {
	t.Parallel()
	const answer = "Hello from the scripted model. Two widgets are in stock."
	w := newCopilotWorld(t)
	s := w.copilot("SCENARIO:plain")
	if out, code := s.wait(); code != 0 || !strings.Contains(out, answer) {
		t.Errorf("exit code %d, output %q", code, out)
	}
	turn := w.copilotTurns(1)[0]
	turn.has(1, 0)
	turn.completed(answer)
	want := map[string]int64{"input_tokens": 2361, "output_tokens": 17, "total_tokens": 2378, "cache_read": 2000, "cache_creation": 350}
	if diff := cmp.Diff(want, usage(turn.llms[0])); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	w.wants(turn.llms[0], "ls_model_name", "claude-sonnet-4.6")
	w.wants(turn.llms[0], "ls_provider", "anthropic")
}

func TestCopilotParallelTools(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	w.copilot("SCENARIO:copilot-parallel").wait()
	turn := w.copilotTurns(1)[0]
	turn.has(2, 2)
	turn.completed("There is a README about widgets.")
	turn.succeeded(turn.tools)
	for _, tool := range turn.tools {
		if tool.StartTime >= turn.tools[0].EndTime || tool.StartTime >= turn.tools[1].EndTime {
			t.Errorf("%s began at %s: the tools do not overlap", tool.Name, tool.StartTime)
		}
	}
}

func TestCopilotFailingTools(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	w.copilot("SCENARIO:copilot-fail").wait()
	turn := w.copilotTurns(1)[0]
	turn.has(2, 3)
	turn.completed("All of it failed.")
	turn.failed(turn.tools)
	if diff := cmp.Diff([]string{"bash", "no_such_tool", "view"}, turn.toolNames()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestCopilotSubagent(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	w.copilot("SCENARIO:copilot-subagent").wait()
	turn := w.copilotTurns(1)[0]
	turn.completed("There are two files.")
	if len(turn.others) != 1 || turn.others[0].Kind() != runtypes.KindSubagent {
		t.Fatalf("%d other runs, want one subagent", len(turn.others))
	}
	agent := turn.others[0]
	turn.below(agent).has(2, 1)
	for _, tool := range turn.below(turn.root).tools {
		if tool.Name != "task" || agent.ParentRunID != tool.ID {
			t.Errorf("the subagent hangs under %s, the call is %s %s", agent.ParentRunID, tool.Name, tool.ID)
		}
	}
	if !bytes.Contains(agent.Inputs, []byte("count the files")) || !bytes.Contains(agent.Outputs, []byte("Two files.")) {
		t.Errorf("the subagent's inputs are %s, its outputs %s", agent.Inputs, agent.Outputs)
	}
}

func TestCopilotBackgroundSubagent(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	w.copilot("SCENARIO:copilot-background").wait()
	turns := w.copilotTurns(2)
	turns[0].completed("It is on its way.")
	turns[1].completed("It says that there are two files.")
	w.wants(turns[1].root, "turn_origin", "task_notification")
	w.wants(turns[1].root, "continues_run_id", turns[0].root.ID)
	if len(turns[0].others) != 1 {
		t.Fatalf("%d other runs, want one subagent", len(turns[0].others))
	}
	turns[0].below(turns[0].others[0]).has(2, 1)
}

func TestCopilotModelFailure(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	w.copilot("SCENARIO:err400").wait()
	turn := w.copilotTurns(1)[0]
	turn.failed([]runtypes.Wire{turn.root})
}

func TestCopilotInterrupt(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	s := w.copilot("SCENARIO:copilot-slowtool")
	w.copilotInTool()
	s.signal(syscall.SIGINT)
	s.wait()
	w.copilotTurns(1)[0].interruptedInTool()
}

// copilotInTool waits until the tool runs and stands in the log, which is written late.
func (w *world) copilotInTool() {
	w.t.Helper()
	w.until("the tool runs and stands in the log", func() bool {
		_, err := os.Stat(filepath.Join(w.repo, "running"))
		_, log := w.copilotLog()
		return err == nil && bytes.Contains(log, []byte(`"tool.execution_start"`))
	})
}

// Nothing tells of a process that is killed but that it is gone, and the session goes on
// with the next one.
func TestCopilotKilledAndResumed(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	s := w.copilot("SCENARIO:copilot-slowtool")
	w.copilotInTool()
	s.signal(syscall.SIGKILL)
	s.wait()
	w.copilotTurns(1)[0].interruptedInTool()
	thread, _ := w.copilotLog()
	w.copilot("SCENARIO:plain2", "--resume="+thread).wait()
	turns := w.copilotTurns(2)
	turns[1].numbered(2)
	turns[1].completed("Second answer: three widgets.")
}

func TestCopilotTwoTurns(t *testing.T) {
	t.Parallel()
	w := newCopilotWorld(t)
	w.copilot("SCENARIO:plain").wait()
	thread, _ := w.copilotLog()
	w.copilot("SCENARIO:copilot-parallel", "--resume="+thread).wait()
	turns := w.copilotTurns(2)
	for i, turn := range turns {
		turn.numbered(i + 1)
	}
	turns[0].has(1, 0)
	turns[1].has(2, 2)
	turns[1].completed("There is a README about widgets.")
}
