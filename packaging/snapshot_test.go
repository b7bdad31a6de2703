//go:build release && unix

package packaging

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// What a program of a release may weigh, and the archive that people download. Most of it
// is SQLite, go-git, TLS, and the tables that tracebacks need.
const (
	mostBytes  = 25 << 20
	mostPacked = 11 << 20
)

// dist is where make release-snapshot leaves its files.
var dist = filepath.Join("..", "dist")

// TestSnapshotInstalls runs install.sh and the packages' own tools against the files of
// a snapshot.
func TestSnapshotInstalls(t *testing.T) {
	files, err := filepath.Abs(dist)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "snapshot"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DIST", files)
			return emptyHome(e, files)
		},
	})
}

func TestSnapshotHoldsEveryKindOfFile(t *testing.T) {
	for pattern, want := range map[string]int{
		"tracesmith_*_linux_*.tar.gz":  2,
		"tracesmith_*_darwin_*.tar.gz": 2,
		"tracesmith_*_windows_*.zip":   2,
		"tracesmith_*.deb":             2,
		"tracesmith_*.rpm":             2,
		"tracesmith_*.cdx.json":        6,
		"checksums.txt":                1,
		"homebrew/Casks/tracesmith.rb": 1,
		"scoop/tracesmith.json":        1,
		"tracesmith_*_*_*/tracesmith*": 6,
	} {
		found, err := filepath.Glob(filepath.Join(dist, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != want {
			t.Errorf("%s: %d files, want %d: %v", pattern, len(found), want, found)
		}
		for _, path := range found {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%9d %s", info.Size(), path[len(dist)+1:])
		}
	}
}

func TestSnapshotIsSmall(t *testing.T) {
	for pattern, most := range map[string]int64{
		"tracesmith_*_*_*/tracesmith*": mostBytes,
		"tracesmith_*.tar.gz":          mostPacked,
		"tracesmith_*.zip":             mostPacked,
	} {
		files, err := filepath.Glob(filepath.Join(dist, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file, %v", pattern, err)
		}
		for _, path := range files {
			if info, err := os.Stat(path); err != nil || info.Size() > most {
				t.Errorf("%s: over %d bytes, or %v", path, most, err)
			}
		}
	}
}
