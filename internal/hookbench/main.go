package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	alone := flag.Int("n", 200, "runs alone, of each program")
	storm := flag.Int("storm", 320, "runs 16 at once, of each program")
	flag.Parse()
	if err := run(*alone, *storm); err != nil {
		fmt.Fprintln(os.Stderr, "hookbench:", err)
		os.Exit(1)
	}
}

func run(alone, storm int) (err error) {
	dir, err := os.MkdirTemp("", "hookbench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := bench{dir: dir}
	if err := b.build(); err != nil {
		return err
	}
	defer b.settle()
	subjects, err := b.subjects()
	if err != nil {
		return err
	}
	for round := range rounds {
		for i := range subjects {
			subjects[i].alone(share(alone, round), dir)
		}
	}
	for round := range rounds {
		for i := range subjects {
			subjects[i].storm(share(storm, round), dir)
		}
	}
	report(os.Stdout, subjects)
	return errors.Join(failures(subjects)...)
}

// rounds interleaves the programs, so that a busy moment hits all of them.
const rounds = 5

// share is how many of n runs fall into a round.
func share(n, round int) int { return n*(round+1)/rounds - n*round/rounds }

// bench is a folder with the programs and a home for the hook.
type bench struct {
	dir           string
	program, idle string
}

func (b *bench) build() error {
	b.program = filepath.Join(b.dir, "tracesmith"+suffix())
	b.idle = filepath.Join(b.dir, "empty"+suffix())
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	for out, what := range map[string]string{b.program: "./cmd/tracesmith", b.idle: source} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, what)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", what, err, text)
		}
	}
	return nil
}

func suffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// subjects are the programs to compare. The first is what the others are measured
// against, the second what hooks written in JavaScript pay before they begin.
func (b *bench) subjects() ([]subject, error) {
	tool, err := b.payload("PreToolUse")
	if err != nil {
		return nil, err
	}
	result, err := b.payload("PostToolUse")
	if err != nil {
		return nil, err
	}
	hook := []string{b.program, "hook", "claude-code"}
	subjects := []subject{{name: "empty Go program", argv: []string{b.idle}}}
	if node, err := exec.LookPath("node"); err == nil {
		subjects = append(subjects, subject{name: nodeName, argv: []string{node, "-e", "0"}})
	} else {
		fmt.Fprintln(os.Stderr, "hookbench: node is not installed: no comparison with it")
	}
	file, err := b.switchedOff("file")
	if err != nil {
		return nil, err
	}
	return append(subjects,
		subject{name: enabledName, argv: hook, stdin: tool, env: b.env("plain"), measured: true},
		subject{name: "hook that finds or starts a drainer", argv: hook, stdin: result, env: b.env("wakes"), measured: true},
		subject{name: "hook, TRACESMITH=0", argv: hook, stdin: tool, env: append(b.env("off"), "TRACESMITH=0"), measured: true, off: true},
		subject{name: "hook, enabled = false", argv: hook, stdin: tool, env: file, measured: true, off: true},
	), nil
}

const (
	nodeName    = "node -e 0"
	enabledName = "hook"
)

// switchedOff is the environment of a user whose settings switch tracing off.
func (b *bench) switchedOff(name string) ([]string, error) {
	dir := filepath.Join(b.dir, name, "config", "tracesmith")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return b.env(name), os.WriteFile(filepath.Join(dir, "config.toml"), []byte("enabled = false\n"), 0o600)
}

// payload writes an event of the usual size, 4 KB.
func (b *bench) payload(event string) (path string, err error) {
	path = filepath.Join(b.dir, event+".json")
	text := fmt.Sprintf(`{"session_id":"bench","transcript_path":%q,"cwd":%q,"hook_event_name":%q,"prompt_id":"p1",`+
		`"permission_mode":"default","tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":%q},"tool_response":{"stdout":""}}`+"\n",
		filepath.Join(b.dir, "none.jsonl"), b.dir, event, strings.Repeat("go test ./... ", 256))
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// env is a hook's environment with a state directory of its own and no key.
func (b *bench) env(name string) []string {
	home := filepath.Join(b.dir, name)
	return []string{
		"HOME=" + home, "USERPROFILE=" + home, "TRACESMITH_STATE=" + filepath.Join(home, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "PATH=" + os.Getenv("PATH"),
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + os.TempDir(),
	}
}

// settle waits for the drainer that the hooks started: it lingers a while, and its
// folder must not vanish under it.
func (b *bench) settle() {
	lock := filepath.Join(b.dir, "wakes", "state", "tracesmith", "v1")
	for range 60 {
		if !b.draining(lock) {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}
