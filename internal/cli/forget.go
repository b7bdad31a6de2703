package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// forgetCommand removes one trace from this machine.
func forgetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "forget TRACE",
		Short: "Remove a turn from this machine, and say how to delete it in LangSmith",
		Long: `Remove a turn from the local store, the copies of what was sent and the refused runs,
and print how to delete it in LangSmith, which this command does not touch. A request
held other turns as well: its whole copy goes. The agent's own files stay.
TRACE is a trace's id or the beginning of one.`,
		Args: argCount(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := a.openState()
			if err != nil {
				return err
			}
			runs, err := a.openStore(cmd.Context(), state)
			if err != nil {
				return err
			}
			err = a.forget(cmd.Context(), state, runs, args[0])
			return oneLine(errors.Join(err, runs.Close()))
		},
	}
}

func (a *app) forget(ctx context.Context, state *journal.State, from *store.Store, prefix string) error {
	runs, err := from.Trace(ctx, prefix)
	if err != nil {
		return fmt.Errorf("forget: %w (see the ids with: tracesmith show --last 20 --json)", err)
	}
	trace := runs[0].TraceID
	copies, err := forgetSent(state, strings.ToLower(trace))
	if err != nil {
		return err
	}
	refused := 0
	for _, run := range runs {
		n, err := state.ForgetDead(strings.ToLower(run.ID))
		if err != nil {
			return err
		}
		refused += n
	}
	removed, err := from.Forget(ctx, trace) // last: without it the trace is not found again
	held := errors.Is(err, store.ErrHeld)
	if err != nil && !held {
		return mendStore(err)
	}
	fmt.Fprintf(a.stdout, "removed from this machine: %s of trace %s, %d copies of requests, %d refused writes\n", count(removed, "run"), trace, copies, refused)
	a.tellJournal(state, runs)
	a.tellLangSmith(trace)
	if held {
		return fmt.Errorf("%w: end view and serve, and it goes", err)
	}
	return nil
}

// forgetSent removes the copies of requests that hold something of a trace, and those
// that cannot be understood.
func forgetSent(state *journal.State, trace string) (n int, err error) {
	for each, err := range state.EachSent() {
		garbled := errors.Is(err, journal.ErrGarbled) // it may hold anything
		if err != nil && !garbled {
			return n, err
		}
		if garbled || slices.ContainsFunc(takeApart(each), func(p part) bool { return p.trace == trace }) {
			if err := state.ForgetSent(each); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// tellJournal says so if the session's journal is still there.
func (a *app) tellJournal(state *journal.State, runs []runtypes.Wire) {
	meta := runs[0].Metadata()
	agent, _ := meta["ls_integration"].(string)
	thread, _ := meta["thread_id"].(string)
	session := state.Session(agent, thread)
	if _, ok := agents.Find(agent); !ok || thread == "" {
		return
	}
	if _, err := os.Lstat(session.Dir()); err == nil {
		fmt.Fprintf(a.stdout, "the journal of its session (%s) goes when the session has ended and is delivered, or with: tracesmith purge\n", session.Key())
	}
}

// tellLangSmith says how a trace is deleted there.
// Source: LangSmith's guide to data purging.
func (a *app) tellLangSmith(trace string) {
	settings, _ := a.settings("", "") // the address, if there is one, is enough
	if !settings.LangSmith() {
		fmt.Fprintln(a.stdout, "LangSmith: no destination is configured")
		return
	}
	endpoint := strings.TrimSuffix(settings.Endpoint, "/api/v1") + "/api/v1/runs/delete"
	fmt.Fprintf(a.stdout, `to delete it in LangSmith, with the project's id from its page (deletion is not instant there):
  curl -X POST %s -H "x-api-key: $LANGSMITH_API_KEY" -H "Content-Type: application/json" \
    -d '{"trace_ids": ["%s"], "session_id": "PROJECT_ID"}'
`, endpoint, trace)
}
