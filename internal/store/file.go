package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/internal/private"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// magic is how every SQLite file begins.
var magic = []byte("SQLite format 3\x00")

// prepare makes the directory and the file with modes that keep others out, and
// refuses what is no store before SQLite gets to write to it.
func prepare(path string) error {
	if path == "" {
		return errors.New("no path given")
	}
	dir := filepath.Dir(path)
	if err := noLink(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := private.Dir(dir); err != nil {
		return err
	}
	// SQLite opens these beside the file, by name.
	for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if err := noLink(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return file.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return inspect(path)
}

// inspect looks at a file that is there: an empty one is a store not yet begun.
func inspect(path string) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	head := make([]byte, len(magic))
	n, err := io.ReadFull(file, head)
	if closed := file.Close(); err == nil {
		err = closed
	}
	switch {
	case errors.Is(err, io.EOF): // empty
	case errors.Is(err, io.ErrUnexpectedEOF), err == nil && !bytes.Equal(head[:n], magic):
		return ErrForeign
	case err != nil:
		return err
	}
	return os.Chmod(path, 0o600)
}

func noLink(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w", path, ErrSymlink)
	}
	return nil
}

// escapePath writes a path as SQLite's file URIs want it: forward slashes, and
// nothing in it that would end the path.
func escapePath(path string) string {
	path = filepath.ToSlash(path)
	switch {
	case strings.HasPrefix(path, "//"): // of a share; the first two would begin a host's name
		path = "//" + path
	case filepath.VolumeName(path) != "":
		path = "/" + path
	}
	return (&url.URL{Path: path}).EscapedPath()
}
