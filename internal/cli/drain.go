package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/gitinfo"
	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/relay"
)

// exportLimit bounds how long a drainer tries one export: what does not get
// through stays in the journal, and the next drainer tries again.
const exportLimit = time.Minute

// drainMemory is what a drainer, which works beside an agent, takes before it collects
// its garbage more often. A turn that needs more gets it.
const drainMemory = 64 << 20

// modest sets that limit, unless GOMEMLIMIT has set another.
func modest() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(drainMemory)
	}
}

// drainFlags are the flags of drain.
type drainFlags struct {
	session           string
	all, wait, linger bool
}

// drainCommand delivers what hooks recorded.
func drainCommand(a *app) *cobra.Command {
	var flags drainFlags
	cmd := &cobra.Command{
		Use:   "drain [--all|--session KEY] [--wait]",
		Short: "Deliver what hooks recorded (a drainer does this in the background)",
		Args:  argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.all && flags.session != "" {
				return usagef("drain: --all and --session exclude each other")
			}
			if flags.linger && flags.session == "" {
				return usagef("drain: --linger needs --session")
			}
			err := a.drain(cmd.Context(), flags)
			if errors.Is(err, exporter.ErrUnauthorized) || errors.Is(err, exporter.ErrForbidden) {
				err = fmt.Errorf("%w: find out why with: tracesmith doctor", err)
			}
			return oneLine(err)
		},
	}
	cmd.Flags().BoolVar(&flags.all, "all", false, "every session (the default)")
	cmd.Flags().StringVar(&flags.session, "session", "", "one session, by the key that status shows")
	cmd.Flags().BoolVar(&flags.wait, "wait", false, "wait for a drainer that is at work")
	cmd.Flags().BoolVar(&flags.linger, "linger", false, "stay a while for more, then look after other sessions")
	_ = cmd.Flags().MarkHidden("linger") // hooks start it so
	return cmd
}

// drain delivers what the flags name. Agents whose settings send elsewhere than
// others' have a drainer each.
func (a *app) drain(ctx context.Context, flags drainFlags) error {
	modest()
	state, err := a.openState()
	if err != nil {
		return err
	}
	if flags.session != "" {
		session, err := state.Keyed(flags.session)
		if err != nil {
			return fmt.Errorf("%w (see the keys with: tracesmith status)", err)
		}
		if _, err := os.Lstat(session.Dir()); err != nil && !flags.linger {
			return fmt.Errorf("drain: no session %q: it was delivered and put away, or never was (see the keys with: tracesmith status)", flags.session)
		}
	}
	log, file, err := state.Log()
	if err != nil {
		return err
	}
	defer file.Close()
	groups, err := a.groups(flags, log)
	if err != nil {
		return err
	}
	var failures []error
	for _, g := range groups {
		failures = append(failures, a.drainGroup(ctx, state, g, flags, log))
	}
	return errors.Join(failures...)
}

// group is agents with the same settings.
type group struct {
	agents   []string
	settings config.Config
}

// groups reads the settings of the agents that are concerned: that of the session, or
// all. A lingering drainer serves those that go where its own session goes.
func (a *app) groups(flags drainFlags, log *slog.Logger) ([]group, error) {
	own, _, _ := strings.Cut(flags.session, "/")
	var list []group
	for _, name := range agents.Names() {
		settings, unreadable := a.settings(name, "")
		switch {
		case unreadable != nil && !flags.linger:
			return nil, unreadable
		case unreadable != nil:
			// Defaults must not stand in for what the user meant: nothing leaves.
			log.Error("settings", "error", unreadable.Error())
			settings = settings.Offline()
		}
		at := slices.IndexFunc(list, func(g group) bool { return same(g.settings, settings) })
		if at < 0 {
			list, at = append(list, group{settings: settings}), len(list)
		}
		list[at].agents = append(list[at].agents, name)
	}
	if own == "" {
		return list, nil
	}
	list = slices.DeleteFunc(list, func(g group) bool { return !slices.Contains(g.agents, own) })
	if len(list) == 0 {
		return nil, fmt.Errorf("drain: unknown agent %q", own)
	}
	return list, nil
}

// same reports whether two settings let one drainer serve both. What differs by run
// is the shaper's.
func same(a, b config.Config) bool {
	return a.Destination() == b.Destination() && a.KeyHash() == b.KeyHash() && a.Inputs == b.Inputs &&
		a.Restraint() == b.Restraint() &&
		a.Live == b.Live && a.Redact == b.Redact && a.Store == b.Store && a.Upload == b.Upload
}

func (a *app) drainGroup(ctx context.Context, state *journal.State, g group, flags drainFlags, log *slog.Logger) (err error) {
	destinations, end, err := a.destinations(ctx, state, g.settings, flags, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	cfg := a.drainConfig(state, g.settings, destinations, flags, log)
	cfg.Agents = func(name string) *integrations.Agent {
		if name == relay.Name && !flags.linger && slices.Contains(g.agents, relay.Integration) {
			return relay.Agent() // what a relay that is gone has left
		}
		agent, _ := agents.Find(name)
		if !slices.Contains(g.agents, name) {
			return nil
		}
		return agent
	}
	d, err := drain.New(cfg)
	if err != nil {
		return err
	}
	switch {
	case flags.linger:
		return d.Run(ctx, flags.session)
	case flags.session != "":
		return d.Deliver(ctx, flags.session, flags.wait)
	}
	return d.All(ctx, flags.wait)
}

func (a *app) drainConfig(state *journal.State, settings config.Config, destinations []drain.Destination, flags drainFlags, log *slog.Logger) drain.Config {
	folders := newShaper(a.settings)
	return drain.Config{
		State:        state,
		Destinations: destinations,
		Agents: func(name string) *integrations.Agent {
			agent, _ := agents.Find(name)
			return agent
		},
		Shape:  folders.shape,
		Admits: folders.admits,
		Redact: folders.redact,
		Plain:  !settings.Redact,

		Restraint: settings.Restraint(),
		Remote:    remote,
		Reducer:   integrations.Options{Inputs: integrations.Inputs(settings.Inputs)},
		Settled:   !settings.Live,
		Insist:    !flags.linger,
		Log:       log,
		Now:       a.now,
	}
}

// remote looks up a repository's remote; what cannot be known is absent.
func remote(ctx context.Context, dir string) string {
	info, err := gitinfo.Lookup(ctx, dir)
	if err != nil {
		return ""
	}
	return info.URL
}
