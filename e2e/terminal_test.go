//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// terminal is the agent's interactive program on a screen of its own: tmux, with a
// server that belongs to the test alone.
type terminal struct {
	w      *world
	thread string
	socket string
}

// open starts the interactive program in a new conversation, past the questions it
// asks when it runs for the first time.
func (w *world) open(flags ...string) *terminal {
	w.t.Helper()
	known, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"lastOnboardingVersion":  claudeVersion,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string]any{"approved": []string{modelKey}},
		"projects":               map[string]any{w.repo: map[string]any{"hasTrustDialogAccepted": true}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(w.home, ".claude.json"), string(known))
	term := &terminal{w: w, thread: uuid.NewString(), socket: filepath.Join(filepath.Dir(w.home), "screen")}
	command := append([]string{"new-session", "-d", "-x", "160", "-y", "50", "-c", w.repo, w.agent,
		"--model", "claude-opus-4-8", "--permission-mode", "default", "--session-id", term.thread}, flags...)
	if out, err := term.tmux(command...); err != nil {
		w.t.Fatalf("tmux: %v\n%s", err, out)
	}
	w.t.Cleanup(func() {
		screen, err := term.tmux("capture-pane", "-p")
		if err == nil { // it is still there
			fmt.Fprintf(&w.output, "== %s: the screen\n%s\n", term.thread, screen)
			_, _ = term.tmux("kill-server")
		}
	})
	term.shows("\n❯") // where a prompt is typed
	return term
}

// needTerminal skips the test, loudly, where no tmux is installed.
func needTerminal(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("!!! SKIPPED: the interactive Claude Code was not tried: there is no tmux")
	}
}

// tmux gives a command to the test's own server.
func (term *terminal) tmux(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", term.socket, "-f", "/dev/null"}, args...)...)
	cmd.Dir = term.w.repo
	cmd.Env = term.w.environ(append(term.w.env, "TERM=xterm-256color", "LANG=C.UTF-8")...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shows waits until the screen holds a text.
func (term *terminal) shows(text string) {
	term.w.t.Helper()
	term.w.until("the screen shows "+text, func() bool {
		screen, err := term.tmux("capture-pane", "-p")
		return err == nil && strings.Contains(screen, text)
	})
}

func (term *terminal) press(key string) {
	term.w.t.Helper()
	if out, err := term.tmux("send-keys", key); err != nil {
		term.w.t.Fatalf("press %s: %v\n%s", key, err, out)
	}
}

// prompt types a line and sends it once it is all there: keys that come too fast
// are taken for pasted text.
func (term *terminal) prompt(line string) {
	term.w.t.Helper()
	if out, err := term.tmux("send-keys", "-l", line); err != nil {
		term.w.t.Fatalf("type %q: %v\n%s", line, err, out)
	}
	term.shows("❯\u00a0" + line)
	term.press("Enter")
}

// leave ends the program the way a person does.
func (term *terminal) leave() {
	term.w.t.Helper()
	term.prompt("/exit")
	term.w.until("the program ends", func() bool {
		_, err := term.tmux("has-session")
		return err != nil
	})
}
