package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/delivery"
	"github.com/tracesmith/tracesmith/internal/doctor"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/procid"
	"github.com/tracesmith/tracesmith/internal/setup"
	"github.com/tracesmith/tracesmith/internal/store"
)

// versionTime bounds the wait for an agent's version.
const versionTime = 10 * time.Second

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	asJSON, offline, noSend bool
}

// doctorCommand finds out why nothing arrives.
func doctorCommand(a *app) *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [--offline] [--json]",
		Short: "Find out whether turns arrive, and if not, why",
		Long: `Look at everything a turn passes on its way: the agents and their hooks, the settings,
the state directory, the network layer by layer, the key; and send a test run, whose id
it names. Each problem comes with what to do. The exit code is 0 only if all is well.`,
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := a.examine(cmd.Context(), flags)
			if err != nil {
				return err
			}
			return a.printReport(report, flags.asJSON)
		},
	}
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&flags.offline, "offline", false, "leave the network out")
	cmd.Flags().BoolVar(&flags.noSend, "no-send", false, "send no test run")
	return cmd
}

// examine looks at everything. What is in the way of one thing does not keep it from
// looking at the others.
func (a *app) examine(ctx context.Context, flags doctorFlags) (*doctor.Report, error) {
	report := new(doctor.Report)
	state, noState := a.openState()
	if noState != nil && a.home() == "" {
		return nil, setup.ErrNoHome
	}
	i := a.installerIn(state)
	self, _ := a.program() // a temporary build has no path to compare with
	here := report.Agents(ctx, doctor.Machine{
		Installer: i, Self: self, Version: askVersion,
		Settings: func(agent string) (config.Config, error) { return a.settings(agent, i.Dir) },
		Relayed:  func(agent *integrations.Agent) bool { return a.relayed(i, agent) },
	}, agents.All())
	if len(here) == 0 {
		here = []string{""}
	}
	var settings []doctor.Settings
	for _, name := range here {
		one, err := a.settings(name, i.Dir)
		settings = append(settings, doctor.Settings{Agent: name, Config: one, Err: err})
	}
	report.Settings(settings)
	if noState != nil {
		report.NoState(noState)
	} else {
		report.State(state.Dir(), state.Writable(), a.readStatus(state), a.now())
		a.examineStore(ctx, report, state)
		a.examineRelay(ctx, report, i, state)
	}
	a.examineDesktop(report, here, i.Dir)
	if flags.offline {
		return report, nil
	}
	for _, t := range a.targets(i.Dir) {
		report.Deliver(ctx, doctor.Network{Now: a.now}, t, !flags.noSend)
	}
	a.examineCollectors(ctx, report, i.Dir, !flags.noSend)
	return report, nil
}

// examineStore reads the local store, if there is one.
func (a *app) examineStore(ctx context.Context, report *doctor.Report, state *journal.State) {
	path := storePath(state)
	if _, err := os.Lstat(path); err != nil {
		return
	}
	runs, err := a.openStoreAs(ctx, store.Config{Path: path, Now: a.now, Late: true})
	if err == nil {
		err = errors.Join(mendStore(runs.Check(ctx)), runs.Close())
	}
	report.Store(oneLine(err))
}

func (a *app) readStatus(state *journal.State) drain.Status {
	return drain.ReadStatus(state, a.now(), func(p journal.Proc) bool { return procid.Gone(p.PID, p.Start, p.Boot) })
}

// examineDesktop compares this environment with that of a program without a shell.
func (a *app) examineDesktop(report *doctor.Report, agents []string, dir string) {
	view := func(env func(string) string) doctor.View {
		state, _ := journal.DefaultDir(env) // empty where there is none
		v := doctor.View{State: state, Proxies: doctor.Proxies(env)}
		for _, name := range agents {
			settings, _ := config.Load(config.Options{Env: env, Dir: dir, Agent: name}) // what cannot be read was reported
			v.Settings = append(v.Settings, settings)
		}
		return v
	}
	report.Desktop(view(a.env), view(doctor.Desktops(a.env)), config.UserFile(a.env))
}

// targets are the destinations of every agent, each once.
func (a *app) targets(dir string) []doctor.Target {
	var list []doctor.Target
	seen := map[string]bool{}
	for _, name := range append([]string{""}, agents.Names()...) {
		settings, _ := a.settings(name, dir) // what cannot be read was reported
		for _, place := range delivery.Places(settings, a.env) {
			id := place.ID + fmt.Sprintf("%q", place.Key)
			if place.Endpoint != "" && !seen[id] { // none: that it cannot be used was reported
				seen[id] = true
				list = append(list, target(settings, place))
			}
		}
	}
	return list
}

func target(settings config.Config, place delivery.Place) doctor.Target {
	t := doctor.Target{Config: place.Send, Unusable: place.Err}
	t.Endpoint, t.WorkspaceID = place.Endpoint, place.WorkspaceID
	if place.Project != "" {
		t.Project = place.Project
	}
	t.EndpointSource, t.KeySource = settings.Source("endpoint"), settings.Source("api_key")
	if len(settings.Replicas) > 0 {
		t.EndpointSource, t.KeySource = settings.Source("replicas"), settings.Source("replicas")
	}
	if settings.Proxy != "" {
		t.ProxySource = settings.Source("proxy")
	}
	t.KeyShown = place.Key.String()
	if place.Key == (config.Key{}) && settings.Login {
		t.KeyShown = "of the login"
	}
	return t
}

// askVersion asks an agent's program for its version.
func askVersion(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return string(out), err
}

func (a *app) printReport(report *doctor.Report, asJSON bool) error {
	problems := report.Problems()
	if asJSON {
		err := printJSON(a.stdout, struct {
			OK       bool          `json:"ok"`
			Problems int           `json:"problems"`
			Lines    []doctor.Line `json:"lines"`
		}{problems == 0, problems, report.Lines})
		if err == nil && problems > 0 {
			err = errReported
		}
		return err
	}
	paint := a.painter()
	for _, line := range report.Lines {
		mark := map[doctor.Level]string{doctor.OK: paint(green, "ok     "), doctor.Note: paint(yellow, "note   "), doctor.Problem: paint(red, "PROBLEM")}[line.Level]
		fmt.Fprintf(a.stdout, "%s  %s: %s\n", mark, line.Check, line.Text)
		if line.Fix != "" {
			fmt.Fprintf(a.stdout, "         -> %s\n", strings.ReplaceAll(line.Fix, "\n", "\n            "))
		}
	}
	if problems == 0 {
		fmt.Fprintln(a.stdout, "all is well")
		return nil
	}
	fmt.Fprintln(a.stdout, count(problems, "problem"))
	return errReported
}
