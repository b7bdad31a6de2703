package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/history"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// maxPaths bounds the places that one import looks in.
const maxPaths = 1000

// importFlags are the arguments of import.
type importFlags struct {
	paths          []string
	since          time.Time
	dryRun, asJSON bool
}

// importCommand delivers sessions that no hook recorded.
func importCommand(a *app) *cobra.Command {
	var flags importFlags
	var since string
	cmd := &cobra.Command{
		Use:   "import AGENT [PATH...] [--since DURATION|DATE] [--dry-run]",
		Short: "Deliver past sessions, from the agent's own files",
		Long: `Find the sessions that an agent has had before and deliver them as live capture would
have done: to the same destinations, redacted, with the settings of the folders that
they worked in. What a destination has already is not sent again, so that an import
can be cancelled and repeated at will. Sessions that are at work are left alone.

PATH is a transcript or a folder of them, or a folder that the agent worked in.
--since takes a duration such as 12h or 30d, or a date such as 2026-11-01.`,
		Args: argCount(1, maxPaths+1),
		RunE: func(cmd *cobra.Command, args []string) error {
			agent, ok := agents.Find(args[0])
			switch {
			case !ok:
				return usagef("import: unknown agent %q (known: %s)", args[0], strings.Join(agents.Names(), ", "))
			case agent.Past == nil:
				return fmt.Errorf("import: %s keeps no sessions that can be read", agent.Runtime)
			}
			var err error
			if flags.since, err = a.parseSince(since); err != nil {
				return err
			}
			for _, path := range args[1:] {
				path, err := filepath.Abs(path)
				if err != nil {
					return fmt.Errorf("import: %w", err)
				}
				flags.paths = append(flags.paths, path)
			}
			return oneLine(a.importPast(cmd.Context(), agent, flags))
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only turns that began since then")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "show what would be sent, and send nothing")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print the report as JSON")
	return cmd
}

// parseSince reads how far back an import goes: a duration, days among its units, or
// a date of the local calendar.
func (a *app) parseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if d, err := time.ParseDuration(days + "h"); err == nil && d > 0 {
			return a.now().Add(-24 * d), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return a.now().Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usagef("import: --since is a duration (12h, 30d) or a date (2026-11-01), not %q", text)
}

// importPast delivers what hooks have recorded, then what they have not.
func (a *app) importPast(ctx context.Context, agent *integrations.Agent, flags importFlags) (err error) {
	state, err := a.openState()
	if err != nil {
		return err
	}
	settings, err := a.settings(agent.Name, "")
	if err != nil {
		return err
	}
	if !settings.Enabled {
		return errors.New("import: tracing is switched off (see TRACESMITH and enabled in the settings)")
	}
	log, file, err := state.Log()
	if err != nil {
		return err
	}
	defer file.Close()
	destinations, end, err := a.destinations(ctx, state, settings, drainFlags{}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if len(destinations) == 0 {
		return errors.New("import: no destination: set LANGSMITH_API_KEY, or store = true in the settings")
	}
	if !flags.dryRun {
		if err := a.deliverRecorded(ctx, state, settings, destinations, log); err != nil {
			log.Warn("before the import", "error", err.Error())
		}
	}
	return a.runImport(ctx, a.importConfig(state, agent, settings, destinations, flags, log), flags)
}

// deliverRecorded brings home what hooks have recorded: it knows more than the
// agent's files do.
func (a *app) deliverRecorded(ctx context.Context, state *journal.State, settings config.Config, destinations []drain.Destination, log *slog.Logger) error {
	d, err := drain.New(a.drainConfig(state, settings, destinations, drainFlags{}, log))
	if err != nil {
		return err
	}
	return d.All(ctx, false)
}

func (a *app) importConfig(state *journal.State, agent *integrations.Agent, settings config.Config, destinations []drain.Destination, flags importFlags, log *slog.Logger) history.Config {
	live := a.drainConfig(state, settings, destinations, drainFlags{}, log)
	folders := newShaper(a.settings)
	return history.Config{
		State: state, Agent: agent, Destinations: destinations,
		Place: integrations.Place{Home: a.home(), Env: a.env},
		Paths: flags.paths, Since: flags.since, DryRun: flags.dryRun,
		Wanted: func(dir string) bool { return folders.in(agent.Name, dir).Enabled },
		Shape:  folders.shape, Redact: live.Redact, Reducer: live.Reducer,
		Log: log, Now: a.now,
	}
}

// home is the user's home folder.
func (a *app) home() string {
	if runtime.GOOS == "windows" {
		return a.env("USERPROFILE")
	}
	return a.env("HOME")
}

func (a *app) runImport(ctx context.Context, cfg history.Config, flags importFlags) error {
	meter := a.newMeter(flags.dryRun)
	cfg.Progress = meter.show
	i, err := history.New(cfg)
	if err != nil {
		return err
	}
	report, err := i.Run(ctx)
	meter.clear()
	switch {
	case errors.Is(err, context.Canceled):
		err = errors.New("import: cancelled; what was sent counts, and the next import goes on from there")
	case errors.Is(err, exporter.ErrUnauthorized), errors.Is(err, exporter.ErrForbidden):
		err = fmt.Errorf("%w: find out why with: tracesmith doctor", err)
	}
	if report.Sent == nil {
		return err // it did not get as far as that
	}
	if flags.asJSON {
		out := json.NewEncoder(a.stdout)
		out.SetIndent("", "  ")
		return errors.Join(err, out.Encode(report))
	}
	a.printImport(report, meter.elapsed())
	return err
}
