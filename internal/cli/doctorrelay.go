package cli

import (
	"context"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/doctor"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/loopback"
	"github.com/tracesmith/tracesmith/internal/relay"
	"github.com/tracesmith/tracesmith/internal/setup"
)

// dialTime bounds the wait for the relay to take a connection.
const dialTime = 2 * time.Second

// examineRelay looks at what sends Deep Agents Code's own traces to the relay, and at the
// relay.
func (a *app) examineRelay(ctx context.Context, report *doctor.Report, i *setup.Installer, state *journal.State) {
	parts, err := a.relayParts(i, relay.DefaultListen)
	if err != nil {
		return // the state directory is in the way, which has a line of its own
	}
	s := doctor.Relay{
		Agent: relay.Integration, Endpoint: strings.TrimSpace(a.env("LANGSMITH_ENDPOINT")),
		Running: relay.Running(state.Dir()), Last: relay.LastTurn(state.Dir()),
	}
	variables := a.partText(i, parts.variables)
	var token string
	s.Told, token = relay.Told(variables)
	own, err := relay.Token(relay.Dir(state.Dir()))
	s.KeyRight = err == nil && token == own
	s.Native = a.tracesItself(variables)
	switch service := relay.ServiceAddress(a.partText(i, parts.service)); {
	case service != "":
		s.Way, s.Listen, s.Start = byService, service, serviceStart(i.System)
	case relay.HookStartAddress(state.Dir()) != "":
		s.Way, s.Listen = byHook, relay.HookStartAddress(state.Dir())
	default:
		s.Listen = relay.DefaultListen
	}
	at := s.Told
	if at == "" {
		at = s.Endpoint
	}
	if to, err := url.Parse(at); err == nil && loopback.Is(to.Host) {
		s.Answers = answers(ctx, to.Host)
		if s.Told == "" {
			s.Listen = to.Host
		}
	}
	there := *a
	there.env = withoutRelay(a.env, s.Listen)
	if settings, err := there.settings(relay.Integration, ""); err == nil {
		s.Upstream = settings.Endpoint
	}
	report.Relay(s)
}

// partText is the file that a part of the relay's install is in; nil: there is none.
func (a *app) partText(i *setup.Installer, part *integrations.Agent) []byte {
	if part == nil {
		return nil
	}
	path, err := i.SettingsPath(part, setup.User)
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// tracesItself reports whether Deep Agents Code is told to trace itself, in this
// environment or by its file of variables.
func (a *app) tracesItself(variables []byte) bool {
	told := map[string]string{}
	for line := range strings.Lines(string(variables)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		told[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	for _, name := range []string{"LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"} {
		for _, value := range []string{a.env(name), told[name], a.env("DEEPAGENTS_CODE_" + name), told["DEEPAGENTS_CODE_"+name]} {
			if strings.EqualFold(strings.TrimSpace(value), "true") || strings.TrimSpace(value) == "1" {
				return true
			}
		}
	}
	return false
}

// answers reports whether something takes connections at an address of this machine.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	return err == nil && conn.Close() == nil
}

// serviceStart is how the service is started.
func serviceStart(system string) string {
	if system == "darwin" {
		return "launchctl load -w ~/Library/LaunchAgents/" + relay.Label + ".plist"
	}
	return "systemctl --user enable --now " + relay.Service
}
