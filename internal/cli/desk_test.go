package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// desk is a machine with a local store, at which commands are tried.
type desk struct {
	*app
	env   map[string]string
	out   bytes.Buffer
	store *store.Store
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home := t.TempDir()
	d := &desk{env: map[string]string{"HOME": home, "USERPROFILE": home, "TRACESMITH_STATE": filepath.Join(home, "state")}}
	d.app = &app{
		stdin: strings.NewReader(""), stdout: &d.out, stderr: &d.out, now: time.Now,
		env:   func(name string) string { return d.env[name] },
		getwd: func() (string, error) { return home, nil }, executable: func() (string, error) { return "/opt/tracesmith", nil },
	}
	state, err := d.openState()
	if err != nil {
		t.Fatal(err)
	}
	if d.store, err = d.openStore(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.store.Close() })
	return d
}

// turn is a root with a tool, neither of which has ended.
func turn(thread string, start time.Time) (root, tool *runtypes.Run) {
	who := runtypes.Identity{Integration: "claude-code", Runtime: "Claude Code", ThreadID: thread}
	root = runtypes.Root(idgen.Run(start, thread, "root"), start, who)
	return root, runtypes.Tool(root, idgen.Run(start, thread, "tool"), start.Add(time.Second), "Bash")
}

func (d *desk) write(t *testing.T, verb runtypes.Verb, runs ...*runtypes.Run) {
	t.Helper()
	for _, run := range runs {
		one := *run
		if rest, err := d.store.Export(t.Context(), []runtypes.Op{{Verb: verb, Run: &one}}); err != nil || len(rest) > 0 {
			t.Fatal(err)
		}
	}
}
