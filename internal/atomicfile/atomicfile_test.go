package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestAFileIsReplacedWholeAndPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"a longer first version", "second", ""} {
		if err := Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Fatalf("got %q, %v, want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	left(t, filepath.Dir(path), 1)
}

func TestAFailedReplacementLeavesTheOldContentAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x")); err == nil {
		t.Fatal("a directory was replaced")
	}
	left(t, dir, 1)
	if err := Write(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Fatal("written into a directory that is not there")
	}
}

func TestAReaderDelaysAReplacementAtMost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	time.AfterFunc(30*time.Millisecond, func() {
		reader.Close()
		close(closed)
	})
	if err := Write(path, []byte("new")); err != nil {
		t.Errorf("while somebody read: %v", err)
	}
	<-closed
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("got %q, %v", got, err)
	}
}

func left(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != want {
		t.Errorf("%v in the directory, %v, want %d", entries, err, want)
	}
}
