package spawn

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Command says which drainer to start.
type Command struct {
	Program string   // this program's file
	Dir     string   // the state's directory; the drainer's working directory too
	Session string   // the session's key, the only thing in the arguments
	Args    []string // what else the program is to do; empty: to be a drainer
	Environ []string // the environment to choose from: os.Environ()
}

// Start starts the drainer and leaves it. Its standard streams are the null
// device: an inherited one would keep the agent waiting for its end, and a pipe
// would kill it on its first write.
func Start(c Command) error {
	args := c.Args
	if len(args) == 0 {
		args = []string{"drain", "--session", c.Session, "--linger"}
	}
	cmd := exec.Command(c.Program, args...)
	cmd.Dir = c.Dir
	cmd.Env = environ(c.Environ, c.Dir)
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("spawn: %w", err)
	}
	if err := cmd.Process.Release(); err != nil {
		return fmt.Errorf("spawn: %w", err)
	}
	return nil
}

// environ keeps what a drainer needs of the hook's environment: its own
// settings, where things are, and how to reach the network. The rest, such as
// the agent's own keys, is none of its business.
func environ(all []string, stateDir string) []string {
	var kept []string
	for _, pair := range all {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToUpper(name)
		switch {
		case name == "TRACESMITH_STATE" && value != "":
			// It may be relative to where the agent works.
			pair = "TRACESMITH_STATE=" + filepath.Dir(filepath.Dir(stateDir))
		case !allowed(name):
			continue
		}
		kept = append(kept, pair)
	}
	return kept
}

func allowed(name string) bool {
	for _, prefix := range []string{"TRACESMITH", "LANGSMITH_", "LANGCHAIN_", "CC_LANGSMITH_", "TRACE_TO_LANGSMITH", "XDG_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "HOME", "USERPROFILE", "PATH", "PATHEXT", "TZ", "LANG", "LC_ALL",
		"TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "USERNAME", "USER",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
		"DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME", "PASSWORD_STORE_DIR": // where the key may be
		return true
	}
	return false
}
