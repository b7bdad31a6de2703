package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Err says that a path leads to something else than a regular file.
var Err = errors.New("not a regular file")

// Open opens a file for reading. Symbolic links are followed.
func Open(path string) (*os.File, error) { return open(path, 0) }

// OpenHere opens a file for reading that is no symbolic link.
func OpenHere(path string) (*os.File, error) { return open(path, noFollow) }

func open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlock|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w but %s", path, Err, kind(info.Mode()))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
