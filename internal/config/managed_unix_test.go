//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"
)

// Whoever could write the machine's policy would decide where everybody's turns go.
func TestAPolicyThatOthersCanWriteIsRefused(t *testing.T) {
	check := func(fits bool, file, folder os.FileMode, owner int, prepare func(path string) string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "tracesmith")
		path := filepath.Join(dir, "policy.toml")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]os.FileMode{path: file, dir: folder} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		if prepare != nil {
			path = prepare(path)
		}
		if err := closed(path, owner); (err == nil) != fits {
			t.Errorf("%o in %o: %v", file, folder, err)
		}
	}
	me := os.Geteuid()
	check(true, 0o644, 0o755, me, nil)
	check(true, 0o400, 0o700, me, nil)
	check(false, 0o664, 0o755, me, nil)
	check(false, 0o646, 0o755, me, nil)
	check(false, 0o644, 0o775, me, nil)
	check(false, 0o644, 0o777, me, nil)
	check(false, 0o644, 0o1777, me, nil)
	check(false, 0o644, 0o755, me+1, nil)
	link := func(path string) string {
		dir := filepath.Join(filepath.Dir(filepath.Dir(path)), "place")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, "policy.toml")); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "policy.toml")
	}
	check(true, 0o644, 0o755, me, link)
	check(false, 0o666, 0o755, me, link)
	check(false, 0o644, 0o777, me, link)
}
