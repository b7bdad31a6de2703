package doctor

import (
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/internal/config"
)

// Settings reports on the settings: what could not be read, what had no effect, and
// where runs go.
func (r *Report) Settings(settings config.Config, err error) {
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			r.problem("settings", "mend it; until then no content leaves", "%s", strings.TrimSpace(line))
		}
	}
	for _, each := range settings.Ignored {
		r.note("settings", "", "has no effect: %s", each)
	}
	switch {
	case settings.Upload == config.Off && settings.Delivers():
		r.note("settings", "run tracesmith drain to deliver", "nothing is delivered by itself: upload is off (%s)", settings.Source("upload"))
	case settings.Delivers():
		r.ok("settings", "runs go to %s", strings.Join(endpoints(settings), ", "))
	case settings.Store:
		r.note("settings", "set LANGSMITH_API_KEY, or api_key in the settings, to send turns to LangSmith",
			"there is no key: turns stay on this machine (tracesmith show)")
	default:
		r.problem("settings", "set LANGSMITH_API_KEY, or api_key in the settings", "there is no key and no local store: turns go nowhere")
	}
}

func endpoints(settings config.Config) []string {
	var list []string
	for _, p := range settings.Places() {
		if !slices.Contains(list, p.Endpoint) {
			list = append(list, p.Endpoint)
		}
	}
	return list
}

// View is the settings as one environment shows them.
type View struct {
	Settings config.Config
	State    string   // the state directory
	Proxies  []string // see Proxies
}

// Desktop compares what this shell's environment shows with what an agent sees that
// was started from a desktop, which has no shell.
func (r *Report) Desktop(shell, desktop View, userFile string) {
	const check = "desktop"
	var differs []string
	bare := desktop.Settings.Explain()
	for i, here := range shell.Settings.Explain() {
		if here.Value != bare[i].Value {
			differs = append(differs, here.Key+" ("+here.Source+")")
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
	if len(shell.Proxies) > len(desktop.Proxies) {
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
