package pi

import (
	"sync"

	"github.com/tracesmith/tracesmith/integrations"
)

// streams knows the sessions of the Pi processes whose lines it saw. A process that
// one of them started belongs to its thread. The extension says so itself; where it
// does not, as in a recording of everything, the process ids do.
type streams struct {
	mu   sync.Mutex
	byID map[int]owner
}

// owner is whose a process is.
type owner struct {
	session, root string
	at            int64 // milliseconds: when it was heard of last
}

// maxStreams bounds the processes that are remembered; maxSilence is how long, in
// milliseconds, one may be silent and still be the parent of another.
const (
	maxStreams = 256
	maxSilence = 24 * 60 * 60 * 1000
)

func newStreams() *streams { return &streams{byID: map[int]owner{}} }

// peek reads where a line belongs. What a subagent says goes to the journal of the
// thread; the process that is watched there is the thread's own.
func (s *streams) peek(p integrations.Payload) (integrations.Route, error) {
	in, err := parseLine(p.Body)
	if err != nil {
		return integrations.Route{}, err
	}
	route := integrations.Route{
		Event: in.Name, Session: in.Context.Session, CWD: in.Context.CWD, PID: in.PID, Lost: in.Lost,
	}
	if in.Context.Session == "" {
		return route, nil
	}
	if root := s.root(&in); root != in.Context.Session {
		route.Session, route.PID = root, 0
	}
	return route, nil
}

// root is the thread that a line's session belongs to.
func (s *streams) root(in *line) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	root := in.Context.Session
	switch known, ok := s.byID[in.PPID]; {
	case in.Parent != nil && in.Parent.Root != "":
		root = in.Parent.Root
	case s.byID[in.PID].session == root: // also when the process that started it is gone
		root = s.byID[in.PID].root
	case ok && in.PPID != 0 && in.T-known.at < maxSilence && known.at-in.T < maxSilence:
		root = known.root
	}
	if in.PID == 0 {
		return root
	}
	if len(s.byID) >= maxStreams {
		clear(s.byID)
	}
	s.byID[in.PID] = owner{session: in.Context.Session, root: root, at: in.T}
	return root
}
