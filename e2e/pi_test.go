//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// piVersion is the Pi that the reducer was made with; it needs a newer Node than most
// machines have, so that comes from npm too.
const (
	piVersion     = "1.6.0"
	piNodeVersion = "22.23.3"
)

var piNodeOnce = sync.OnceValues(func() (string, error) {
	return fetched("node-"+piNodeVersion, "node@"+piNodeVersion, "node", "v"+piNodeVersion+" ")
})

// piPackage is the folder of Pi's package, installed at most once.
var piPackage = sync.OnceValues(func() (string, error) {
	node, err := piNodeOnce()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(node)))), "pi-"+piVersion)
	pkg := filepath.Join(dir, "node_modules", "@earendil-works", "pi-coding-agent")
	text, err := os.ReadFile(filepath.Join(pkg, "package.json"))
	if err == nil && bytes.Contains(text, []byte(`"version": "`+piVersion+`"`)) {
		return pkg, nil
	}
	return pkg, npmInstall(dir, "@earendil-works/pi-coding-agent@"+piVersion)
})

// piScript has scenarios with the tools that Pi has.
func piScript() map[string]modelserver.Scenario {
	say := func(text string) modelserver.Block { return modelserver.Block{Text: text} }
	call := func(tool string, args map[string]any) modelserver.Block {
		input, _ := json.Marshal(args)
		return modelserver.Block{Tool: tool, Input: input}
	}
	bash := func(command string) modelserver.Block { return call("bash", map[string]any{"command": command}) }
	first := modelserver.Usage{Input: 10, Output: 120, CacheRead: 1500, Write5m: 200}
	last := modelserver.Usage{Input: 6, Output: 20, CacheRead: 1700, Write5m: 60}
	step := func(u modelserver.Usage, blocks ...modelserver.Block) modelserver.Step {
		return modelserver.Step{Blocks: blocks, Usage: u}
	}
	scout := func(task string) map[string]any { return map[string]any{"agent": "scout", "task": task} }
	return map[string]modelserver.Scenario{
		"pi-tools": {
			step(first, say("I will look."), call("read", map[string]any{"path": "README.md"}), bash("sleep 0.2; ls -1")),
			step(last, say("There is a README about widgets.")),
		},
		"pi-fail": {
			step(first, call("read", map[string]any{"path": "missing.txt"}), bash("echo oops >&2; exit 3"), call("no_such_tool", map[string]any{"a": 1})),
			step(last, say("All of it failed.")),
		},
		"pi-slowtool": { // runs as long as the agent, so that no orphan is left when that is killed
			step(first, say("Waiting."), bash("touch running; while kill -0 $PPID; do sleep 0.1; done")),
			step(last, say("Waited.")),
		},
		"pi-subagent": {
			step(first, say("Delegating."), call("subagent", scout("SCENARIO:pi-child count the files"))),
			step(last, say("There are two files.")),
		},
		"pi-subagents": {
			step(first, call("subagent", map[string]any{"tasks": []any{
				scout("SCENARIO:pi-child count the files"), scout("SCENARIO:pi-childb count them again"),
			}})),
			step(last, say("Both say two.")),
		},
		"pi-slowsub": {
			step(first, call("subagent", scout("SCENARIO:pi-slowtool wait"))),
			step(last, say("Waited.")),
		},
		"pi-child":  {step(first, bash("ls -1 | wc -l")), step(last, say("Two files (A)."))},
		"pi-childb": {step(first, call("read", map[string]any{"path": "main.go"})), step(last, say("Two files (B)."))},
		"pi-err400": {{Failure: &modelserver.Failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: "no such thing"}}},
		"pi-retry": {{
			Failure: &modelserver.Failure{Status: http.StatusServiceUnavailable, Type: "overloaded_error", Message: "try again", Times: 1},
			Blocks:  []modelserver.Block{say("Recovered.")}, Usage: last,
		}},
	}
}

// newPiWorld sets a machine up with Pi, its example of subagents, its model behind a
// provider of the user's own, and the extension installed.
func newPiWorld(t *testing.T) *world {
	t.Helper()
	long(t)
	pkg := installed(t, "Pi", piPackage)
	w := newWorldOf(t, &world{agent: installed(t, "Pi", piNodeOnce), name: "pi", version: piVersion}, piScript())
	dir := filepath.Join(w.home, ".pi", "agent")
	w.write(filepath.Join(dir, "models.json"), fmt.Sprintf(`{"providers": {"acme": {
  "name": "Acme AI", "baseUrl": %q, "apiKey": %q, "api": "anthropic-messages",
  "models": [{"id": "claude-acme", "name": "Claude Acme", "input": ["text"], "contextWindow": 200000, "maxTokens": 8192,
    "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}]}}}`, w.model.URL(), modelKey))
	example := filepath.Join(pkg, "examples", "extensions", "subagent")
	for _, name := range []string{"index.ts", "agents.ts"} {
		text, err := os.ReadFile(filepath.Join(example, name))
		if err != nil {
			t.Fatal(err)
		}
		w.write(filepath.Join(dir, "extensions", "subagent", name), string(text))
	}
	w.write(filepath.Join(dir, "agents", "scout.md"), "---\nname: scout\ndescription: Looks around\ntools: read, bash\n---\n\nYou look around.\n")
	w.env = append(w.env, "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0")
	return w
}

// pi starts Pi in a conversation of the name given.
func (w *world) pi(thread string, stdin io.Reader, args ...string) *session {
	w.t.Helper()
	s := &session{w: w, thread: thread}
	pkg := installed(w.t, "Pi", piPackage)
	args = append([]string{filepath.Join(pkg, "dist", "bundle", "cli.js"), "--provider", "acme", "--model", "claude-acme"}, args...)
	s.cmd = exec.CommandContext(w.t.Context(), w.agent, args...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdin = w.repo, w.environ(w.env...), stdin
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = 5 * time.Second
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// ask has Pi answer one prompt in a new conversation.
func (w *world) ask(prompt string) *session {
	w.t.Helper()
	thread := uuid.NewString()
	return w.pi(thread, nil, "--mode", "json", "--session-id", thread, prompt)
}

// inPiTool waits until the tool of a scenario runs.
func (w *world) inPiTool() {
	w.t.Helper()
	w.until("the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(w.repo, "running"))
		return err == nil
	})
}

// within checks that all runs have arrived and ended a while after something happened.
func (w *world) within(limit time.Duration, what string, runs int) {
	w.t.Helper()
	from := time.Now()
	w.until(what, func() bool {
		list := w.server.Memory().Runs()
		for _, run := range list {
			if run.EndTime == "" {
				return false
			}
		}
		return len(list) == runs
	})
	took := time.Since(from)
	w.t.Logf("%s: %v", what, took.Round(time.Millisecond))
	if took > limit {
		w.t.Errorf("%s took %v, want %v at most", what, took, limit)
	}
}

func TestPiPlain(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:plain")
	if out, code := s.wait(); code != 0 || !strings.Contains(out, "Two widgets are in stock.") {
		t.Errorf("exit code %d, output %q", code, out)
	}
	turn := w.turns(s.thread, 1)[0]
	turn.has(1, 0)
	turn.completed("Two widgets are in stock.")
	w.wants(turn.llms[0], "ls_model_name", "claude-acme")
	w.wants(turn.llms[0], "ls_provider", "acme")
}

func TestPiParallelTools(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-tools")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(2, 2)
	turn.completed("There is a README about widgets.")
	turn.succeeded(turn.tools)
}

func TestPiFailingTools(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-fail")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(2, 3)
	turn.completed("All of it failed.")
	turn.failed(turn.tools)
}

func TestPiRetriesWithinOneTurn(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-retry")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(2, 0)
	turn.completed("Recovered.")
}

func TestPiModelFailure(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-err400")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.failed([]runtypes.Wire{turn.root})
}

// A subagent is a process of its own, which says whose it is.
func TestPiSubagent(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-subagent")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.completed("There are two files.")
	if len(turn.others) != 1 || turn.others[0].Kind() != runtypes.KindSubagent {
		t.Fatalf("%d other runs, want one subagent", len(turn.others))
	}
	child := turn.below(turn.others[0])
	child.has(2, 1)
	w.wants(turn.others[0], "ls_subagent_type", "scout")
	if !bytes.Contains(turn.others[0].Outputs, []byte("Two files (A).")) {
		t.Errorf("the subagent's outputs are %s", turn.others[0].Outputs)
	}
	call := turn.below(turn.root).tools
	if len(call) != 1 || call[0].Name != "subagent" || turn.others[0].ParentRunID != call[0].ID {
		t.Errorf("the subagent hangs under %s, want its call", turn.others[0].ParentRunID)
	}
	if threads := w.threads(); len(threads) != 1 {
		t.Errorf("%d threads, want one", len(threads))
	}
}

func TestPiParallelSubagents(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-subagents")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.completed("Both say two.")
	if len(turn.others) != 2 {
		t.Fatalf("%d other runs, want two subagents", len(turn.others))
	}
	for i, letter := range []string{"(A)", "(B)"} {
		for _, run := range turn.others {
			id, _ := run.Metadata()["ls_subagent_id"].(string)
			if strings.HasSuffix(id, fmt.Sprint("/", i)) {
				turn.below(run).has(2, 1)
				if !bytes.Contains(run.Outputs, []byte(letter)) {
					t.Errorf("subagent %s says %s", id, run.Outputs)
				}
			}
		}
	}
}

func TestPiTwoTurns(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:plain")
	s.wait()
	w.turns(s.thread, 1)
	w.pi(s.thread, nil, "--mode", "json", "--continue", "SCENARIO:plain2").wait()
	turns := w.turns(s.thread, 2)
	turns[0].numbered(1)
	turns[1].numbered(2)
	turns[1].completed("Second answer: three widgets.")
}

// importPi imports Pi's sessions as if nobody had worked on them for a while: import
// leaves those alone that may be at work.
func (w *world) importPi() {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.home, ".pi/agent/sessions/*/*.jsonl"))
	if err != nil || len(paths) == 0 {
		w.t.Fatalf("no sessions: %v", err)
	}
	for _, path := range paths {
		old := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			w.t.Fatal(err)
		}
	}
	if out := w.command(binary, "import", "pi"); strings.Contains(out, "at work") {
		w.t.Errorf("import says %s", out)
	}
}

// What no extension streamed is imported, with the ids it would have had, and what one
// streamed is not sent again.
func TestPiImport(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	thread := uuid.NewString()
	w.pi(thread, nil, "--mode", "json", "--session-id", thread, "--no-extensions", "SCENARIO:pi-tools").wait()
	w.pi(thread, nil, "--mode", "json", "--continue", "SCENARIO:plain2").wait()
	w.silent = true // the model served more than was streamed
	w.turns(thread, 1)[0].numbered(2)
	w.importPi()
	turns := w.threads()[thread]
	if len(turns) != 2 {
		t.Fatalf("%d turns after the import, want 2", len(turns))
	}
	turns[0].has(2, 2)
	turns[0].completed("There is a README about widgets.")
	turns[0].numbered(1)
	before := len(w.server.Memory().Runs())
	w.importPi()
	if after := len(w.server.Memory().Runs()); after != before || w.server.Memory().Counts().Again > 0 {
		t.Errorf("a second import made %d runs of %d", after, before)
	}
}

// A fork's file begins with a copy of what it was forked from.
func TestPiForkTracesItsHistoryOnce(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:plain")
	s.wait()
	fork := uuid.NewString()
	w.pi(fork, nil, "--mode", "json", "--fork", s.thread, "--session-id", fork, "SCENARIO:plain2").wait()
	w.turns(s.thread, 1)
	turn := w.turns(fork, 1)[0]
	turn.has(1, 0)
	turn.numbered(2)
	before := len(w.server.Memory().Runs())
	w.importPi()
	if after := len(w.server.Memory().Runs()); after != before {
		t.Errorf("import made %d runs of %d", after, before)
	}
}

// Escape in the terminal is abort over RPC.
func TestPiAbort(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	in, out := io.Pipe()
	thread := uuid.NewString()
	s := w.pi(thread, in, "--mode", "rpc", "--session-id", thread)
	ended := func(turns int) func() bool {
		return func() bool {
			list := w.threads()[thread]
			return len(list) == turns && list[turns-1].root.EndTime != ""
		}
	}
	fmt.Fprintln(out, `{"type":"prompt","message":"SCENARIO:pi-slowtool"}`)
	w.inPiTool()
	fmt.Fprintln(out, `{"type":"abort"}`)
	w.until("the first turn ends", ended(1))
	fmt.Fprintln(out, `{"type":"prompt","message":"SCENARIO:slow"}`)
	w.answering()
	fmt.Fprintln(out, `{"type":"abort"}`)
	w.until("the second turn ends", ended(2))
	out.Close()
	s.wait()
	turns := w.turns(thread, 2)
	turns[0].interruptedInTool()
	turns[1].interrupted()
	if !bytes.Contains(turns[1].root.Outputs, []byte("An answer that begins")) {
		t.Errorf("the turn's output is %s, want what had been said", turns[1].root.Outputs)
	}
}

// Nothing tells of a process that is killed but the end of its stream.
func TestPiKilledInATool(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-slowtool")
	w.inPiTool()
	s.signal(syscall.SIGKILL)
	w.within(2*time.Second, "the tree arrives after SIGKILL", 3)
	s.wait()
	w.turns(s.thread, 1)[0].interruptedInTool()
}

func TestPiInterruptedInPrintMode(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-slowtool")
	w.inPiTool()
	s.signal(syscall.SIGINT)
	w.within(2*time.Second, "the tree arrives after SIGINT", 3)
	s.wait()
	w.turns(s.thread, 1)[0].interruptedInTool()
}

func TestPiKilledWithASubagent(t *testing.T) {
	t.Parallel()
	w := newPiWorld(t)
	s := w.ask("SCENARIO:pi-slowsub")
	w.inPiTool()
	s.signal(syscall.SIGKILL)
	w.within(2*time.Second, "the tree arrives after SIGKILL", 6)
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.interrupted()
	if len(turn.others) != 1 || turn.others[0].Error == "" {
		t.Errorf("other runs: %+v, want an interrupted subagent", turn.others)
	}
}
