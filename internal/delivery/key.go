package delivery

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/config"
)

// Bounds of the command that prints the key.
const (
	keyTime  = 10 * time.Second
	keyBytes = 4 << 10
)

// keys finds API keys, each source asked once. It is for one goroutine.
type keys struct {
	env   func(string) string
	ring  func(name string) (string, error)
	known map[config.Key]found
}

type found struct {
	key string
	err error
}

// find is the key that a source holds; empty if it is no source. Its errors show nothing
// of what the source said.
func (k *keys) find(source config.Key) (string, error) {
	if f, ok := k.known[source]; ok {
		return f.key, f.err
	}
	var f found
	switch {
	case source.Command != "":
		f.key, f.err = keyFrom(source.Command, k.env)
	case source.Keyring != "":
		if f.key, f.err = k.ring(source.Keyring); f.err == nil {
			f.key, f.err = oneKey("api_key_keyring", f.key)
		}
	default:
		f.key = source.Text
	}
	if k.known == nil {
		k.known = map[config.Key]found{}
	}
	k.known[source] = f
	return f.key, f.err
}

// keyFrom runs the command that prints the API key, in the home folder: not where the
// agent works, since a project's files are not to be run.
func keyFrom(line string, env func(string) string) (string, error) {
	home := cmp.Or(env("HOME"), env("USERPROFILE"))
	if !filepath.IsAbs(home) {
		return "", errors.New("api_key_command: no home folder to run it in: set HOME")
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/C", line)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.WaitDelay, cmd.Dir = &limited{&out}, time.Second, home
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("api_key_command: %w", err)
	}
	return oneKey("api_key_command", out.String())
}

// oneKey is a key that somebody printed.
func oneKey(by, text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > keyBytes || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%s: want one line, the key", by)
	}
	return text, nil
}

// limited keeps what is too long to be a key from filling the memory, and takes it all.
type limited struct{ to *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.to.Write(p[:min(len(p), max(0, keyBytes+2-l.to.Len()))])
	return len(p), nil
}
