package integrations

import (
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Kinds of event that no hook sends: the drainer makes them.
const (
	// Grew says that a watched file has new lines, or answers Status.More. It comes
	// last in a pass.
	Grew = "grew"
	// Idle says that the bounded wait for what Status.Waiting promised is over.
	Idle = "idle"
	// Dead says that the agent's process is gone. Nothing more will come from it.
	Dead = "dead"
)

// Hangup says that a stream of events came to its end: the process that the agent runs
// in has ended, whichever way, or let go of the session. The stream's reader makes it;
// its Data is a [Stream].
const Hangup = "hangup"

// Stream names a stream of events.
type Stream struct {
	PID int `json:"pid,omitempty"` // of the process it came from, as in Payload.Parent; 0: not known
}

// Event is a hook's journal line or one of the drainer's own.
type Event struct {
	Kind string          // the agent's event name, or Grew, Idle, Dead
	At   time.Time       // when the hook ran; zero on the drainer's own
	CWD  string          // the agent's working directory then
	Head Head            // git HEAD of CWD then
	Data json.RawMessage // what Project kept
	// Ref names a hook's line to [Source.Recall], so that a reducer of an agent which
	// keeps no transcript can hold references too. Empty on the drainer's own.
	Ref string
}

// Head is where a repository stood when a hook ran.
type Head struct {
	Branch string `json:"branch,omitempty"`
	SHA    string `json:"sha,omitempty"`
}

// Inputs says how much of the conversation a model call repeats as its inputs.
type Inputs string

// The choices. A long session in which each call repeats all that went before costs
// the square of its length against LangSmith's hourly limits.
const (
	InputsTurn   Inputs = "turn"   // this turn's messages so far: the default
	InputsDelta  Inputs = "delta"  // only what is new since the previous call
	InputsThread Inputs = "thread" // the whole conversation, older messages elided
)

// Options are the user's choices that change what runs hold. The zero value is the
// default. They are not part of a reducer's state: a drainer gives them each time.
type Options struct {
	Inputs Inputs
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
	More    bool     // Apply held runs back, so that not all are in memory at once: another Grew brings them
}
