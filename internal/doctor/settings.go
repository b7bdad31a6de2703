package doctor

import (
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/internal/config"
)

// Settings are those of an agent, which can have some of its own.
type Settings struct {
	Agent string
	config.Config
	Err error // why they cannot be read whole
}

// Settings reports on the settings of the agents that are here: what could not be
// read, what had no effect, and where runs go. What holds for several is said once.
func (r *Report) Settings(list []Settings) {
	said := map[string]bool{}
	for _, s := range list {
		if s.Err == nil {
			continue
		}
		for line := range strings.Lines(s.Err.Error()) {
			if line = strings.TrimSpace(line); !said[line] {
				said[line] = true
				r.problem("settings", "mend it; until then no content leaves", "%s", line)
			}
		}
	}
	for _, s := range list {
		for _, each := range s.Ignored {
			if !said[each] {
				said[each] = true
				r.note("settings", "", "has no effect: %s", each)
			}
		}
	}
	var ways []Line
	agents := map[Line][]string{}
	for _, s := range list {
		line := way(s.Config)
		if agents[line] == nil {
			ways = append(ways, line)
		}
		agents[line] = append(agents[line], s.Agent)
	}
	for _, line := range ways {
		whose := ""
		if len(ways) > 1 {
			whose = " (" + strings.Join(agents[line], ", ") + ")"
		}
		line.Text += whose
		r.Lines = append(r.Lines, line)
	}
}

// way says where runs go.
func way(settings config.Config) Line {
	const check = "settings"
	switch {
	case settings.Upload == config.Off && settings.Delivers():
		return Line{Note, check, "nothing is delivered by itself: upload is off (" + settings.Source("upload") + ")", "run tracesmith drain to deliver"}
	case settings.Delivers():
		return Line{OK, check, "runs go to " + strings.Join(endpoints(settings), ", "), ""}
	case settings.Store:
		return Line{Note, check, "there is no key: turns stay on this machine (tracesmith show)",
			"set LANGSMITH_API_KEY, or api_key in the settings, to send turns to LangSmith"}
	}
	return Line{Problem, check, "there is no key and no local store: turns go nowhere", "set LANGSMITH_API_KEY, or api_key in the settings"}
}

func endpoints(settings config.Config) []string {
	var list []string
	for _, p := range settings.Places() {
		if !slices.Contains(list, p.Endpoint) {
			list = append(list, p.Endpoint)
		}
	}
	if settings.OTLP.Endpoint != "" {
		list = append(list, settings.OTLP.Endpoint+" (OTLP)")
	}
	return list
}

// View is the settings as one environment shows them.
type View struct {
	Settings []config.Config // of each agent that is here
	State    string          // the state directory
	Proxies  []string        // see Proxies
}

// Desktop compares what this shell's environment shows with what an agent sees that
// was started from a desktop, which has no shell.
func (r *Report) Desktop(shell, desktop View, userFile string) {
	const check = "desktop"
	var differs []string
	for n, settings := range shell.Settings {
		bare := desktop.Settings[n].Explain()
		for i, here := range settings.Explain() {
			one := here.Key + " (" + here.Source + ")"
			if here.Value != bare[i].Value && !slices.Contains(differs, one) {
				differs = append(differs, one)
			}
		}
	}
	fine := true
	if len(differs) > 0 {
		fine = false
		r.note(check, "put it into "+userFile, "an agent started without this shell does not see: %s", strings.Join(differs, ", "))
	}
	if shell.State != desktop.State {
		fine = false
		r.note(check, "unset TRACESMITH_STATE and XDG_STATE_HOME, or set them for the whole session", "an agent started without this shell keeps its state in %s, not in %s", desktop.State, shell.State)
	}
	asks := func(settings config.Config) bool { return settings.Proxy == "" } // the environment, for a proxy
	if len(shell.Proxies) > len(desktop.Proxies) && slices.ContainsFunc(desktop.Settings, asks) {
		fine = false
		r.note(check, "set it for the whole session (environment.d, launchctl setenv, setx)", "an agent started without this shell does not see the proxy: %s", strings.Join(shell.Proxies, ", "))
	}
	if fine {
		r.ok(check, "agents started without this shell see the same settings")
	}
}

// Desktops returns the environment of a program that was started from a desktop: of a
// shell's variables it has those that say where the user's files are.
func Desktops(env func(string) string) func(string) string {
	return func(name string) string {
		switch name {
		case "HOME", "USERPROFILE", "AppData", "LocalAppData", "APPDATA", "LOCALAPPDATA", "SystemRoot":
			return env(name)
		}
		return ""
	}
}
