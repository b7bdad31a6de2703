//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/plugins"
)

// packed is an agent that takes a plugin of ours by its own means.
type packed struct {
	name  string
	world func(t *testing.T) *world
	add   func(w *world, source string) // has the agent install the plugin from a folder like the repository
	ask   func(w *world) *session       // begins a turn with two model calls and tools
	said  string                        // by the model at its end
	tools int
}

// plugged are the agents whose programs are driven here. Cursor's is not to be had
// without an account.
func plugged() []packed {
	return []packed{
		{
			name: "ClaudeCode", world: newWorld, tools: 3, said: "main.go prints a widget count; there are a few files.",
			add: func(w *world, source string) {
				w.manage("plugin", "validate", source)
				w.manage("plugin", "validate", filepath.Join(source, "integrations", "claude-code", "plugin"))
				w.manage("plugin", "marketplace", "add", source)
				w.manage("plugin", "install", "tracesmith@tracesmith")
			},
			ask: func(w *world) *session { return w.begin("SCENARIO:parallel") },
		},
		{
			name: "Codex", world: newCodexWorld, tools: 2, said: "There is a README about widgets.",
			add: func(w *world, source string) {
				w.manage("plugin", "marketplace", "add", source)
				w.manage("plugin", "add", "tracesmith@tracesmith")
			},
			ask: func(w *world) *session { return w.exec("SCENARIO:codex-tools") },
		},
		{
			name: "Copilot", world: newCopilotWorld, tools: 2, said: "There is a README about widgets.",
			add: func(w *world, source string) {
				w.manage("plugin", "marketplace", "add", source)
				w.manage("plugin", "install", "tracesmith@tracesmith")
			},
			ask: func(w *world) *session { return w.copilot("SCENARIO:copilot-parallel") },
		},
		{
			name: "Pi", world: newPiWorld, tools: 2, said: "There is a README about widgets.",
			add: func(w *world, source string) {
				w.manage(filepath.Join(installed(w.t, "Pi", piPackage), "dist", "bundle", "cli.js"), "install", filepath.Join(source, "integrations", "pi", "plugin"))
			},
			ask: func(w *world) *session { return w.ask("SCENARIO:pi-tools") },
		},
		{
			name: "OpenCode", world: newOpenCodeWorld, tools: 2, said: "There is a README about widgets.",
			add: func(w *world, source string) {
				w.manage("plugin", "--global", "file://"+filepath.Join(source, "integrations", "opencode", "plugin"))
			},
			ask: func(w *world) *session { return w.opencode("run", "SCENARIO:oc-tools") },
		},
	}
}

func TestAPluginAloneTraces(t *testing.T) {
	eachPlugged(t, false, packed.traced)
}

func TestAPluginBesideInstallTracesOnce(t *testing.T) {
	eachPlugged(t, true, packed.traced)
}

func TestAPluginWithoutTheProgramDoesNothing(t *testing.T) {
	eachPlugged(t, false, func(p packed, w *world) {
		if err := os.Remove(filepath.Join(w.home, ".local", "bin", "tracesmith")); err != nil {
			w.t.Fatal(err)
		}
		s := p.ask(w)
		if out, code := s.wait(); code != 0 || !strings.Contains(out, p.said) {
			w.t.Errorf("exit code %d, output %q", code, out)
		}
		if w.name == "claude-code" {
			w.agentNoticedNothing()
		}
		if runs := w.arrived(); len(runs) > 0 {
			w.t.Errorf("%d runs arrived", len(runs))
		}
		if journals, _ := filepath.Glob(filepath.Join(w.home, ".local", "state", "tracesmith", "v1", "sessions", "*", "*")); len(journals) > 0 {
			w.t.Errorf("something was recorded: %v", journals)
		}
	})
}

// eachPlugged runs a test for every agent with the plugin installed, beside the hooks
// that install registered or without them. Claude Code runs hooks when it manages its
// plugins too.
func eachPlugged(t *testing.T, beside bool, test func(p packed, w *world)) {
	t.Parallel()
	long(t)
	for _, p := range plugged() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			w := p.world(t)
			bin := filepath.Join(w.home, ".local", "bin")
			if err := os.MkdirAll(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(binary, filepath.Join(bin, "tracesmith")); err != nil {
				t.Fatal(err)
			}
			w.env = append(w.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			if !beside {
				w.command(binary, "uninstall", w.name)
			}
			p.add(w, w.marketplace())
			test(p, w)
		})
	}
}

// traced runs a turn and finds it whole, once.
func (p packed) traced(w *world) {
	w.t.Helper()
	s := p.ask(w)
	if out, code := s.wait(); code != 0 || !strings.Contains(out, p.said) {
		w.t.Errorf("exit code %d, output %q", code, out)
	}
	turn := w.turns(w.onlyThread(), 1)[0]
	turn.has(2, p.tools)
	turn.completed(p.said)
	turn.succeeded(turn.tools)
}

// marketplace is a folder with the plugins at the places that they have in the
// repository, which agents take for a marketplace.
func (w *world) marketplace() string {
	w.t.Helper()
	made, err := plugins.Files()
	if err != nil {
		w.t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(w.home), "marketplace")
	for name, text := range made {
		w.write(filepath.Join(dir, filepath.FromSlash(name)), string(text))
	}
	return dir
}

// manage has the agent do something other than a turn.
func (w *world) manage(args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.agent, args...)
	cmd.Dir, cmd.Env = w.repo, w.environ(w.env...)
	out, err := cmd.CombinedOutput()
	said, _ := json.Marshal(string(out))
	w.t.Logf("%s: %s", strings.Join(args, " "), said)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
