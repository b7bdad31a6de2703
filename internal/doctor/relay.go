package doctor

import (
	"strings"
	"time"
)

// Relay is what is known of the relay of Deep Agents Code.
type Relay struct {
	Agent    string // the agent's name
	Way      string // what starts it: service, hook; empty: nothing
	Start    string // and how that is started by hand, or what it takes
	Listen   string // the address it is started on
	Told     string // URL that the agent's own file names; empty: it does not name the relay
	KeyRight bool   // the file has this install's key
	Running  bool
	Answers  bool      // something takes connections at the address the agent sends to
	Upstream string    // where the relay sends on to
	Last     time.Time // when it took up the newest turn; zero: never
	Native   bool      // the agent traces itself, as far as its variables say
	Endpoint string    // LANGSMITH_ENDPOINT in this environment; empty: not set
}

// Relay reports whether Deep Agents Code's own traces reach the relay, and the relay is
// there.
func (r *Report) Relay(s Relay) {
	install := "run: tracesmith install " + s.Agent + " --relay"
	if s.Told == "" {
		r.native(s, install)
		return
	}
	if s.Endpoint != "" && strings.TrimRight(s.Endpoint, "/") != s.Told {
		r.problem("relay", "unset LANGSMITH_ENDPOINT where "+s.Agent+" is started", "LANGSMITH_ENDPOINT (%s) sends the traces past the relay at %s", s.Endpoint, s.Told)
	}
	switch {
	case !s.KeyRight:
		r.problem("relay", install, "%s has the key of another install: its traces would pass unchanged", s.Agent)
	case s.Way == "":
		r.problem("relay", install, "%s sends its traces to %s, and nothing starts a relay there", s.Agent, s.Told)
	case "http://"+s.Listen != s.Told:
		r.problem("relay", install, "%s sends its traces to %s, and the relay is started on %s", s.Agent, s.Told, s.Listen)
	}
	r.relayAtWork(s)
}

func (r *Report) relayAtWork(s Relay) {
	last := "no turn has come yet"
	if !s.Last.IsZero() {
		last = "the newest turn came at " + s.Last.Local().Format(time.DateTime)
	}
	switch {
	case s.Running && s.Answers:
		r.ok("relay", "runs at %s (%s) and sends on to %s; %s", s.Told, s.by(), s.Upstream, last)
	case s.Running:
		r.problem("relay", "end it, so that it is started anew", "runs, and does not answer at %s", s.Told)
	case s.Answers:
		r.problem("relay", "end that program, or run: tracesmith install "+s.Agent+" --relay --relay-listen 127.0.0.1:PORT",
			"does not run; another program answers at %s, and gets the traces", s.Told)
	case s.Way == "hook":
		r.ok("relay", "does not run; the next session of %s starts it at %s; %s", s.Agent, s.Told, last)
	default:
		r.problem("relay", s.Start, "does not run: what %s sends to %s is lost; %s", s.Agent, s.Told, last)
	}
}

func (s Relay) by() string {
	switch s.Way {
	case "service":
		return "a service of the user's"
	case "hook":
		return "started by hooks"
	}
	return "started by hand"
}

// native reports on an agent that traces itself, where the relay is not installed.
func (r *Report) native(s Relay, install string) {
	switch {
	case s.Native && s.Endpoint != "" && s.Endpoint == "http://"+s.Listen && !s.Answers:
		r.problem("relay", "run: tracesmith relay, or have it started: tracesmith install "+s.Agent+" --relay",
			"LANGSMITH_ENDPOINT is %s, and nothing answers there: the traces of %s are lost", s.Endpoint, s.Agent)
	case s.Native && s.Running && s.Answers && s.Endpoint == "http://"+s.Listen:
		r.ok("relay", "runs at %s (%s) and sends on to %s", s.Endpoint, s.by(), s.Upstream)
	case s.Native:
		r.note("relay", install, "%s traces itself, with gaps, and its hooks tell nothing meanwhile", s.Agent)
	}
}
