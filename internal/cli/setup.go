package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/relay"
	"github.com/tracesmith/tracesmith/internal/setup"
)

// outcome is what was done for one agent, as --json prints it.
type outcome struct {
	Agent  string      `json:"agent"`
	Scope  setup.Scope `json:"scope"`
	State  setup.State `json:"state"`
	Files  []string    `json:"files,omitempty"` // that were changed
	Detail string      `json:"detail,omitempty"`
	Note   string      `json:"note,omitempty"` // what the user must still do or know

	plan setup.Plan
}

// install registers the hooks of every chosen agent that is there.
func (a *app) install(flags setupFlags) error {
	i, err := a.installer()
	if err != nil {
		return err
	}
	if i.Program, err = a.program(); err != nil {
		return err
	}
	var done []outcome
	for _, agent := range flags.chosen() {
		if len(flags.names) == 0 && !i.Found(agent) {
			done = append(done, outcome{Agent: agent.Name, Scope: setup.Scope(flags.scope), State: setup.MissingHost})
			continue
		}
		done = append(done, a.planInstall(i, agent, flags))
	}
	if len(flags.names) == 0 && !a.anyPlanned(done, flags) {
		return errors.New("install: no agent was found on this machine (looked for: " + strings.Join(agents.Names(), ", ") +
			"); name one to prepare for it")
	}
	if err := a.carryOut("install", done, flags); err != nil || flags.dryRun {
		return err
	}
	proxy, err := config.RememberProxy(a.env)
	if err == nil && proxy != "" && !flags.asJSON {
		fmt.Fprintf(a.stdout, "noted the proxy of this environment for deliveries in the background: %s\n", proxy)
	}
	return err
}

// anyPlanned reports whether an agent is there. To a fleet's tools its absence is a
// state like any other.
func (a *app) anyPlanned(done []outcome, flags setupFlags) bool {
	for _, each := range done {
		if each.State != setup.MissingHost {
			return true
		}
	}
	return flags.asJSON
}

// planInstall plans one agent's install, and asks what to do beside LangSmith's own
// plugin.
func (a *app) planInstall(i *setup.Installer, agent *integrations.Agent, flags setupFlags) outcome {
	scope := setup.Scope(flags.scope)
	switch {
	case flags.relay != "":
		return a.planRelay(i, flags)
	case a.relayed(i, agent):
		return planned(agent, scope, setup.Plan{State: setup.Already, Detail: "left to the relay (uninstall it first to have the hooks)"}, nil)
	}
	plan, err := i.Install(agent, scope, flags.takeOver)
	if err == nil && plan.Rival != "" && !flags.takeOver {
		switch {
		case flags.standDown:
			plan.State = setup.Already
			plan.Detail = "left to " + plan.Rival
		case a.asks() && !flags.yes && !flags.asJSON && !flags.dryRun:
			fmt.Fprintf(a.stdout, "%s: %s.\n", agent.Name, plan.Detail)
			if a.ask("Take over and switch it off, or stand down? [s/t]", "stand down", "take over") == "take over" {
				plan, err = i.Install(agent, scope, true)
				break
			}
			plan.State, plan.Detail = setup.Already, "left to "+plan.Rival
		default:
			plan.Detail += ": decide with --take-over or --stand-down"
		}
	}
	return planned(agent, scope, plan, err)
}

func planned(agent *integrations.Agent, scope setup.Scope, plan setup.Plan, err error) outcome {
	o := outcome{Agent: agent.Name, Scope: scope, State: plan.State, Detail: plan.Detail, plan: plan}
	if err != nil {
		o.State, o.Detail, o.plan.Changes = setup.Failed, err.Error(), nil
	}
	for _, c := range o.plan.Changes {
		o.Files = append(o.Files, c.Path)
	}
	return o
}

// uninstall takes the hooks out of every chosen agent's settings.
func (a *app) uninstall(flags setupFlags) error {
	i, err := a.installer()
	if err != nil {
		return err
	}
	var done []outcome
	for _, agent := range flags.chosen() {
		plan, err := i.Uninstall(agent, setup.Scope(flags.scope))
		if agent.Name == relay.Integration && flags.scope == string(setup.User) && err == nil {
			var beside setup.Plan
			if beside, err = a.unplanRelay(i); len(beside.Changes) > 0 {
				plan, plan.State = plan.And(beside), setup.Removed
			}
		}
		done = append(done, planned(agent, setup.Scope(flags.scope), plan, err))
	}
	if flags.restore {
		projects, err := i.All()
		if err != nil {
			return err
		}
		for _, r := range projects {
			agent, ok := agents.Find(r.Agent)
			if !ok || r.Scope != setup.Project {
				continue
			}
			there := *i
			there.Dir = r.Dir
			plan, err := there.Uninstall(agent, setup.Project)
			done = append(done, planned(agent, setup.Project, plan, err))
		}
	}
	return a.carryOut("uninstall", done, flags)
}

// carryOut shows the plans, asks where nobody named the agents, and applies them.
func (a *app) carryOut(verb string, done []outcome, flags setupFlags) error {
	if flags.dryRun {
		return a.showPlans(done, flags)
	}
	if len(flags.names) == 0 && !flags.yes && !flags.asJSON && changes(done) > 0 {
		for _, o := range done {
			a.announce(o)
		}
		if !a.asks() {
			return fmt.Errorf("%s: nothing was changed: give --yes to go ahead, or --dry-run to see it all", verb)
		}
		if !a.confirm("Go ahead?") {
			return fmt.Errorf("%s: nothing was changed", verb)
		}
	}
	for n := range done {
		if len(done[n].plan.Changes) == 0 && done[n].State != setup.Absent {
			a.noteOn(&done[n])
			continue
		}
		if err := done[n].plan.Apply(); err != nil {
			done[n].State, done[n].Detail, done[n].Files = setup.Failed, err.Error(), nil
		}
		a.noteOn(&done[n])
	}
	return a.reportSetup(done, flags)
}

// noteOn adds what is left to the user.
func (a *app) noteOn(o *outcome) {
	switch o.State {
	case setup.Installed, setup.Already, setup.NeedsTrust:
		if o.plan.Agent != nil && o.plan.Rival == "" {
			o.Note = o.plan.Agent.Setup.Note
		}
	}
}

func changes(done []outcome) int {
	n := 0
	for _, o := range done {
		n += len(o.plan.Changes)
	}
	return n
}

// announce says in short what would change.
func (a *app) announce(o outcome) {
	for _, c := range o.plan.Changes {
		what := "would change"
		switch {
		case c.Gone:
			what = "would be removed"
		case len(c.Before) == 0:
			what = "would be made"
		}
		fmt.Fprintf(a.stdout, "%s: %s %s (%s)\n", o.Agent, c.Path, what, lineCount(c))
	}
	if len(o.plan.Changes) == 0 && o.State != setup.Absent {
		fmt.Fprintf(a.stdout, "%s: %s\n", o.Agent, a.stateText(o))
	}
}

// lineCount says how many lines come and go.
func lineCount(c setup.Change) string {
	plus, minus := 0, 0
	for line := range strings.Lines(string(diff.Diff("a", c.Before, "b", c.After))) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			plus++
		case strings.HasPrefix(line, "-"):
			minus++
		}
	}
	return fmt.Sprintf("+%d -%d lines", plus, minus)
}

// showPlans prints what would change, whole.
func (a *app) showPlans(done []outcome, flags setupFlags) error {
	if flags.asJSON {
		return a.reportSetup(done, flags)
	}
	for _, o := range done {
		for _, c := range o.plan.Changes {
			after := c.After
			if c.Gone {
				after = nil
			}
			fmt.Fprintf(a.stdout, "%s", diff.Diff(c.Path, c.Before, c.Path, after))
		}
		if len(o.plan.Changes) > 0 {
			fmt.Fprintf(a.stdout, "%s: dry run, nothing was changed\n", o.Agent)
			continue
		}
		if o.State == setup.Failed {
			continue
		}
		fmt.Fprintf(a.stdout, "%s: %s\n", o.Agent, a.stateText(o))
	}
	return failures(done)
}

// reportSetup prints what was done and returns what failed.
func (a *app) reportSetup(done []outcome, flags setupFlags) error {
	if flags.asJSON {
		if err := printJSON(a.stdout, map[string]any{"agents": done}); err != nil {
			return err
		}
		if failures(done) != nil {
			return errReported
		}
		return nil
	}
	for _, o := range done {
		for _, c := range o.plan.Changes {
			verb := "changed"
			if c.Gone {
				verb = "removed"
			}
			if o.State != setup.Failed {
				fmt.Fprintf(a.stdout, "%s: %s %s\n", o.Agent, verb, c.Path)
			}
		}
		if len(o.plan.Changes) == 0 && o.State != setup.Failed {
			fmt.Fprintf(a.stdout, "%s: %s\n", o.Agent, a.stateText(o))
		}
		if o.Note != "" {
			fmt.Fprintf(a.stdout, "%s: %s\n", o.Agent, strings.ReplaceAll(o.Note, "\n", "\n  "))
		}
	}
	return failures(done)
}

// stateText says why nothing changes.
func (a *app) stateText(o outcome) string {
	switch {
	case o.State == setup.MissingHost:
		return "not on this machine"
	case o.Detail != "":
		return o.Detail
	}
	return "nothing to change in " + filepath.Clean(o.plan.Path)
}

// failures joins what went wrong, by agent.
func failures(done []outcome) error {
	var failed []string
	for _, o := range done {
		if o.State == setup.Failed {
			failed = append(failed, o.Agent+": "+strings.ReplaceAll(o.Detail, "\n", "; "))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return errors.New(strings.Join(failed, "; "))
}
