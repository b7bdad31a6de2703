//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// deepAgents is Deep Agents Code in an environment of its own.
type deepAgents struct{ program, version string }

// deepAgentsPins are the versions that are tried, each with the oldest Python that it
// runs on: the newest one that the machine's Python allows.
var deepAgentsPins = []struct {
	minor   int // of Python 3
	version string
}{{14, "0.2.2"}, {12, "0.1.88"}, {11, "0.1.57"}}

var deepAgentsOnce = sync.OnceValues(func() (deepAgents, error) {
	python, minor, err := newestPython()
	if err != nil {
		return deepAgents{}, err
	}
	for _, pin := range deepAgentsPins {
		if minor >= pin.minor {
			program, err := fromPyPI(python, minor, "deepagents-code", pin.version, "dcode")
			return deepAgents{program, pin.version}, err
		}
	}
	return deepAgents{}, fmt.Errorf("%w: Deep Agents Code needs Python 3.11, here is 3.%d", errNoRegistry, minor)
})

// newestPython finds the newest Python 3 that works: TRACESMITH_E2E_PYTHON, or one on
// the search path or in pyenv's folder.
func newestPython() (path string, minor int, err error) {
	names := []string{"python3", "python3.11", "python3.12", "python3.13", "python3.14"}
	if home, err := os.UserHomeDir(); err == nil {
		own, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
		names = append(names, own...)
	}
	if own := os.Getenv("TRACESMITH_E2E_PYTHON"); own != "" {
		names = []string{own}
	}
	for _, name := range names {
		out, err := exec.Command(name, "-c", "import sys, venv; print(sys.version_info.minor, sys.executable)").Output()
		if err != nil {
			continue // a shim of a version that is not there
		}
		number, at, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		if n, err := strconv.Atoi(number); err == nil && n > minor && n <= newestMinor {
			path, minor = at, n
		}
	}
	if path == "" {
		return "", 0, fmt.Errorf("%w: no Python 3 with venv", errNoRegistry)
	}
	return path, minor, nil
}

// newestMinor is the newest Python 3 that Deep Agents Code runs on.
const newestMinor = 14

// fromPyPI installs a package into an environment in the cache unless it is there, and
// returns the path of its program.
func fromPyPI(python string, minor int, pkg, version, program string) (string, error) {
	dir, err := cached(fmt.Sprintf("%s-%s-py3%d", pkg, version, minor))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "bin", program)
	if checkVersion(path, pkg+" "+version) == nil {
		return path, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("e2e: remove the broken installation: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*installLimit)
	defer cancel()
	for _, command := range [][]string{
		{python, "-m", "venv", dir}, // knows its own place: it cannot be moved there when it is whole
		{filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", pkg + "==" + version},
	} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return "", errors.Join(fmt.Errorf("%w: %s: %w\n%s", errNoRegistry, strings.Join(command[1:], " "), err, tail(out)), os.RemoveAll(dir))
		}
	}
	return path, checkVersion(path, pkg+" "+version)
}
