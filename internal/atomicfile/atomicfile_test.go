package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
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
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
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

func left(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != want {
		t.Errorf("%v in the directory, %v, want %d", entries, err, want)
	}
}
