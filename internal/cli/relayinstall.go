package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/loopback"
	"github.com/tracesmith/tracesmith/internal/relay"
	"github.com/tracesmith/tracesmith/internal/setup"
)

// The ways a relay is started, as --relay names them.
const (
	byService = "service"
	byHook    = "hook"
)

// checkRelay says what is wrong with the flags of an install of the relay.
func (f *setupFlags) checkRelay() error {
	switch {
	case f.relay == "":
		return nil
	case f.relay != byService && f.relay != byHook && f.relay != "auto":
		return usagef("install: --relay is service or hook, not %q", f.relay)
	case len(f.names) != 1 || f.names[0] != relay.Integration:
		return usagef("install: --relay is for %s alone", relay.Integration)
	case f.scope != string(setup.User):
		return usagef("install: --relay is for the user, and for no project")
	case !loopback.Is(f.relayListen) || strings.HasSuffix(f.relayListen, ":0") || strings.ContainsAny(f.relayListen, " \n"):
		return usagef("install: --relay-listen is a loopback address and a port, such as %s", relay.DefaultListen)
	}
	return nil
}

// relayWay is how the relay is to be started on this machine: as the user's service
// where there is a manager of such.
func relayWay(wanted string, i *setup.Installer) string {
	if wanted != "auto" {
		return wanted
	}
	if i.System == "darwin" {
		return byService
	}
	if _, err := i.LookPath("systemctl"); err == nil && i.System == "linux" {
		return byService
	}
	return byHook
}

// planRelay plans to have the relay trace Deep Agents Code, and not its hooks.
func (a *app) planRelay(i *setup.Installer, flags setupFlags) outcome {
	parts, err := a.relayParts(i, flags.relayListen)
	if err != nil {
		return planned(parts.variables, setup.User, setup.Plan{}, err)
	}
	way := relayWay(flags.relay, i)
	var plans []setup.Plan
	add := func(agent *integrations.Agent, wanted bool) {
		if agent == nil || err != nil {
			return
		}
		var p setup.Plan
		if wanted {
			p, err = i.Install(agent, setup.User, flags.takeOver)
		} else {
			p, err = i.Uninstall(agent, setup.User)
		}
		plans = append(plans, p)
	}
	if way == byService && parts.service == nil {
		err = fmt.Errorf("there is no manager of user services on %s: give --relay=hook", i.System)
	}
	add(parts.variables, true)
	add(parts.service, way == byService)
	add(parts.byHook, way == byHook)
	add(parts.hooks, way == byHook)
	if err != nil {
		return planned(parts.variables, setup.User, setup.Plan{}, err)
	}
	whole := join(plans)
	if whole.State = setup.Installed; len(whole.Changes) == 0 {
		whole.State = setup.Already
	}
	noted := *parts.variables
	noted.Setup.Note = relayNote(way, i.System)
	whole.Agent = &noted
	return planned(&noted, setup.User, whole, nil)
}

// relayNote is what is left to the user.
func relayNote(way, system string) string {
	start := "Its hooks start the relay when a session begins."
	if way == byService {
		start = "Start the relay: " + serviceStart(system)
	}
	return "The relay traces it, not the hooks. " + start +
		"\nThe relay's key for LangSmith is that of Tracesmith's configuration file, not of a shell."
}

// relayParts are what an install of the relay may have put into files.
type relayParts struct{ variables, service, byHook, hooks *integrations.Agent }

func (p relayParts) own() []*integrations.Agent {
	return slices.DeleteFunc([]*integrations.Agent{p.variables, p.service, p.byHook}, func(a *integrations.Agent) bool { return a == nil })
}

func (a *app) relayParts(i *setup.Installer, listen string) (parts relayParts, err error) {
	state, err := a.openState()
	if err != nil {
		return parts, err
	}
	token, err := relay.Token(relay.Dir(state.Dir()))
	parts = relayParts{
		variables: relay.Variables("http://"+listen, token),
		service:   relay.UserService(i.System, a.env("TRACESMITH_STATE"), listen),
		byHook:    relay.HookStart(state.Dir(), listen),
	}
	parts.hooks, _ = agents.Find(relay.Integration)
	return parts, err
}

// unplanRelay plans to take the relay out; nothing where it is not in.
func (a *app) unplanRelay(i *setup.Installer) (setup.Plan, error) {
	parts, err := a.relayParts(i, relay.DefaultListen) // wherever it listens
	if err != nil {
		return setup.Plan{}, err
	}
	var plans []setup.Plan
	for _, part := range parts.own() {
		p, err := i.Uninstall(part, setup.User)
		if err != nil {
			return setup.Plan{}, err
		}
		plans = append(plans, p)
	}
	return join(plans), nil
}

// relayed says that the relay is to trace an agent, so that its hooks need not.
func (a *app) relayed(i *setup.Installer, agent *integrations.Agent) bool {
	if agent.Name != relay.Integration {
		return false
	}
	p, err := a.unplanRelay(i)
	return err == nil && len(p.Changes) > 0
}

// join makes one plan of several for the same agent, to be applied whole.
func join(plans []setup.Plan) setup.Plan {
	whole := plans[0]
	for _, p := range plans[1:] {
		whole = whole.And(p)
	}
	return whole
}
