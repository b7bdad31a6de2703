//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// managedVariable says that what is written below /etc is seen by the test alone: see
// e2e-managed in the Makefile.
const managedVariable = "TRACESMITH_E2E_MANAGED"

func TestHooksInManagedSettingsAloneTrace(t *testing.T) {
	if os.Getenv(managedVariable) == "" {
		t.Skip("!!! SKIPPED: managed settings: make e2e-managed runs this test where it may write below /etc")
	}
	for _, p := range plugged()[:2] {
		t.Run(p.name, func(t *testing.T) {
			w := p.world(t)
			manage(w)
			p.traced(w)
		})
	}
}

// manage puts the hooks where an administrator would: see docs/fleet.md.
func manage(w *world) {
	w.t.Helper()
	path, text := "/etc/claude-code/managed-settings.d/50-tracesmith.json", ""
	if w.name == "claude-code" {
		raw, err := os.ReadFile(filepath.Join(w.home, ".claude", "settings.json"))
		if err != nil {
			w.t.Fatal(err)
		}
		text = strings.Replace(string(raw), "{", `{"allowManagedHooksOnly": true,`, 1)
	} else {
		path, text = "/etc/codex/requirements.toml", requirements(w.t, filepath.Join(w.home, ".codex", "hooks.json"))
	}
	w.command(binary, "uninstall", w.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// requirements is the table of hooks as Codex's administrators write it.
func requirements(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string  `json:"command"`
				Timeout float64 `json:"timeout"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "allow_managed_hooks_only = true\n\n[hooks]\nmanaged_dir = %q\n", filepath.Dir(binary))
	for event, groups := range table.Hooks {
		for _, group := range groups {
			for _, hook := range group.Hooks {
				fmt.Fprintf(&out, "\n[[hooks.%s]]\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = %q\n", event, event, hook.Command)
				if hook.Timeout > 0 {
					fmt.Fprintf(&out, "timeout = %v\n", hook.Timeout)
				}
			}
		}
	}
	return out.String()
}
