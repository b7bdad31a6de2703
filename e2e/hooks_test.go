//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A Stop hook of somebody else's makes the model go on: it is the same turn.
func TestStopHookThatBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Stop", `grep -q '"stop_hook_active":true' && exit 0; echo "Check once more." >&2; exit 2`)
	s := w.begin("SCENARIO:plain")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(2, 0)
	turn.completed("Hello from the scripted model. Two widgets are in stock.")
	turn.succeeded(turn.llms)
}

// register adds a hook of the user's own beside ours.
func (w *world) register(event, command string) {
	w.t.Helper()
	path := filepath.Join(w.home, ".claude", "settings.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]any `json:"hooks"`
	}
	if err := json.Unmarshal(raw, &settings); err != nil {
		w.t.Fatal(err)
	}
	settings.Hooks[event] = append(settings.Hooks[event], map[string]any{
		"hooks": []any{map[string]any{"type": "command", "command": command}},
	})
	raw, err = json.Marshal(settings)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(path, string(raw))
}
