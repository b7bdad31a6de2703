package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// muteCommand keeps a session's next turns from being traced.
func muteCommand(a *app) *cobra.Command {
	return quietCommand(a, true, "mute [SESSION]", "Trace nothing of a session from its next turn on",
		`Trace nothing of a session from its next turn on, until unmute: its turns go neither
to LangSmith nor to the local store, nor does an import bring them in. A turn that is
under way goes on as it began.`)
}

// unmuteCommand ends that.
func unmuteCommand(a *app) *cobra.Command {
	return quietCommand(a, false, "unmute [SESSION]", "Trace a session again from its next turn on",
		`Trace a session again from its next turn on. What it did while it was muted stays
untraced.`)
}

func quietCommand(a *app, on bool, use, short, long string) *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use: use, Short: short,
		Long: long + `
SESSION is the key that status shows or, with --agent, the agent's id of the session: the
thread_id in LangSmith. Without it, it is the session that was last active in this folder.
Cursor has one key for each folder, which stands for all conversations there.`,
		Args: argCount(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := a.openState()
			if err != nil {
				return err
			}
			name := strings.Join(args, "")
			if _, known := agents.Find(agent); agent != "" && !known {
				return usagef("%s: unknown agent %q", cmd.Name(), agent)
			}
			if agent != "" && name != "" {
				return a.mute(state.Session(agent, name), on)
			}
			session, err := a.pick(state, name)
			if err != nil {
				return err
			}
			return a.mute(session, on)
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "whose id SESSION is")
	return cmd
}

func (a *app) mute(session *journal.Session, on bool) error {
	changed, err := session.SetMute(on, a.now())
	if err != nil {
		return oneLine(err)
	}
	switch {
	case on && changed:
		fmt.Fprintf(a.stdout, "%s is muted from its next turn on\n", session.Key())
	case on:
		fmt.Fprintf(a.stdout, "%s was muted already\n", session.Key())
	case changed:
		fmt.Fprintf(a.stdout, "%s is traced again from its next turn on\n", session.Key())
	default:
		fmt.Fprintf(a.stdout, "%s was not muted\n", session.Key())
	}
	return nil
}

// pick finds the session that is meant.
func (a *app) pick(state *journal.State, name string) (*journal.Session, error) {
	known := a.readStatus(state).Sessions
	slices.SortFunc(known, func(x, y drain.SessionStatus) int { return y.Modified.Compare(x.Modified) })
	dir, _ := a.getwd() // without one no session is in it
	for _, each := range known {
		session, err := state.Keyed(each.Key)
		if err != nil {
			continue
		}
		switch {
		case name == "" && worksIn(session, dir), name != "" && (name == each.Key || name == each.Session):
			return session, nil
		case name != "" && state.Session(each.Agent, name).Key() == each.Key: // no drainer has seen it yet
			return session, nil
		}
	}
	if session, err := state.Keyed(name); err == nil && session.Known() {
		return session, nil // one that was put away may be resumed
	}
	return nil, errors.New("no such session: give the SESSION that status shows (tracesmith status)")
}

// worksIn reports whether a session was last at work in a folder or below it.
func worksIn(session *journal.Session, dir string) bool {
	if dir == "" {
		return false
	}
	checkpoints, err := session.Checkpoints()
	if err != nil {
		return false
	}
	for _, cp := range checkpoints {
		if rest, err := filepath.Rel(dir, cp.CWD); err == nil && cp.CWD != "" && filepath.IsLocal(rest) {
			return true
		}
	}
	return false
}
