package relay

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/tracesmith/tracesmith/internal/private"
)

// Whoever looks whether a relay runs holds its lock for a moment: that keeps no relay
// from beginning, and nobody else who looks takes it for one.
func TestALookKeepsNoRelayFromBeginning(t *testing.T) {
	dir := t.TempDir()
	probe, err := start(dir, "127.0.0.1:0", "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start(dir, "127.0.0.1:0", "http://127.0.0.1:1"); !errors.Is(err, ErrRunning) {
		t.Fatalf("a second relay: %v", err)
	}
	state := probe.cfg.Drain.State.Dir()
	if !Running(state) {
		t.Error("a relay at work is not seen")
	}
	closing(t, probe.Close)

	if err := private.Dir(Dir(state)); err != nil {
		t.Fatal(err)
	}
	look := flock.New(LockPath(state), flock.SetPermissions(os.FileMode(0o600)))
	if free, err := look.TryRLock(); !free || err != nil {
		t.Fatal(free, err)
	}
	if Running(state) {
		t.Error("somebody who looks is taken for a relay")
	}
	time.AfterFunc(lookTime/4, func() { _ = look.Close() })
	relay, err := start(dir, "127.0.0.1:0", "http://127.0.0.1:1")
	if err != nil {
		t.Fatalf("while somebody looked: %v", err)
	}
	closing(t, relay.Close)
}
