package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/tree"
	"github.com/tracesmith/tracesmith/runtypes"
)

// How often tail looks, and how many of the newest turns it follows.
const (
	tailPace  = 400 * time.Millisecond
	tailTurns = 32
)

// tailCommand prints runs as they happen.
func tailCommand(a *app) *cobra.Command {
	var thread string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tail [--session ID] [--json]",
		Short: "Print runs as they happen, until interrupted",
		Args:  argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := a.openState()
			if err != nil {
				return err
			}
			runs, err := a.openStore(cmd.Context(), state)
			if err != nil {
				return err
			}
			t := &tail{app: a, from: runs, thread: thread, asJSON: asJSON, seen: map[string]seenTurn{}}
			err = t.follow(cmd.Context())
			if errors.Is(err, context.Canceled) {
				err = nil // that is how it ends
			}
			return oneLine(errors.Join(err, runs.Close()))
		},
	}
	cmd.Flags().StringVar(&thread, "session", "", "only this session")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each run as a line of JSON once it has ended")
	return cmd
}

// tail follows the local store.
type tail struct {
	*app
	from   *store.Store
	thread string
	asJSON bool
	seen   map[string]seenTurn
}

// seenTurn is what was printed of a turn: its runs by whether they had ended.
type seenTurn struct {
	turn store.Turn
	runs map[string]bool
}

// follow looks again and again.
func (t *tail) follow(ctx context.Context) error {
	first := true
	ticker := time.NewTicker(tailPace)
	defer ticker.Stop()
	for {
		if err := t.look(ctx, first); err != nil {
			return err
		}
		first = false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// look prints what is new. Turns that were there at first and have ended are not.
func (t *tail) look(ctx context.Context, first bool) error {
	turns, err := t.from.Turns(ctx, store.Filter{Thread: t.thread, Limit: tailTurns})
	if err != nil {
		return err
	}
	current := map[string]seenTurn{}
	for _, turn := range slices.Backward(turns) {
		before, known := t.seen[turn.TraceID]
		if known && before.turn == turn {
			current[turn.TraceID] = before
			continue
		}
		now := seenTurn{turn, map[string]bool{}}
		runs, err := t.from.Trace(ctx, turn.TraceID)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // it may have gone meanwhile
			return err
		}
		silent := first && !turn.End.IsZero()
		for _, run := range runs {
			ended := run.EndTime != ""
			now.runs[run.ID] = ended
			printed, shown := before.runs[run.ID]
			if silent || shown && printed == ended {
				continue
			}
			if err := t.print(run, turn); err != nil {
				return err
			}
		}
		current[turn.TraceID] = now
	}
	t.seen = current
	return nil
}

// print writes a run that began or ended.
func (t *tail) print(run runtypes.Wire, turn store.Turn) error {
	if t.asJSON {
		if run.EndTime == "" {
			return nil
		}
		return printRuns(t.stdout, []runtypes.Wire{run})
	}
	start, end, err := run.Times()
	if err != nil {
		return nil // it cannot be placed
	}
	at := start
	if !end.IsZero() {
		at = end
	}
	first := at.Local().Format(time.TimeOnly) + "  " + turn.TraceID[:min(8, len(turn.TraceID))] + "  " +
		strings.Repeat("  ", strings.Count(run.DottedOrder, "."))
	_, err = fmt.Fprintln(t.stdout, tree.Line(run, t.treeOptionsFor(t.stdout), first))
	return err
}
