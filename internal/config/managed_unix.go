//go:build unix

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

func systemPolicy() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/Tracesmith/policy.toml"
	}
	return "/etc/tracesmith/policy.toml"
}

// closed refuses a policy that others than its administrator could write: they would
// decide where everybody's turns go. It looks at the file, where a link leads to it, and at
// the folders of both.
func closed(path string, administrator int) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("%s: the link leads nowhere", path)
	}
	for _, each := range []string{filepath.Dir(path), filepath.Dir(target), target} {
		info, err := os.Stat(each)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(stat.Uid) != administrator || info.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("%s can be changed by others than the administrator, so nothing is sent: chown root and chmod go-w it", each)
		}
	}
	return nil
}
