package gitinfo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/githead"
)

const (
	// maxOutput bounds what is taken from the git program.
	maxOutput = 1 << 20
	// killDelay is how long a killed program's pipes may stay open.
	killDelay = 100 * time.Millisecond
)

// byProgram asks the git program, which knows every extension and applies all of
// the user's configuration.
func byProgram(ctx context.Context, head githead.Head) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	path, err := exec.LookPath("git")
	if err != nil {
		return answer{}, fmt.Errorf("gitinfo: %w", err)
	}
	p := program{path: path, dir: head.Root, env: environment(os.Environ())}
	root, err := p.run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return answer{}, err
	}
	found := answer{root: filepath.FromSlash(root)}
	name, err := p.run(ctx, "symbolic-ref", "-q", "HEAD")
	switch {
	case err == nil:
		found.branch, _ = strings.CutPrefix(name, "refs/heads/")
		if found.branch == name {
			found.branch = ""
		}
	case exitCode(err) == 1: // detached
		found.branch = head.Branch
	default:
		return answer{}, err
	}
	if found.sha, err = p.run(ctx, "rev-parse", "-q", "--verify", "HEAD"); err != nil && exitCode(err) != 1 {
		return answer{}, err
	}
	found.remote, err = p.remote(ctx, found.branch)
	return found, err
}

type program struct {
	path, dir string
	env       []string
}

// remote returns the URL of the remote that names the repository, with includes
// followed and insteadOf applied.
func (p program) remote(ctx context.Context, branch string) (string, error) {
	out, err := p.run(ctx, "config", "-z", "--get-regexp", `^(remote\..*\.url|branch\..*\.remote)$`)
	if exitCode(err) == 1 {
		return "", nil // none is configured
	}
	if err != nil {
		return "", err
	}
	urls, follows := map[string]string{}, ""
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if name, ok := between(key, "remote.", ".url"); ok {
			urls[name] = value
		}
		if name, ok := between(key, "branch.", ".remote"); ok && name == branch {
			follows = value
		}
	}
	name := pick(urls, follows)
	if name == "" {
		return "", nil
	}
	out, err = p.run(ctx, "remote", "get-url", "--", name)
	first, _, _ := strings.Cut(out, "\n")
	return first, err
}

func between(s, prefix, suffix string) (string, bool) {
	s, before := strings.CutPrefix(s, prefix)
	s, after := strings.CutSuffix(s, suffix)
	return s, before && after && s != ""
}

// run returns the standard output of one git command.
func (p program) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, p.env, killDelay
	out := &limited{left: maxOutput}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("gitinfo: git %s: %w", args[0], err)
	}
	return strings.TrimRight(out.buf.String(), "\r\n\x00"), nil
}

// exitCode is the code that the program ended with; 0 if it did not run to its end.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// environment takes out what would lead git to another repository, as inside a
// git hook, and all else that changes its answers; where the user's configuration
// is stays. git shall neither ask nor lock.
func environment(env []string) []string {
	keep := map[string]bool{
		"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true, "GIT_EXEC_PATH": true,
	}
	clean := make([]string, 0, len(env)+3)
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "GIT_") && !keep[name] || name == "LC_ALL" {
			continue
		}
		clean = append(clean, entry)
	}
	return append(clean, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// limited is a buffer that refuses more than it is meant to hold.
type limited struct {
	buf  bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, errors.New("gitinfo: the output is too long")
	}
	l.left -= len(p)
	return l.buf.Write(p)
}
