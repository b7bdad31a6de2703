//go:build unix

package private_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/internal/private"
)

// nobody is a user that runs no test.
const nobody = 65534

func TestAFolderIsMadeForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := private.Dir(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Dir(dir)} {
		if got := mode(t, path); got != 0o700 {
			t.Errorf("%s: %o", path, got)
		}
	}
}

func TestAFolderThatOthersCouldEnterIsClosedWithAllThatIsInIt(t *testing.T) {
	for _, open := range []os.FileMode{0o755, 0o710, 0o770, 0o777} {
		dir := t.TempDir()
		inner, file := filepath.Join(dir, "inner"), filepath.Join(dir, "inner", "file")
		mkdir(t, inner)
		write(t, file)
		for path, mode := range map[string]os.FileMode{file: 0o666, inner: open, dir: open} {
			chmod(t, path, mode)
		}
		if err := private.Dir(dir); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]os.FileMode{file: 0o600, inner: 0o700, dir: 0o700} {
			if got := mode(t, path); got != want {
				t.Errorf("was %o: %s: %o, not %o", open, path, got, want)
			}
		}
	}
}

func TestAFolderCountsAsClosedOnlyWhenAllThatIsInItIs(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 3000 {
		files = append(files, filepath.Join(dir, fmt.Sprintf("file-%04d", i)))
		write(t, files[i])
		chmod(t, files[i], 0o666)
	}
	chmod(t, dir, 0o777)
	done := make(chan error)
	go func() { done <- private.Dir(dir) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		info, err := os.Lstat(dir)
		if err != nil {
			t.Fatal(err)
		}
		closed := info.Mode() == fs.ModeDir|0o700
		for _, file := range []string{files[0], files[len(files)-1]} {
			if closed && mode(t, file) != 0o600 {
				t.Fatalf("were it interrupted here, %s would stay open", file)
			}
		}
	}
}

func TestAClaimThatWasInterruptedIsFinished(t *testing.T) {
	for interrupted, removed := range map[os.FileMode]bool{0o700: false, 0o722: true} {
		dir := t.TempDir()
		file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
		write(t, file)
		chmod(t, file, 0o666)
		if err := os.Symlink("/none", link); err != nil {
			t.Fatal(err)
		}
		chmod(t, dir, fs.ModeSticky|interrupted)
		if err := private.Dir(dir); err != nil {
			t.Fatal(err)
		}
		if mode(t, file) != 0o600 {
			t.Errorf("%o: the file stayed open", interrupted)
		}
		if _, err := os.Lstat(link); os.IsNotExist(err) != removed {
			t.Errorf("%o: the link: %v", interrupted, err)
		}
		if info, err := os.Lstat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%o: the folder: %v, %v", interrupted, info.Mode(), err)
		}
	}
}

func TestALinkThatOthersMayHaveMadeIsRemovedAndNotFollowed(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside)
	chmod(t, outside, 0o644)
	for open, removed := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o720: true, 0o777: true} {
		dir := t.TempDir()
		inner := filepath.Join(dir, "inner")
		mkdir(t, inner)
		links := []string{filepath.Join(dir, "link"), filepath.Join(inner, "link"), filepath.Join(inner, "to nothing")}
		for i, link := range links {
			if err := os.Symlink([]string{outside, outside, "/none"}[i], link); err != nil {
				t.Fatal(err)
			}
		}
		chmod(t, inner, open)
		chmod(t, dir, open)
		if err := private.Dir(dir); err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			if _, err := os.Lstat(link); os.IsNotExist(err) != removed {
				t.Errorf("was %o: %s: %v", open, link, err)
			}
		}
	}
	if mode(t, outside) != 0o644 {
		t.Error("a link was followed")
	}
}

func TestALinkOrAFileInAFoldersPlaceIsRefused(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	write(t, file)
	for _, path := range []string{link, file} {
		if private.Dir(path) == nil {
			t.Errorf("%s was taken", path)
		}
	}
}

func TestWhatIsAnotherUsersIsRefusedOrRemoved(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can give a file to another user; run this test in a container")
	}
	theirs := t.TempDir()
	chown(t, theirs)
	if private.Dir(theirs) == nil {
		t.Error("another user's folder was taken")
	}

	ours := t.TempDir()
	file := filepath.Join(ours, "file")
	write(t, file)
	chown(t, file)
	chmod(t, ours, 0o755) // root put it there: others could not
	if err := private.Dir(ours); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(file); err != nil {
		t.Error("a file was removed from a folder that was its owner's alone to write to")
	}
	chmod(t, ours, 0o777)
	if err := private.Dir(ours); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("another user's file stayed: %v", err)
	}

	inner := filepath.Join(ours, "inner")
	mkdir(t, inner)
	chown(t, inner)
	chmod(t, ours, 0o777)
	if private.Dir(ours) == nil {
		t.Error("a folder was taken with another user's in it")
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func chown(t *testing.T, path string) {
	t.Helper()
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
}
