package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/internal/private"
)

// State is the directory that holds everything Tracesmith keeps between
// processes.
type State struct {
	dir string
}

// Open returns the state in dir, which DefaultDir names, and creates it if need
// be. It refuses a symbolic link and a directory of another user: what agents
// were told must not end up in somebody else's hands.
func Open(dir string) (*State, error) {
	if err := private.Dir(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("journal: state: %w", err)
	}
	if err := private.Dir(dir); err != nil {
		return nil, fmt.Errorf("journal: state: %w", err)
	}
	return &State{dir: dir}, nil
}

// Dir is the state's directory.
func (s *State) Dir() string { return s.dir }

// Writable says why nothing can be recorded, nil if it can.
func (s *State) Writable() error {
	probe, err := os.CreateTemp(s.dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	_, err = probe.Write(make([]byte, 4096))
	if err = errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// path joins names below the state's directory.
func (s *State) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// Session is the journal of one session of an agent. Its directory need not
// exist yet.
type Session struct {
	state       *State
	agent, hash string
	name        string // the agent's session id; empty when only the key is known
	dir         string
}

// Session returns the journal of an agent's session.
func (s *State) Session(agent, session string) *Session {
	sum := sha256.Sum256([]byte(session))
	found := s.session(agent, hex.EncodeToString(sum[:16]))
	found.name = session
	return found
}

// Keyed returns the session of a key.
func (s *State) Keyed(key string) (*Session, error) {
	agent, hash, ok := strings.Cut(key, "/")
	if !ok || !plainName(agent) || !plainName(hash) {
		return nil, fmt.Errorf("journal: %q is no session key", key)
	}
	return s.session(agent, hash), nil
}

func (s *State) session(agent, hash string) *Session {
	return &Session{state: s, agent: agent, hash: hash, dir: s.path("sessions", agent, hash)}
}

// Key names the session in a command line: the agent and a hash, nothing of
// what the agent said.
func (s *Session) Key() string { return s.agent + "/" + s.hash }

// Agent is the name of the session's agent.
func (s *Session) Agent() string { return s.agent }

// Dir is the session's directory.
func (s *Session) Dir() string { return s.dir }

func (s *Session) path(name string) string { return filepath.Join(s.dir, name) }

// Known reports whether there is a trace of the session: its journal, or what outlives it.
func (s *Session) Known() bool {
	return slices.ContainsFunc([]string{s.dir, s.tombstonePath(), s.mutePath()}, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

// prepare makes the session's directory.
func (s *Session) prepare() error {
	if !plainName(s.agent) || !plainName(s.hash) {
		return fmt.Errorf("journal: %q is no session key", s.Key())
	}
	for dir := range s.parents() {
		if err := private.Dir(dir); err != nil {
			return fmt.Errorf("journal: session: %w", err)
		}
	}
	return nil
}

// parents yields the directories from the state's down to the session's.
func (s *Session) parents() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		_ = yield(s.state.path("sessions")) &&
			yield(s.state.path("sessions", s.agent)) &&
			yield(s.dir)
	}
}

// plainName reports whether a name is safe as one element of a path.
func plainName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// list returns the names in a directory, sorted; none if it is not there.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !missing(err) {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}
