package integrations

import (
	"time"

	"github.com/google/uuid"
)

// MetaImported marks the root of a turn that was not captured while it happened but
// read from the agent's files afterwards: true.
const MetaImported = "imported"

// Place is where past sessions are looked for.
type Place struct {
	Home string              // the user's home folder
	Env  func(string) string // the user's environment
	Path string              // the file or folder that the user named; empty: where the agent keeps its sessions
}

// Session is a past session, found in the agent's own files.
type Session struct {
	ID    string   // the agent's session id: the thread
	Files []string // all its files, the main one first
	Procs []Proc   // processes that the agent noted as working on it; they may be long gone
	// Modified is when the session was last written to, where its files hold others as
	// well; zero: when its files were.
	Modified time.Time
	// Noted says that the agent would have noted a process that works on it.
	Noted bool

	// Tell reads the session's files.
	Tell func(Source) (Told, error)
}

// Told is a session as hooks would have told it.
type Told struct {
	CWD string // where it began
	// Events make the agent's reducer build the session's turns from its files.
	// The drainer's own follow them: Grew and Dead.
	Events []Event
	// Traces are those that the reducer will begin, so that a session of which
	// nothing is wanted need not be told at all.
	Traces []uuid.UUID
}

// Proc names a process of the agent's.
type Proc struct {
	PID   int
	Start string // when it started, in the agent's own words; empty: not known
}

// Main is the session's main file.
func (s Session) Main() string {
	if len(s.Files) == 0 {
		return ""
	}
	return s.Files[0]
}
