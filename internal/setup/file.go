package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// maxSettings bounds a settings file.
const maxSettings = 8 << 20

// file is somebody else's file, to be changed as a whole or not at all.
type file struct {
	path   string // where symbolic links lead
	text   []byte
	exists bool
	mode   fs.FileMode
}

// readFile reads a settings file; a missing one is empty.
func readFile(path string) (*file, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s: a symbolic link that leads nowhere", path)
		}
		return &file{path: resolve(path)}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := regular.Open(target)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSettings {
		return nil, fmt.Errorf("%s: larger than %d bytes", target, maxSettings)
	}
	return &file{path: target, text: text, exists: true, mode: info.Mode().Perm()}, nil
}

// target is the file that a path leads to, which need not be there.
func target(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	return resolve(path)
}

// resolve follows the symbolic links of a path as far as it exists.
func resolve(path string) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(target, filepath.Base(path))
	}
	return filepath.Join(resolve(dir), filepath.Base(path))
}

// check says why the file cannot be changed: its owner closed it to writing, or it
// changed since it was read.
func (f *file) check() error {
	if f.exists && f.mode&0o200 == 0 {
		return fmt.Errorf("%s is read-only: make it writable first", f.path)
	}
	now, err := os.ReadFile(f.path)
	switch {
	case err == nil && !bytes.Equal(now, f.text), err != nil && f.exists, err == nil && !f.exists:
		return fmt.Errorf("%s was changed meanwhile: try again", f.path)
	}
	return nil
}

// replace writes the new text under the same name and mode. shared is a file that
// will be committed.
func (f *file) replace(text []byte, shared bool) error {
	if err := f.check(); err != nil {
		return err
	}
	mode := f.mode
	switch {
	case f.exists:
	case shared:
		mode = 0o644
	default:
		mode = 0o600
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return err
	}
	return writeFile(f.path, text, mode)
}

// remove removes the file and, up to the folder given, what that leaves empty.
func (f *file) remove(folder string) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := os.Remove(f.path); err != nil {
		return err
	}
	for dir := filepath.Dir(f.path); folder != "" && len(dir) >= len(folder); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break // somebody else's things are in it
		}
	}
	return nil
}

// newFolder is the topmost folder that has to be made for a file; empty: none.
func newFolder(path string) string {
	found := ""
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return found
		}
		found = dir
	}
}

// writeFile puts a file in place in one step.
func writeFile(path string, text []byte, mode fs.FileMode) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return err
	}
	if err = temp.Chmod(mode); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return atomicfile.Replace(temp.Name(), path)
}
