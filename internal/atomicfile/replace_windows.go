package atomicfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// How long to wait for readers, and how often to look.
const (
	readersTake = 500 * time.Millisecond
	readersPoll = 5 * time.Millisecond
)

// Replace gives a file the name of another, which is gone then. Windows refuses that
// while anybody has the other open, and a reader in another process may: it is waited for.
func Replace(from, to string) error {
	for deadline := time.Now().Add(readersTake); ; time.Sleep(readersPoll) {
		err := os.Rename(from, to)
		open := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !open || time.Now().After(deadline) {
			return err
		}
	}
}
