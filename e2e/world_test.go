//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/modelserver"
)

const (
	patience = 90 * time.Second // for anything that is waited for; a run takes two seconds
	apiKey   = "lsv2-e2e"       // of no shape that redaction looks for
	modelKey = "x"
)

// binary is the tracesmith under test; TestMain builds it.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(serveStock) != "" {
		stock(os.Stdin, os.Stdout)
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tracesmith-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tracesmith")
	build := exec.Command("go", "build", "-o", binary, "../cmd/tracesmith")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: build tracesmith:", err)
		return 1
	}
	return m.Run()
}

// long leaves a test out of the smoke, which go test -short runs: a fresh machine
// fetches Claude Code and Codex for that, and not a gigabyte of other agents.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not part of the smoke")
	}
}

// world is one user's machine: a home, a repository, a model and a LangSmith.
type world struct {
	t       *testing.T
	agent   string // the agent's path
	name    string // its name on the command line: claude-code
	version string
	home    string
	repo    string
	sha     string
	model   *modelserver.Server
	server  *ingest.Server
	env     []string     // more of the agent's environment
	remote  string       // of the repository, as the agent's runs tell it
	silent  bool         // the agent keeps no record of its sessions
	told    bool         // a hook has something to say to the user
	host    *session     // of an agent that serves
	output  bytes.Buffer // what the agents said, for the log
}

// newWorld sets a machine up with the hooks installed. It is taken down, and
// looked over for leftovers, when the test ends.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, &world{agent: claude(t), name: "claude-code", version: claudeVersion}, nil)
}

// newWorldOf sets a machine up for an agent, with scenarios of its own.
func newWorldOf(t *testing.T, w *world, script map[string]modelserver.Scenario) *world {
	t.Helper()
	w.t, w.remote = t, "https://git.example.com/acme/widgets.git"
	dir, err := os.MkdirTemp("", "tracesmith-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w.home, w.repo = filepath.Join(dir, "home"), filepath.Join(dir, "widgets")
	for _, d := range []string{w.home, w.repo, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.makeRepository()
	if w.model, err = modelserver.Start(modelserver.Config{Dir: w.repo, Scenarios: script}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.model.Close() })
	if w.server, err = ingest.Start(ingest.Config{Key: apiKey}, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.server.Close(context.Background()) })
	t.Cleanup(w.leave)
	w.write(filepath.Join(w.home, ".config", "tracesmith", "config.toml"),
		fmt.Sprintf("endpoint = %q\napi_key = %q\nproject = \"e2e\"\n", w.server.URL(), apiKey))
	w.command(binary, "install", w.name)
	return w
}

func (w *world) makeRepository() {
	w.write(filepath.Join(w.repo, "README.md"), "# Widgets\n\nThere are two.\n")
	w.write(filepath.Join(w.repo, "main.go"), "package main\n\nfunc main() { println(2) }\n")
	w.command("git", "init", "--quiet", "--initial-branch", "trunk")
	w.command("git", "remote", "add", "origin", "https://user:secret@git.example.com/acme/widgets.git")
	w.command("git", "add", ".")
	w.command("git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com", "commit", "--quiet", "--message", "Begin")
	w.sha = strings.TrimSpace(w.command("git", "rev-parse", "HEAD"))
}

// environ is all that a program sees of the machine. Whatever tries to leave
// loopback finds a proxy that is not there.
func (w *world) environ(more ...string) []string {
	return append([]string{
		"HOME=" + w.home,
		"PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + filepath.Join(filepath.Dir(w.home), "tmp"),
		"SHELL=/bin/sh",
		"GIT_CONFIG_NOSYSTEM=1",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		"ANTHROPIC_BASE_URL=" + w.model.URL(),
		"ANTHROPIC_API_KEY=" + modelKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=1", // ten attempts at a dead model take minutes
		"DISABLE_AUTOUPDATER=1",
		"IS_SANDBOX=1", // root may skip permission prompts in here
	}, more...)
}

// command runs a program in the repository to its end and returns its stdout.
func (w *world) command(name string, args ...string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = w.repo
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

// session is one process of the agent.
type session struct {
	w      *world
	thread string
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// begin starts the agent on a prompt, in a new conversation.
func (w *world) begin(prompt string, flags ...string) *session {
	thread := uuid.NewString()
	return w.start(thread, append([]string{"--session-id", thread, prompt}, flags...)...)
}

// resume starts the agent on a prompt, in a conversation that has ended.
func (w *world) resume(thread, prompt string) *session {
	return w.start(thread, "--resume", thread, prompt)
}

func (w *world) start(thread string, args ...string) *session {
	w.t.Helper()
	s := &session{w: w, thread: thread}
	args = append([]string{"--print", "--permission-mode", "bypassPermissions", "--model", "claude-opus-4-8"}, args...)
	s.cmd = exec.CommandContext(w.t.Context(), w.agent, args...)
	s.cmd.Dir, s.cmd.Env = w.repo, w.environ(w.env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	s.cmd.WaitDelay = 5 * time.Second // a tool that outlives the agent may hold its output open
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// wait waits for the agent to end and returns what it printed and its exit code.
func (s *session) wait() (string, int) {
	s.w.t.Helper()
	return s.waitFor(patience)
}

func (s *session) waitFor(limit time.Duration) (string, int) {
	s.w.t.Helper()
	watchdog := time.AfterFunc(limit, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait() // the exit code says it
	if !watchdog.Stop() {
		s.w.t.Errorf("the agent did not end within %v", limit)
	}
	fmt.Fprintf(&s.w.output, "== %s: %v\n%s%s\n", s.thread, s.cmd.ProcessState, s.stdout.Bytes(), s.stderr.Bytes())
	return s.stdout.String(), s.cmd.ProcessState.ExitCode()
}

// inTool waits until the agent runs its tool and has put that on record: one
// that is killed earlier takes the tool call with it.
func (w *world) inTool(thread string) {
	w.t.Helper()
	w.recorded("the agent runs a tool", thread, `"type":"tool_use"`)
	w.until("the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(w.repo, "running"))
		return err == nil
	})
}

// recorded waits until the agent's own record of a conversation holds a text.
func (w *world) recorded(what, thread, text string) {
	w.t.Helper()
	w.until(what, func() bool {
		paths, _ := filepath.Glob(filepath.Join(w.home, ".claude/projects/*", thread+".jsonl"))
		if len(paths) == 0 {
			return false
		}
		record, _ := os.ReadFile(paths[0])
		return bytes.Contains(record, []byte(text))
	})
}

// answering waits until the agent is in the middle of a reply.
func (w *world) answering() {
	w.t.Helper()
	w.until("the agent reads a reply", func() bool { return w.model.Held() == 1 })
}

// until polls for a condition, for as long as patience lasts.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	w.poll(patience, what, holds)
}

// poll is until for what takes longer than other agents need for anything.
func (w *world) poll(limit time.Duration, what string, holds func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited %v for: %s", limit, what)
		}
	}
}

// settle waits until every drainer has ended by itself: nothing stays behind,
// and what has arrived by then is all that will.
func (w *world) settle() {
	w.t.Helper()
	w.until("the drainers end by themselves", func() bool { return !running(binary, w.home) })
}

// running reports whether a process of the program works for this home. It is
// known on Linux only; elsewhere the removal of the home has to do.
func running(program, home string) bool { return len(processes(program, home, false)) > 0 }

// processes are those of the program that work for this home: its relays, which stay, or
// all others.
func processes(program, home string, relays bool) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != program {
			continue
		}
		dir := filepath.Dir(link)
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if !bytes.Contains(env, []byte("HOME="+home+"\x00")) || bytes.Contains(args, []byte("\x00relay\x00")) != relays {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// leave keeps what a failed test needs to be understood.
func (w *world) leave() {
	if !w.t.Failed() {
		return
	}
	dir, err := filepath.Abs(filepath.Join("logs", w.t.Name()))
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "home"), os.DirFS(w.home))
	}
	if err != nil {
		w.t.Log("the home folder was not kept whole:", err)
	}
	for name, value := range map[string]any{
		"runs.json": w.server.Memory().Runs(), "ingest.json": w.server.Stats(), "requests.json": w.model.Requests(),
	} {
		text, _ := json.MarshalIndent(value, "", "  ")
		w.write(filepath.Join(dir, name), string(text))
	}
	w.write(filepath.Join(dir, "agent.txt"), w.output.String())
	w.t.Log("kept:", dir)
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Error(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Error(err)
	}
}
