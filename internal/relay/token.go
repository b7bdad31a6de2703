package relay

import (
	"fmt"
	"path/filepath"

	"github.com/tracesmith/tracesmith/internal/loopback"
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
	token, err := loopback.Token(filepath.Join(dir, "token"), tokenStart)
	if err != nil {
		return "", fmt.Errorf("relay: %w", err)
	}
	return token, nil
}
