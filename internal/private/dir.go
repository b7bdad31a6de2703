package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Dir makes a folder, and those above it, that only its owner can enter. One that is
// there must be the owner's and no symbolic link. If others could enter it, they no
// longer can, nor read what is in it; and where they could write to it, links in it and
// files of theirs are removed, since no folder of the state has any.
func Dir(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		info, err = os.Lstat(path)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory; symbolic links are not followed", path)
	}
	return claim(path, info)
}
