//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tracesmith/tracesmith/internal/regular"
)

func TestOnlyARegularFileIsOpenedAndNothingIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{dir: "a directory", pipe: "a pipe", os.DevNull: "a device"} {
		if _, err := regular.Open(path); !errors.Is(err, regular.Err) || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{file, link} {
		f, err := regular.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 8)
		if n, _ := f.Read(text); string(text[:n]) != "text" {
			t.Errorf("%s: read %q", path, text[:n])
		}
		f.Close()
	}
	if _, err := regular.OpenHere(link); err == nil {
		t.Error("a symbolic link was followed")
	}
	if _, err := regular.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
