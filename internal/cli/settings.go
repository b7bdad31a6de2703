package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxSettings bounds the settings file that install reads.
const maxSettings = 8 << 20

// settingsFile is somebody else's file, to be changed as a whole or not at all.
type settingsFile struct {
	path   string // where symbolic links lead
	text   []byte
	exists bool
	mode   fs.FileMode
}

// readSettings reads a settings file; a missing one is empty.
func readSettings(path string) (*settingsFile, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s: a symbolic link that leads nowhere", path)
		}
		return &settingsFile{path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(target)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", target)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSettings {
		return nil, fmt.Errorf("%s: larger than %d bytes", target, maxSettings)
	}
	return &settingsFile{path: target, text: text, exists: true, mode: info.Mode().Perm()}, nil
}

// replace writes the new text under the same name and mode. A file that its owner
// closed to writing, or that changed since it was read, is left alone.
func (s *settingsFile) replace(text []byte, shared bool) error {
	mode := s.mode
	switch {
	case s.exists && mode&0o200 == 0:
		return fmt.Errorf("%s is read-only: make it writable first", s.path)
	case s.exists:
	case shared:
		mode = 0o644 // it will be committed
	default:
		mode = 0o600
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	if now, err := os.ReadFile(s.path); err == nil && !bytes.Equal(now, s.text) {
		return fmt.Errorf("%s was changed meanwhile: try again", s.path)
	}
	return writeFile(s.path, text, mode)
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
	return os.Rename(temp.Name(), path)
}
