//go:build linux || darwin

package procid

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestShellsAreNotTakenForTheCaller(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "hook.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n\"$1\"\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{self},
		{"sh", "-c", "exec " + self},
		{"sh", "-c", "[ -x " + self + " ] && " + self + "; exit 0"},
		{"sh", "-c", script + " " + self + "; exit 0"},
	} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "PROCID_CALLER=1")
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != strconv.Itoa(os.Getpid()) {
			t.Errorf("%q: called by %s, want %d (%v)", argv, got, os.Getpid(), err)
		}
	}
}
