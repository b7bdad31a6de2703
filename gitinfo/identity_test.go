package gitinfo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/gitinfo"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestAnIdentityHoldsFolderAndRepository(t *testing.T) {
	dir := t.TempDir()
	const sha = "5f3c1a9e0b7d4c2a8e6f1d3b5a7c9e0f2b4d6a81"
	for name, text := range map[string]string{
		"HEAD":            "ref: refs/heads/main\n",
		"refs/heads/main": sha + "\n",
		"config":          "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://user:secret@github.com/example/widgets.git\n",
		"objects/keep":    "",
	} {
		path := filepath.Join(dir, ".git", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := gitinfo.DetectIdentity(t.Context(), dir)
	want := runtypes.Identity{
		WorkingDirectory: dir,
		Repo:             runtypes.Repo{URL: "https://github.com/example/widgets.git", Branch: "main", SHA: sha},
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	plain := t.TempDir()
	if got := gitinfo.DetectIdentity(t.Context(), plain); got != (runtypes.Identity{WorkingDirectory: plain}) {
		t.Errorf("outside a repository: %+v", got)
	}
}
