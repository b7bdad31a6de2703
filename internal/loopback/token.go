package loopback

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/private"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// maxToken bounds what is read of a token's file.
const maxToken = 256

// Token is the secret that a file holds, and that its owner's clients show. start begins
// every one, so that it is known for what it is. The file is made when it is first asked
// for, once by however many ask, readable by its owner alone, and so is its folder; a link
// in its place is refused.
func Token(path, start string) (string, error) {
	if err := private.Dir(filepath.Dir(path)); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	token, err := read(path, start)
	if errors.Is(err, fs.ErrNotExist) {
		token, err = produce(path, start)
	}
	return token, err
}

// produce makes a token, unless another process has done so meanwhile.
func produce(path, start string) (string, error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	_ = lock.Lock() // where the file system has no locks, whoever asks last has the token
	defer lock.Close()
	if token, err := read(path, start); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	token := start + rand.Text()
	if err := atomicfile.Write(path, []byte(token+"\n")); err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return token, nil
}

// read is the token in a file; fs.ErrNotExist if there is none, or one of which a part is
// missing.
func read(path, start string) (string, error) {
	file, err := regular.OpenHere(path)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxToken))
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < len(start)+len(rand.Text()) || !strings.HasPrefix(token, start) {
		return "", fs.ErrNotExist
	}
	return token, nil
}

// Shown reports whether a secret is one of those that are known, none of which is empty.
func Shown(secret string, known ...string) bool {
	for _, each := range known {
		if each != "" && subtle.ConstantTimeCompare([]byte(secret), []byte(each)) == 1 {
			return true
		}
	}
	return false
}
