package atomicfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write replaces the file at path by data. The new content is on the disk
// before it takes the name, and the name is on the disk when Write returns. The
// file is readable by its owner alone.
func Write(path string, data []byte) error { return Copy(path, bytes.NewReader(data)) }

// Copy is Write of what is read from src up to its end. An error of src's leaves the
// file as it was.
func Copy(path string, src io.Reader) (err error) {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return fmt.Errorf("atomicfile: %w", err)
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
			err = fmt.Errorf("atomicfile: %w", err)
		}
	}()
	if _, err = io.Copy(temp, src); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	if err = Replace(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}
