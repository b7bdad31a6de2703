//go:build unix

package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	forOthers      = 0o077 // anything at all
	writableToThem = 0o022
)

// unfinished marks a folder that is closed while what is in it is not yet: should the
// process end there, the next one goes on. Beside it, who could write stays noted in the
// mode: without the right to search, to write is of no use to them.
const unfinished = fs.ModeSticky

// claim refuses a folder of another user and closes one that others can enter. Those
// below it are closed as well: they may have been as open, and were within reach.
func claim(dir string, info fs.FileInfo) error {
	if foreign(info) {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	was := info.Mode().Perm()
	if was&forOthers == 0 && info.Mode()&unfinished == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700|was&writableToThem|unfinished); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, entry := range entries { // all of them: the next call finds the folder closed
		info, gone := entry.Info()
		if gone == nil {
			err = errors.Join(err, claimEntry(filepath.Join(dir, entry.Name()), info, was&writableToThem != 0))
		}
	}
	return errors.Join(err, os.Chmod(dir, 0o700))
}

// claimEntry closes what is in a folder that others could enter, and write to.
func claimEntry(path string, info fs.FileInfo, written bool) error {
	var err error
	switch {
	case info.IsDir():
		err = claim(path, info)
	case written && (foreign(info) || info.Mode()&fs.ModeSymlink != 0):
		err = os.Remove(path)
	case info.Mode().IsRegular() && info.Mode().Perm()&forOthers != 0 && !foreign(info):
		err = os.Chmod(path, 0o600)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has removed it meanwhile
	}
	return err
}

func foreign(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Geteuid()
}
