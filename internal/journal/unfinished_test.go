package journal

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// unfinishedVariable makes this program keep a copy of a request that never ends.
const unfinishedVariable = "TRACESMITH_TEST_UNFINISHED"

func keepForEver(dir string) error {
	state, err := Open(dir)
	if err != nil {
		return err
	}
	out, in := io.Pipe()
	go func() {
		_, _ = in.Write([]byte("half of it"))
		_, _ = os.Stdout.WriteString("begun\n")
	}()
	return state.KeepSent(Sent{At: time.Now()}, out)
}

func TestWhatAKilledWriterLeftIsSwept(t *testing.T) {
	if dir := os.Getenv(unfinishedVariable); dir != "" {
		t.Fatal(keepForEver(dir))
	}
	state := open(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), unfinishedVariable+"="+state.Dir())
	said, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	s := state.Session("toy", "s")
	add(t, s, "one")
	if err := state.KeepSent(Sent{At: time.Now()}, &body{left: 1}); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(s.Dir(), ".checkpoint.one.json.1.tmp") // its writer may live
	if err := os.WriteFile(fresh, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		t.Helper()
		names, err := list(state.path(sentDir))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			old := time.Now().Add(-2 * unfinishedAge)
			if err := os.Chtimes(state.path(sentDir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
		return len(names)
	}
	if n := left(); n != 2 {
		t.Fatalf("%d files, want a copy and half of one", n)
	}
	if err := state.Sweep(); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 1 {
		t.Errorf("%d files, want the copy", n)
	}
	if _, err := os.Lstat(fresh); err != nil {
		t.Error(err)
	}
	equal(t, read(t, s, Positions{}), "one")
}
