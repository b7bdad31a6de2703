package cli

import (
	"os/user"
	"runtime"
	"testing"
)

func TestAServiceWithoutHOMEHasItsUsersFolder(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	if got := Environ("HOME"); got != "/home/dev" {
		t.Errorf("HOME is %q, want what the environment says", got)
	}
	me, err := user.Current()
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no list of users")
	}
	t.Setenv("HOME", "")
	if got := Environ("HOME"); got != me.HomeDir {
		t.Errorf("HOME is %q, want %q", got, me.HomeDir)
	}
	t.Setenv("XDG_STATE_HOME", "")
	if got := Environ("XDG_STATE_HOME"); got != "" {
		t.Errorf("XDG_STATE_HOME is %q, want none", got)
	}
}
