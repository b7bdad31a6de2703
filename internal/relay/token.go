package relay

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// tokenStart begins every token, so that one is known for what it is.
const tokenStart = "tracesmith-relay-"

// Dir is the relay's folder in the state's directory.
func Dir(state string) string { return filepath.Join(state, "relay") }

// LockPath is the file that a relay at work holds locked, below the state's directory.
func LockPath(state string) string { return filepath.Join(Dir(state), "lock") }

// Token is the key of this install's relay, in its folder. It is made when it is first
// asked for.
func Token(dir string) (string, error) {
	path := filepath.Join(dir, "token")
	raw, err := os.ReadFile(path)
	if token := strings.TrimSpace(string(raw)); err == nil && len(token) > len(tokenStart) {
		return token, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("relay: token: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("relay: token: %w", err)
	}
	token := tokenStart + rand.Text()
	if err := atomicfile.Write(path, []byte(token+"\n")); err != nil {
		return "", fmt.Errorf("relay: token: %w", err)
	}
	return token, nil
}
