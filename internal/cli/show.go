package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/tree"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxLast bounds the turns that show prints.
const maxLast = 1000

// showCommand prints turns from the local store.
func showCommand(a *app) *cobra.Command {
	var (
		filter store.Filter
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "show [TRACE]",
		Short: "Print the runs of the last turns, or of one trace, as a tree",
		Long: `Print turns from the local store as run trees: kind, name, tokens, duration and
error of each run, the newest turn last. Without arguments it is the last turn.
TRACE is a trace's id or the beginning of one.`,
		Args: argCount(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if filter.Limit < 1 || filter.Limit > maxLast {
				return usagef("show: --last must be from 1 to %d", maxLast)
			}
			if len(args) == 1 && (filter.Thread != "" || filter.Failed || cmd.Flags().Changed("last")) {
				return usagef("show: give a TRACE or --last, --session and --failed, not both")
			}
			state, err := a.openState()
			if err != nil {
				return err
			}
			runs, err := a.openStore(cmd.Context(), state)
			if err != nil {
				return err
			}
			err = a.show(cmd.Context(), runs, args, filter, asJSON)
			return oneLine(errors.Join(err, runs.Close()))
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&filter.Limit, "last", 1, "how many turns")
	flags.StringVar(&filter.Thread, "session", "", "only turns of this session")
	flags.StringVar(&filter.Thread, "thread", "", "the same, by LangSmith's word for it")
	flags.BoolVar(&filter.Failed, "failed", false, "only turns that failed or were interrupted")
	flags.BoolVar(&asJSON, "json", false, "print runs as JSON lines")
	return cmd
}

// show prints one trace, or the turns that match, a turn at a time.
func (a *app) show(ctx context.Context, from *store.Store, args []string, filter store.Filter, asJSON bool) error {
	traces := args
	if len(args) == 0 {
		turns, err := from.Turns(ctx, filter)
		if err != nil {
			return err
		}
		if len(turns) == 0 {
			return fmt.Errorf("show: %w", nothingStored(filter))
		}
		for _, turn := range slices.Backward(turns) {
			traces = append(traces, turn.TraceID)
		}
	}
	for i, id := range traces {
		runs, err := from.Trace(ctx, id)
		if errors.Is(err, store.ErrNotFound) && len(args) == 1 {
			return fmt.Errorf("show: %w (see the ids with: tracesmith show --last 20 --json)", err)
		}
		if err != nil {
			return err
		}
		if asJSON {
			err = printRuns(a.stdout, runs)
		} else {
			err = a.printTrace(runs, i > 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printTrace(runs []runtypes.Wire, apart bool) error {
	if apart {
		if _, err := fmt.Fprintln(a.stdout); err != nil {
			return err
		}
	}
	return tree.Render(a.stdout, runs, a.treeOptionsFor(a.stdout))
}

// nothingStored says why there is no turn.
func nothingStored(filter store.Filter) error {
	if filter.Thread != "" || filter.Failed {
		return errors.New("no turn matches")
	}
	return errors.New("no turn is stored yet: run an agent whose hooks are installed, or see: tracesmith status")
}
