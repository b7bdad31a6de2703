//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// claudeVersion is the Claude Code that the recordings and the reducer were made
// with. A newer one is tried by changing this line.
const claudeVersion = "2.1.332"

const installLimit = 5 * time.Minute

// errNoRegistry says that a registry could not be reached: the one failure that may be
// skipped.
var errNoRegistry = errors.New("the agent cannot be fetched")

// claude returns the path of the pinned Claude Code, installed at most once.
func claude(t *testing.T) string {
	t.Helper()
	return installed(t, "Claude Code", claudeOnce)
}

// installed returns the path of an agent, or skips the test where it may.
func installed(t *testing.T, name string, once func() (string, error)) string {
	t.Helper()
	path, err := once()
	if errors.Is(err, errNoRegistry) && os.Getenv("TRACESMITH_E2E_SKIP") == "1" {
		t.Skipf("!!! SKIPPED: the real %s was not tried: %v", name, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var claudeOnce = sync.OnceValues(func() (string, error) {
	return fetched("claude-code-"+claudeVersion, "@anthropic-ai/claude-code@"+claudeVersion, "claude", claudeVersion+" ")
})

// fetched installs a package into a folder of the cache unless it is there, and
// returns the path of its program, which says the version.
func fetched(folder, pkg, program, version string) (string, error) {
	dir, err := cached(folder)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "node_modules", ".bin", program)
	if checkVersion(path, version) == nil {
		return path, nil
	}
	if err := npmInstall(dir, pkg); err != nil {
		return "", err
	}
	return path, checkVersion(path, version)
}

// cached is where a folder of the cache is.
func cached(folder string) (string, error) {
	cache := os.Getenv("TRACESMITH_E2E_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("e2e: find the cache folder: %w", err)
		}
		cache = filepath.Join(user, "tracesmith", "e2e")
	}
	return filepath.Join(cache, folder), nil
}

// npmInstall puts packages into dir, which either holds all of them or is not there.
func npmInstall(dir string, pkgs ...string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("e2e: make the cache folder: %w", err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		return fmt.Errorf("e2e: make the cache folder: %w", err)
	}
	defer os.RemoveAll(fresh)
	ctx, cancel := context.WithTimeout(context.Background(), installLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", fresh, "--no-save", "--no-audit", "--no-fund")
	cmd.Args = append(cmd.Args, pkgs...)
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: npm install %s: %w\n%s", errNoRegistry, strings.Join(pkgs, " "), err, tail(out))
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("e2e: remove the broken installation: %w", err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		return fmt.Errorf("e2e: keep the installation: %w", err)
	}
	return nil
}

func checkVersion(path, version string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("e2e: the agent is not there: %w", err)
	}
	home, err := os.MkdirTemp("", "tracesmith-e2e-")
	if err != nil {
		return fmt.Errorf("e2e: make a home folder: %w", err)
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output() // what it warns of is not the version
	if err != nil {
		return fmt.Errorf("e2e: %s --version: %w\n%s", path, err, tail(out))
	}
	if !strings.HasPrefix(strings.TrimSpace(string(out))+" ", version) {
		return fmt.Errorf("e2e: %s is version %q, want %s", path, bytes.TrimSpace(out), version)
	}
	return nil
}

// tail is the end of a program's output, where it says what went wrong.
func tail(out []byte) []byte {
	const most = 2000
	return out[max(0, len(out)-most):]
}
