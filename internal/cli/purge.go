package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// purgeCommand removes what was recorded from this machine.
func purgeCommand(a *app) *cobra.Command {
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "purge [--yes] [--dry-run]",
		Short: "Remove what was recorded from this machine",
		Long: `Remove what was recorded from this machine, delivered or not: journals, the local store,
refused runs, the log. Settings and hooks stay, and what LangSmith has is not touched.`,
		Args: argCount(0, 0),
		RunE: func(*cobra.Command, []string) error {
			state, err := a.openState()
			if err != nil {
				return err
			}
			return oneLine(a.purge(state, yes, dryRun))
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would go, and remove nothing")
	return cmd
}

func (a *app) purge(state *journal.State, yes, dryRun bool) error {
	contents, err := state.Contents()
	if err != nil {
		return err
	}
	status := a.readStatus(state)
	waiting := 0
	for _, each := range status.Agents {
		waiting += each.Queued
	}
	fmt.Fprintf(a.stdout, "journals of %s: %s\n", count(len(status.Sessions), "session"), size(contents.Sessions))
	fmt.Fprintf(a.stdout, "local store: %s\n", size(storeSize(state)))
	fmt.Fprintf(a.stdout, "copies of requests: %s\nrefused runs: %s\nlog: %s\n", size(contents.Sent), size(contents.Dead), size(contents.Log))
	if waiting > 0 {
		fmt.Fprintf(a.stdout, "%s not delivered yet will be lost (deliver them with: tracesmith drain)\n", count(waiting, "event"))
	}
	switch {
	case dryRun:
		fmt.Fprintln(a.stdout, "dry run: nothing was removed")
		return nil
	case !yes && !a.asks():
		return errors.New("purge: nothing was removed: give --yes to go ahead")
	case !yes && !a.confirm("Remove all of it from "+state.Dir()+"?"):
		return errors.New("purge: nothing was removed")
	}
	busy, err := state.Purge(a.now())
	if busy > 0 {
		return errors.Join(fmt.Errorf("purge: %s at work stayed, and so did the local store: try again when the agents have ended", count(busy, "session")), err)
	}
	for _, path := range storeFiles(state) {
		if stuck := os.Remove(path); !errors.Is(stuck, fs.ErrNotExist) {
			err = errors.Join(err, stuck)
		}
	}
	if err != nil {
		return fmt.Errorf("purge: not all of it is removed: %w", err)
	}
	fmt.Fprintln(a.stdout, "removed")
	return nil
}

// storeFiles are the files of the local store: SQLite keeps two beside the first.
func storeFiles(state *journal.State) []string {
	path := storePath(state)
	return []string{path, path + "-wal", path + "-shm"}
}

func storeSize(state *journal.State) int64 {
	var sum int64
	for _, path := range storeFiles(state) {
		if info, err := os.Lstat(filepath.Clean(path)); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
