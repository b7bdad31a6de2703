package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/store"
)

func TestOthersCannotReadTheStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are access lists there")
	}
	path := filepath.Join(t.TempDir(), "a b?#%", "runs.db")
	s := open(t, store.Config{Path: path})
	root, _, _ := turn("th", 1, noon)
	export(t, s, post(root))
	for name, want := range map[string]os.FileMode{
		filepath.Dir(path): 0o700 | os.ModeDir, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", filepath.Base(name), info.Mode(), err, want)
		}
	}
}

// As the path of a share begins on Windows; elsewhere it is another spelling of one.
func TestAPathThatBeginsWithTwoSlashesNamesNoHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there it would have to be a share")
	}
	path := filepath.Join(t.TempDir(), "d", "runs.db")
	root, _, _ := turn("th", 1, noon)
	export(t, open(t, store.Config{Path: "/" + path}), post(root))
	if n := len(trace(t, open(t, store.Config{Path: path}), root.ID.String())); n != 1 {
		t.Errorf("%d runs", n)
	}
}

func TestSymbolicLinksAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	link := func(from, to string) string {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
		return from
	}
	for _, path := range []string{
		filepath.Join(link(filepath.Join(dir, "dir"), real), "runs.db"),
		link(filepath.Join(real, "file.db"), filepath.Join(dir, "elsewhere")),
		strings.TrimSuffix(link(filepath.Join(real, "wal.db-wal"), filepath.Join(dir, "elsewhere")), "-wal"),
	} {
		if _, err := store.Open(t.Context(), store.Config{Path: path}); !errors.Is(err, store.ErrSymlink) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link was followed: %v", err)
	}
}

// lite makes an SQLite file by statements.
func lite(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFileThatIsNotOursIsLeftAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, path string)
		want    error
	}{
		"text": {func(t *testing.T, path string) {
			write(t, path, []byte(strings.Repeat("a diary entry\n", 400)))
		}, store.ErrForeign},
		"short": {func(t *testing.T, path string) { write(t, path, []byte("x")) }, store.ErrForeign},
		"other program's": {func(t *testing.T, path string) {
			lite(t, path, "CREATE TABLE runs (id)", "INSERT INTO runs VALUES (1)")
		}, store.ErrForeign},
		"newer": {func(t *testing.T, path string) {
			lite(t, path, "CREATE TABLE later (id)", "PRAGMA application_id = 0x5472536d", "PRAGMA user_version = 99")
		}, store.ErrNewer},
		"cut": {func(t *testing.T, path string) {
			lite(t, path, "CREATE TABLE t (id)", "PRAGMA application_id = 0x5472536d")
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := bytes.Clone(whole)
			copy(damaged[100:], bytes.Repeat([]byte{0xff}, 400))
			write(t, path, damaged)
		}, store.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			tc.prepare(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = store.Open(t.Context(), store.Config{Path: path})
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnEmptyFileBecomesAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	write(t, path, nil) // another process was killed between making and filling it
	s := open(t, store.Config{Path: path})
	root, _, _ := turn("th", 1, noon)
	export(t, s, post(root))
	if s.Path() != path {
		t.Error(s.Path())
	}
}

func TestADirectoryThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	for _, path := range []string{"", filepath.Join(file, "d", "runs.db")} {
		if _, err := store.Open(t.Context(), store.Config{Path: path}); err == nil {
			t.Errorf("%q opened", path)
		}
	}
}

func TestACheckFindsDamageThatAnOpenDoesNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, store.Config{Path: path})
	root, _, _ := turn("th", 1, noon)
	export(t, s, post(root))
	if err := errors.Join(s.Check(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for at := int64(4 * page); at < info.Size(); at += page {
		if _, err := file.WriteAt(bytes.Repeat([]byte{0xff}, 64), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, store.Config{Path: path, Late: true})
	if err := s.Check(t.Context()); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}
