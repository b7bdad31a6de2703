package integrations

import (
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Kinds of event that no hook sends: the drainer makes them.
const (
	// Grew says that a watched file has new lines. It comes last in a pass.
	Grew = "grew"
	// Idle says that the bounded wait for what Status.Waiting promised is over.
	Idle = "idle"
	// Dead says that the agent's process is gone. Nothing more will come from it.
	Dead = "dead"
)

// Event is a hook's journal line or one of the drainer's own.
type Event struct {
	Kind string          // the agent's event name, or Grew, Idle, Dead
	At   time.Time       // when the hook ran; zero on the drainer's own
	CWD  string          // the agent's working directory then
	Head Head            // git HEAD of CWD then
	Data json.RawMessage // what Project kept
}

// Head is where a repository stood when a hook ran.
type Head struct {
	Branch string `json:"branch,omitempty"`
	SHA    string `json:"sha,omitempty"`
}

// Reducer folds the events of one session into writes of runs. See the package
// documentation for what it must promise.
type Reducer interface {
	// Apply takes one event. An error concerns that event alone: the drainer
	// counts it and goes on with the next.
	Apply(Source, Event) ([]runtypes.Op, error)
	// Status says what the reducer waits for.
	Status() Status
}

// Status is what the drainer needs to know of a reducer.
type Status struct {
	Open    int      // turns and subagents begun and not closed
	Waiting bool     // an end is known but what the agent writes last is not on disk yet
	Ended   bool     // the session has ended; only a resume continues it
	Watch   []string // files whose growth matters while something is open
}
