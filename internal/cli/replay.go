package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// replayCommand prints the runs that a recorded session gives.
func replayCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay AGENT DIR",
		Short: "Print the runs of a recorded session, one JSON object a line, without sending anything",
		Long: `Feed a recording (DIR/hooks.jsonl, with DIR/home in place of /home/dev) through the
same code a live session takes and print the final state of every run as it would
stand on the wire after redaction, parents first. Of ag-ui a recording is a stream:
DIR/events.jsonl, events.sse or events.bin.`,
		Args: argCount(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isAGUI(args[0]) {
				return a.replayAGUI(cmd.Context(), args[1])
			}
			agent, ok := agents.Find(args[0])
			if !ok {
				return usagef("replay: unknown agent %q (known: %s, %s)", args[0], strings.Join(agents.Names(), ", "), agui.Integration)
			}
			rec, err := replay.Load(args[1])
			if err != nil {
				return err
			}
			result, err := rec.Run(agent, replay.Options{})
			if err != nil {
				return err
			}
			return printRuns(a.stdout, result.Runs)
		},
	}
	cmd.Flags().Bool("json", true, "one JSON object a line (the only format)")
	return cmd
}

// printRuns writes runs as JSON lines.
func printRuns(w io.Writer, runs []runtypes.Wire) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, run := range runs {
		if err := enc.Encode(run); err != nil {
			return fmt.Errorf("print runs: %w", err)
		}
	}
	return out.Flush()
}
