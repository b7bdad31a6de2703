package integrations

import (
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// Agent is all that Tracesmith knows of one coding agent. It is a value with
// functions, not an implementation of an interface, so that a new agent is a
// folder and one line in internal/agents.
type Agent struct {
	Name    string // ls_integration and the word on the command line: claude-code
	Runtime string // human-readable runtime: Claude Code
	Hooks   []Hook // the events to register
	Reply   []byte // what the hook prints; nil: nothing
	// Notice is what a hook that greets prints to tell the user, and never the model,
	// that deliveries fail; nil: the agent shows no such thing.
	Notice func(text string) []byte

	// Claims reports whether a payload is this agent's, whichever agent's hook it came
	// by: some agents run the hooks of others. Nil: none but what comes by its own.
	Claims func(Payload) bool
	// Peek reads the routing fields of a payload and nothing else. ErrForeign is its
	// answer to the payload of another agent, ErrIdle to one that need not be kept.
	Peek func(Payload) (Route, error)
	// Stream begins a stream of events: the agent runs a shim of ours, which pipes lines
	// of JSON to one long process. It returns the Peek of that stream, which may remember
	// the lines before: a line may not say whose thread its session belongs to. Nil: the
	// agent starts a process for each event.
	Stream func() func(Payload) (Route, error)
	// Project reduces a payload to what the reducer reads. Where the agent keeps
	// a transcript that leaves content behind.
	Project func(Payload) (json.RawMessage, error)
	// NewReducer returns the state of a session that nothing is known of yet.
	NewReducer func(Options) Reducer
	// Past finds the sessions of the past in the agent's own files; nil: the agent
	// keeps none. An error concerns one of them, or a place that cannot be read.
	Past func(Source, Place) iter.Seq2[Session, error]

	Setup Setup
}

// ErrForeign says that a payload is another agent's, which runs this one's hooks.
var ErrForeign = errors.New("integrations: the payload is another agent's")

// ErrIdle says that a payload tells nothing that is not told otherwise.
var ErrIdle = errors.New("integrations: the payload tells nothing new")

// Hook is one event of the agent that install registers.
type Hook struct {
	Event   string
	Timeout time.Duration // limit to register with the agent; 0: the agent's default
	Wakes   bool          // the event is worth a drainer's pass
	Settles bool          // a turn or the session ends here: inline uploads wait in it
	Greets  bool          // a session begins here: the user may be told something, see Agent.Notice
	Shield  bool          // the agent kills this hook at once: ignore SIGTERM first
}

// Hook returns the registered event of that name.
func (a *Agent) Hook(event string) (Hook, bool) {
	for _, h := range a.Hooks {
		if h.Event == event {
			return h, true
		}
	}
	return Hook{}, false
}

// Payload is what a hook process was given.
type Payload struct {
	Body   []byte                 // standard input, or the JSON argument
	Args   []string               // arguments after the agent's name
	Env    func(string) string    // the agent's environment: name one key, never list it
	Exists func(path string) bool // whether the agent's own file is there
	Parent int                    // the process that started the hook or feeds the stream; 0: not known
}

// Route is where an event belongs.
type Route struct {
	Event   string // the agent's name for it
	Session string // the agent's session id: the thread
	CWD     string // the agent's working directory
	PID     int    // the agent's process; 0: not known
	Lost    int    // lines that a shim dropped before this one: its pipe was full
}

// Setup says how install registers the hooks. The functions are pure: they turn
// the bytes of a settings file into the bytes it should have.
type Setup struct {
	// Path is the settings file, from the user's home (or, in project scope, the
	// project's folder) and the environment.
	Path func(dir string, project bool, env func(string) string) string
	// Add registers the hooks. command gives the shell command of an event. It
	// returns the settings unchanged, byte for byte, when nothing is missing.
	Add func(settings []byte, hooks []Hook, command string) ([]byte, error)
	// Remove takes out every command that ours recognises.
	Remove func(settings []byte, ours func(command string) bool) ([]byte, error)
	// Whole says that the settings file is the shim, all of it ours: uninstall removes it.
	Whole bool
	// Note is what the user must still do or know; empty: nothing.
	Note string

	// Program is the agent's program, by its name on the search path; empty: it has
	// none. The agent is on a machine that has its program or the folder of Path.
	Program string
	// Tested is the newest version of the agent that the integration was tried with.
	Tested string
	// Shell is what the agent runs commands with on a system, named as runtime.GOOS;
	// nil: Sh everywhere.
	Shell func(system string) Shell
	// Once returns the arguments with which the agent's program takes settings for one
	// run beside those of its files; nil: it takes none.
	Once func(settings []byte) []string
	// Rivals are LangSmith's own tracers of the agent, which must not run beside ours.
	Rivals []Rival
	// Trusted reports whether the agent will run the hooks that are registered in a
	// settings file, from that file and others beside it; nil: it asks nobody.
	Trusted func(path string, read func(path string) ([]byte, error)) (bool, error)
}

// Shell is a language of commands.
type Shell string

// The shells.
const (
	Sh         Shell = "sh"  // also Git Bash on Windows
	Cmd        Shell = "cmd" // of Windows, whether cmd or PowerShell is started
	PowerShell Shell = "powershell"
	Argv       Shell = "argv" // no shell: a JSON array of the program and its arguments, for a shim
)

// Rival is another tracer of the same agent: a plugin that is switched on and off in
// settings.
type Rival struct {
	Name string
	// Paths are the settings that may name it, the weakest first, from the user's
	// home or a project's folder as in Setup.Path.
	Paths func(dir string, project bool, env func(string) string) []string
	// On reports whether settings switch it on; known is false where they do not
	// mention it.
	On func(settings []byte) (on, known bool)
	// Off returns the settings with it switched off; nil: the user has to do it.
	Off func(settings []byte) ([]byte, error)
	// Undo says how a user switches it off.
	Undo string
}
