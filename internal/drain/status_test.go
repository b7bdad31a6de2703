package drain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/journal"
)

func TestAProblemIsToldOnce(t *testing.T) {
	b := newBench(t)
	b.hook("start", toyData{})
	b.mustDrain()
	path := filepath.Join(b.s.Dir(), "checkpoint.one.json")
	if err := os.WriteFile(path, []byte(`{"version":9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if problem := b.status().Sessions[0].Problem; strings.Count(problem, "checkpoint.one.json") != 1 {
		t.Errorf("%q", problem)
	}
}

func TestATurnThatMayHaveBeenMutedIsCounted(t *testing.T) {
	b := newBench(t)
	if _, err := b.s.SetMute(true, time.Now()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(b.state.Dir(), "muted", b.s.Key()+".json")
	if err := os.WriteFile(path, []byte(`{"ver`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.hook("start", toyData{})
	b.hook("tool", toyData{Tool: "x"})
	b.mustDrain()
	b.want("")
	if dropped := b.status().Dropped; dropped[journal.DropMute] != 1 {
		t.Errorf("dropped %v", dropped)
	}
	if _, err := b.s.Mute(); err == nil || !strings.Contains(err.Error(), "until "+path+" is moved away") {
		t.Errorf("got %v", err)
	}
}
