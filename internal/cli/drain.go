package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/gitinfo"
	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
)

// exportLimit bounds how long a drainer tries one export: what does not get
// through stays in the journal, and the next drainer tries again.
const exportLimit = time.Minute

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
				err = fmt.Errorf("%w: check LANGSMITH_API_KEY and LANGSMITH_WORKSPACE_ID", err)
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

func (a *app) drain(ctx context.Context, flags drainFlags) (err error) {
	state, err := a.openState()
	if err != nil {
		return err
	}
	settings, unreadable := a.settings("")
	if unreadable != nil && !flags.linger {
		return unreadable
	}
	log, file, err := state.Log()
	if err != nil {
		return err
	}
	defer file.Close()
	if unreadable != nil {
		// Defaults must not stand in for what the user meant: nothing leaves.
		log.Error("settings", "error", unreadable.Error())
		settings.APIKey = ""
	}
	destinations, end, err := a.destinations(ctx, state, settings, flags, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	d, err := drain.New(a.drainConfig(state, settings, destinations, flags, log))
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
	return drain.Config{
		State:        state,
		Destinations: destinations,
		Agents: func(name string) *integrations.Agent {
			agent, _ := agents.Find(name)
			return agent
		},
		Shape:   newShaper(a.settings).shape,
		Redact:  redact.Run,
		Plain:   !settings.Redact,
		Remote:  remote,
		Reducer: integrations.Options{Inputs: integrations.Inputs(settings.Inputs)},
		Settled: !settings.Live,
		Insist:  !flags.linger,
		Log:     log,
		Now:     a.now,
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

// destinations opens every place that runs go to. end closes them.
func (a *app) destinations(ctx context.Context, state *journal.State, settings config.Config, flags drainFlags, log *slog.Logger) (list []drain.Destination, end func() error, err error) {
	var closers []func() error
	end = func() error {
		var failures []error
		for _, each := range closers {
			failures = append(failures, each())
		}
		return errors.Join(failures...)
	}
	if settings.Store {
		if local, err := a.openStore(ctx, state); err != nil {
			// LangSmith must not suffer for it.
			log.Error("store", "error", err.Error())
		} else {
			closers = append(closers, local.Close)
			list = append(list, drain.Destination{ID: "store", Name: "local store", Export: local.Export, Past: true})
		}
	}
	if settings.APIKey == "" || settings.Upload == config.Off && flags.linger {
		return list, end, nil
	}
	id := settings.Destination()
	client, err := exporter.NewClient(exporter.Config{
		Endpoint: settings.Endpoint, APIKey: settings.APIKey, WorkspaceID: settings.WorkspaceID,
		Project: settings.Project, MaxElapsed: exportLimit, Logger: log,
		Redact: exporter.NoRedaction, // the drainer has done it
		OnDrop: drain.Letters(state, id, log),
	})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("LangSmith: %w", err), end())
	}
	closers = append(closers, client.Close)
	list = append(list, drain.Destination{ID: id, Name: settings.Endpoint, Key: settings.KeyHash(), Export: client.Export})
	return list, end, nil
}
