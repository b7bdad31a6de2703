package keyring

import (
	"errors"
	"fmt"
	"time"

	library "github.com/zalando/go-keyring"
)

// service is whose the entries are.
const service = "tracesmith"

// How long the system may take. Who stores a key may have to unlock the keyring first.
const (
	readTime  = 10 * time.Second
	writeTime = 2 * time.Minute
)

// Errors that say why there is no key.
var (
	ErrNone    = errors.New("keyring: no such entry: store it with: tracesmith config key set")
	ErrLocked  = errors.New("keyring: it is locked: unlock it, as a login to the desktop does")
	ErrAbsent  = errors.New("keyring: there is none here: use api_key_command or api_key_file instead")
	errSlow    = errors.New("keyring: no answer in time")
	errCrashed = errors.New("keyring: an answer that nobody understands")
)

// Get reads an entry. It asks nobody to unlock anything: a drainer works in the
// background. Its errors are one line, and show nothing of an entry.
func Get(name string) (string, error) {
	return within(readTime, func() (string, error) {
		if err := ready(); err != nil {
			return "", err
		}
		return library.Get(service, name)
	})
}

// Set stores an entry, in place of one of the same name. The system may ask the user to
// unlock the keyring.
func Set(name, key string) error {
	_, err := within(writeTime, func() (string, error) {
		if err := reachable(); err != nil {
			return "", err
		}
		return "", library.Set(service, name, key)
	})
	return err
}

// Remove takes an entry out; ErrNone if there is none.
func Remove(name string) error {
	_, err := within(writeTime, func() (string, error) {
		if err := reachable(); err != nil {
			return "", err
		}
		return "", library.Delete(service, name)
	})
	return err
}

// within bounds a call. One that hangs is left behind, since nothing ends it, and ends
// with the process.
func within(limit time.Duration, call func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if recover() != nil { // at an answer of another kind than is specified
				done <- result{err: errCrashed}
			}
		}()
		text, err := call()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, named(r.err)
	case <-time.After(limit):
		return "", errSlow
	}
}

// named puts our words to the library's errors.
func named(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrLocked), errors.Is(err, ErrAbsent):
		return err
	case errors.Is(err, library.ErrNotFound):
		return ErrNone
	case errors.Is(err, library.ErrUnsupportedPlatform):
		return ErrAbsent
	case errors.Is(err, library.ErrSetDataTooBig):
		return errors.New("keyring: the key is too long for it")
	}
	return fmt.Errorf("keyring: %w", err)
}
