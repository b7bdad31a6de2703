package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestTailPrintsRunsAsTheyBeginAndEnd(t *testing.T) {
	d := newDesk(t)
	start := time.Now().Add(-time.Minute)
	old, _ := turn("old", start.Add(-time.Hour))
	d.write(t, runtypes.Post, runtypes.Finish(old, start))
	follow := &tail{app: d.app, from: d.store, seen: map[string]seenTurn{}}
	look := func(first bool, want ...string) {
		t.Helper()
		d.out.Reset()
		if err := follow.look(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(d.out.String(), "\n"), "\n")
		if d.out.Len() == 0 {
			lines = nil
		}
		if len(lines) != len(want) {
			t.Fatalf("got %q, want %q", lines, want)
		}
		for i := range want {
			if !strings.Contains(lines[i], want[i]) {
				t.Errorf("got %q, want %q", lines[i], want[i])
			}
		}
	}
	look(true) // what is over is no news
	root, tool := turn("new", start)
	d.write(t, runtypes.Post, root)
	look(false, "● root Claude Code Turn  running")
	look(false)
	d.write(t, runtypes.Post, runtypes.Finish(tool, start.Add(3*time.Second)))
	look(false, "    ▪ tool Bash  2.0s")
	d.write(t, runtypes.Patch, runtypes.Finish(root, start.Add(4*time.Second)))
	look(false, "● root Claude Code Turn  4.0s")
	look(false)
	follow.thread, follow.asJSON = "another", true
	look(false)
	other, _ := turn("another", start)
	d.write(t, runtypes.Post, runtypes.Finish(other, start.Add(time.Second)))
	look(false, `"name":"Claude Code Turn"`)
}
