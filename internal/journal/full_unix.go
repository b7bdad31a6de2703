//go:build unix

package journal

import (
	"errors"
	"syscall"
)

// diskFull reports whether an error says that nothing more can be written.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
