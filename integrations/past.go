package integrations

import "iter"

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
	// Noted says that the agent would have noted a process that works on it.
	Noted bool

	// Events tells the session as hooks would have: the events that make the
	// agent's reducer build its turns from the files. The drainer's own events
	// follow them: Grew, and Dead if nobody works on the session any more.
	Events func(Source) iter.Seq2[Event, error]
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
