package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/setup"
)

// Machine is how to look at the agents of this machine.
type Machine struct {
	*setup.Installer
	// Settings reads the settings for an agent.
	Settings func(agent string) (config.Config, error)
	// Version asks a program of an agent for its version; what it prints first.
	Version func(ctx context.Context, program string) (string, error)
	// Relayed says that the relay traces an agent, so that its hooks need not; nil: none.
	Relayed func(agent *integrations.Agent) bool
	// Self is this program; empty: not known.
	Self string
}

// Agents looks at every agent that is here or has our hooks, and returns their names.
func (r *Report) Agents(ctx context.Context, m Machine, agents []*integrations.Agent) (here []string) {
	var absent []string
	for _, agent := range agents {
		list, rivals := m.Survey(agent)
		registered := 0
		for _, s := range list {
			registered += s.Hooks
		}
		if registered == 0 && !m.Found(agent) {
			absent = append(absent, agent.Name)
			continue
		}
		here = append(here, agent.Name)
		r.agent(ctx, m, agent, list, rivals, registered)
	}
	switch {
	case len(absent) == len(agents):
		r.problem("agents", "install one of them, or run: tracesmith install NAME", "none is on this machine: %s", strings.Join(absent, ", "))
	case len(absent) > 0:
		r.ok("agents", "not on this machine: %s", strings.Join(absent, ", "))
	}
	return here
}

func (r *Report) agent(ctx context.Context, m Machine, agent *integrations.Agent, list []setup.Standing, rivals []setup.Rivalry, registered int) {
	r.host(ctx, m, agent)
	installs := "run: tracesmith install " + agent.Name
	if registered == 0 {
		if m.Relayed != nil && m.Relayed(agent) {
			r.ok(agent.Name, "left to the relay: no hooks are registered")
			return
		}
		if len(rivals) > 0 {
			r.note(agent.Name, installs+" --take-over", "left to %s (%s)", rivals[0].Name, rivals[0].Path)
			return
		}
		broken := false
		for _, s := range list {
			if s.Err != nil {
				broken = true
				r.problem(agent.Name, "mend the file", "%s cannot be read: %v", s.Path, s.Err)
			}
		}
		if !broken {
			r.problem(agent.Name, installs, "the hooks are not registered")
		}
		return
	}
	scopes := 0
	for _, s := range list {
		if s.Hooks > 0 || s.Err != nil {
			r.standing(m, agent, s)
		}
		if s.Hooks > 0 {
			scopes++
		}
	}
	if scopes > 1 {
		r.note(agent.Name, "run: tracesmith uninstall "+agent.Name+" --scope project", "registered for the user and for the project: each hook runs twice, and each run is still sent once")
	}
	for _, rival := range rivals {
		r.problem(agent.Name, "switch one of the two off: "+rival.Undo+", or tracesmith uninstall "+agent.Name,
			"%s traces it too (%s): every turn arrives twice", rival.Name, rival.Path)
	}
	r.enabled(m, agent)
}

// host reports the agent's program and its version.
func (r *Report) host(ctx context.Context, m Machine, agent *integrations.Agent) {
	program := agent.Setup.Program
	if program == "" {
		return
	}
	path, err := m.LookPath(program)
	if err != nil {
		r.note(agent.Name, "", "%s: its program %s is not on the search path", agent.Runtime, program)
		return
	}
	said, err := m.Version(ctx, path)
	version := versionIn(said)
	switch {
	case err != nil || version == "":
		r.note(agent.Name, "", "%s at %s does not say its version", agent.Runtime, path)
	case agent.Setup.Tested != "" && newer(version, agent.Setup.Tested):
		r.note(agent.Name, "", "%s %s at %s is newer than %s, the newest that was tried: what is new is kept or left out", agent.Runtime, version, path, agent.Setup.Tested)
	default:
		r.ok(agent.Name, "%s %s at %s", agent.Runtime, version, path)
	}
}

// standing reports on one settings file.
func (r *Report) standing(m Machine, agent *integrations.Agent, s setup.Standing) {
	again := "run: tracesmith install " + agent.Name
	if s.Scope == setup.Project {
		again += " --scope project"
	}
	switch {
	case s.Err != nil:
		r.problem(agent.Name, "mend the file", "%s cannot be read: %v", s.Path, s.Err)
	case len(s.Broken) > 0:
		r.problem(agent.Name, again, "%s runs %s, which is not there", s.Path, strings.Join(s.Broken, ", "))
	case !s.Complete():
		r.problem(agent.Name, again, "%s holds %d hooks in %d spellings instead of %d in one", s.Path, s.Hooks, len(s.Commands), s.Wanted)
	case !s.Trusted:
		r.problem(agent.Name, firstLine(agent.Setup.Note), "%s: %s does not trust the hooks yet and runs none", s.Path, agent.Runtime)
	default:
		r.ok(agent.Name, "%d hooks in %s, each once", s.Hooks, s.Path)
		if m.Self != "" && s.Programs[0] != m.Self {
			r.note(agent.Name, "", "they run %s; this is %s", s.Programs[0], m.Self)
		}
	}
}

// enabled reports whether tracing is switched on for the agent.
func (r *Report) enabled(m Machine, agent *integrations.Agent) {
	settings, err := m.Settings(agent.Name)
	if err == nil && !settings.Enabled {
		r.problem(agent.Name, "take it out there, or set TRACESMITH=1", "tracing is switched off by %s", settings.Source("enabled"))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// versionIn is the first thing in a text that looks like a version.
func versionIn(text string) string {
	for _, word := range strings.Fields(text) {
		word = strings.TrimPrefix(strings.Trim(word, "(),."), "v")
		if strings.Count(word, ".") >= 1 && word[0] >= '0' && word[0] <= '9' {
			return word
		}
	}
	return ""
}

// newer compares versions by their numbers.
func newer(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		var m, n int
		_, _ = fmt.Sscan(x[i], &m) // what is no number counts as 0
		_, _ = fmt.Sscan(y[i], &n)
		if m != n {
			return m > n
		}
	}
	return len(x) > len(y)
}
