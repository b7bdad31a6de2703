//go:build unix

package examples

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/internal/road"
)

var update = flag.Bool("update", false, "rewrite the settings")

// hooks are the examples for agents that are not in Go.
var hooks = []struct {
	agent     string
	settings  string // the file with the hooks
	command   string // what it registers
	recording string // a session to play
	want      string // what the server holds in the end
}{
	{
		agent: "claude-code", settings: "settings.json", recording: "subagent",
		command: `"$CLAUDE_PROJECT_DIR"/.claude/tracesmith.sh hook claude-code`,
		want: `
root Claude Code Turn
  llm Claude
  tool Agent
    subagent general-purpose Subagent
      llm Claude
      tool Read
      tool Bash
      llm Claude
  llm Claude
`,
	},
	{
		agent: "openai-codex", settings: "hooks.json", recording: "tools",
		command: `"${CODEX_HOME:-$HOME/.codex}"/tracesmith.sh hook openai-codex`,
		want: `
root Codex Turn
  llm Codex
  tool exec_command
  tool exec_command
  llm Codex
`,
	},
}

func agent(t *testing.T, name string) *integrations.Agent {
	t.Helper()
	a, ok := agents.Find(name)
	if !ok {
		t.Fatalf("no agent %s", name)
	}
	return a
}

func TestTheSettingsRegisterWhatInstallRegisters(t *testing.T) {
	for _, h := range hooks {
		a := agent(t, h.agent)
		want, err := a.Setup.Add([]byte("{}\n"), a.Hooks, h.command)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("hooks", h.agent, h.settings)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", path, err, got, want)
		}
	}
}

func TestHooks(t *testing.T) {
	for _, h := range hooks {
		t.Run(h.agent, func(t *testing.T) {
			t.Parallel()
			script, err := filepath.Abs(filepath.Join("hooks", h.agent, "tracesmith.sh"))
			if err != nil {
				t.Fatal(err)
			}
			rec, err := replay.Load(filepath.Join("..", "integrations", h.agent, "testdata", h.recording))
			if err != nil {
				t.Fatal(err)
			}
			stage, err := rec.Stage(t.TempDir(), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t).langsmith()
			drive := &road.Drive{
				Program: script, Agent: agent(t, h.agent), Stage: stage, Pace: true,
				Env: append(w.env, "TRACESMITH_BIN="+program("tracesmith")),
			}
			if err := drive.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := drive.Deliver(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.expect(w.runs(), h.want)
		})
	}
}

func TestAHookWithoutTheProgramStaysOutOfTheWay(t *testing.T) {
	for _, h := range hooks {
		cmd := exec.CommandContext(t.Context(), filepath.Join("hooks", h.agent, "tracesmith.sh"), "hook", h.agent)
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
		cmd.Stdin = strings.NewReader("{}")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", h.agent, err, out)
		}
	}
}
