//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// codexVersion is the Codex that the reducer was made with.
const codexVersion = "0.171.0"

var codexOnce = sync.OnceValues(func() (string, error) {
	return fetched("codex-"+codexVersion, "@openai/codex@"+codexVersion, "codex", "codex-cli "+codexVersion+" ")
})

// newCodexWorld sets a machine up with Codex, its model behind a provider of the
// user's own, and the hooks installed.
func newCodexWorld(t *testing.T) *world {
	t.Helper()
	w := newWorldOf(t, &world{agent: installed(t, "Codex", codexOnce), name: "openai-codex", version: codexVersion}, modelserver.CodexScript())
	w.write(filepath.Join(w.home, ".codex", "config.toml"), fmt.Sprintf(`model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "%s/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[features]
remote_plugin = false
`, w.model.URL()))
	w.env = append(w.env, "SCRIPTED_KEY="+modelKey)
	return w
}

// exec starts codex exec. Nobody is there to trust the hooks.
func (w *world) exec(args ...string) *session {
	w.t.Helper()
	s := &session{w: w}
	args = append([]string{"exec", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"}, args...)
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

// rollouts lists what Codex wrote, root threads and subagents.
func (w *world) rollouts() []string {
	paths, _ := filepath.Glob(filepath.Join(w.home, ".codex/sessions/*/*/*/rollout-*.jsonl"))
	return paths
}

// thread is the one root thread that there is.
func (w *world) thread() string {
	w.t.Helper()
	var roots []string
	for _, path := range w.rollouts() {
		text, _ := os.ReadFile(path)
		first, _, _ := bytes.Cut(text, []byte("\n"))
		if !bytes.Contains(first, []byte(`"subagent"`)) {
			name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			roots = append(roots, name[len(name)-36:])
		}
	}
	if len(roots) != 1 {
		w.t.Fatalf("root threads %v, want one", roots)
	}
	return roots[0]
}

// signal reaches the program behind npm's launcher too, as a terminal would.
func (s *session) signal(sig syscall.Signal) {
	s.w.t.Helper()
	if err := syscall.Kill(-s.cmd.Process.Pid, sig); err != nil {
		s.w.t.Fatal(err)
	}
}

func TestCodexPlain(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	s := w.exec("SCENARIO:plain")
	if out, code := s.wait(); code != 0 || !strings.Contains(out, "Two widgets are in stock.") {
		t.Errorf("exit code %d, output %q", code, out)
	}
	turn := w.turns(w.thread(), 1)[0]
	turn.has(1, 0)
	turn.completed("Two widgets are in stock.")
	w.wants(turn.llms[0], "ls_model_name", "gpt-5.5")
	w.wants(turn.llms[0], "ls_provider", "openai")
	w.wants(turn.root, "approval_policy", "never")
}

func TestCodexTools(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.exec("SCENARIO:codex-tools").wait()
	turn := w.turns(w.thread(), 1)[0]
	turn.has(2, 2)
	turn.completed("There is a README about widgets.")
	turn.succeeded(turn.tools)
}

func TestCodexFailingTools(t *testing.T) {
	t.Parallel()
	long(t)
	w := newCodexWorld(t)
	w.exec("SCENARIO:codex-fail").wait()
	turn := w.turns(w.thread(), 1)[0]
	turn.has(3, 2)
	turn.completed("Both failed.")
	turn.failed(turn.tools)
}

func TestCodexPatch(t *testing.T) {
	t.Parallel()
	long(t)
	w := newCodexWorld(t)
	w.exec("SCENARIO:codex-patch").wait()
	turn := w.turns(w.thread(), 1)[0]
	turn.has(3, 2)
	turn.succeeded(turn.tools[:1])
	turn.failed(turn.tools[1:])
	if got := fmt.Sprint(turn.root.Metadata()["files_changed"]); got != "1" {
		t.Errorf("files_changed %s, want 1", got)
	}
}

func TestCodexCodeMode(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.exec("--model", "gpt-6.2-sol", "SCENARIO:codex-code").wait()
	turn := w.turns(w.thread(), 1)[0]
	turn.has(2, 2)
	for _, tool := range turn.tools {
		if tool.Name == "exec_command" && (tool.Error != "exit code 7" || tool.ParentRunID == turn.root.ID) {
			t.Errorf("the script's command has the error %q and the parent %s", tool.Error, tool.ParentRunID)
		}
	}
	if diff := cmp.Diff([]string{"exec", "exec_command"}, turn.toolNames()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestCodexSubagent(t *testing.T) {
	t.Parallel()
	long(t)
	w := newCodexWorld(t)
	w.exec("SCENARIO:codex-subagent").wait()
	turn := w.turns(w.thread(), 1)[0]
	if len(turn.others) != 1 || turn.others[0].Kind() != runtypes.KindSubagent {
		t.Fatalf("%d other runs, want one subagent", len(turn.others))
	}
	child := turn.below(turn.others[0])
	child.has(2, 1)
	if !bytes.Contains(turn.others[0].Inputs, []byte("count the files")) {
		t.Errorf("the subagent's inputs are %s", turn.others[0].Inputs)
	}
}

func TestCodexModelFailure(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	if _, code := w.exec("SCENARIO:codex-err400").wait(); code == 0 {
		t.Error("the agent exited 0")
	}
	turn := w.turns(w.thread(), 1)[0]
	turn.failed([]runtypes.Wire{turn.root})
}

func TestCodexInterrupt(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	s := w.exec("SCENARIO:codex-slowtool")
	w.until("the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(w.repo, "running"))
		return err == nil
	})
	s.signal(syscall.SIGINT)
	s.wait()
	w.turns(w.thread(), 1)[0].interruptedInTool()
}

// Nothing tells of a process that is killed but that it is gone, and the thread goes
// on with the next one.
func TestCodexKilledAndResumed(t *testing.T) {
	t.Parallel()
	long(t)
	w := newCodexWorld(t)
	s := w.exec("SCENARIO:codex-slowtool")
	w.until("the tool runs and stands in the rollout", func() bool {
		_, err := os.Stat(filepath.Join(w.repo, "running"))
		if err != nil || len(w.rollouts()) == 0 {
			return false
		}
		text, _ := os.ReadFile(w.rollouts()[0])
		return bytes.Contains(text, []byte("token_usage_record"))
	})
	s.signal(syscall.SIGKILL)
	s.wait()
	thread := w.thread()
	w.turns(thread, 1)[0].interruptedInTool()
	w.exec("resume", thread, "SCENARIO:plain2").wait()
	turns := w.turns(thread, 2)
	turns[1].numbered(2)
	turns[1].completed("Second answer: three widgets.")
}
