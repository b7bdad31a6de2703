package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/runtypes"
)

func main() {
	only := flag.String("only", "*", "play the recordings that fit this pattern")
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	if err := report(context.Background(), os.Stdout, *root, *only, cmp.Or(strings.Join(flag.Args(), " "), "claude-code openai-codex")); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

// ways are those worth comparing: the levels, then the kinds of inputs, then live or not.
func ways() []way {
	return []way{
		{runtypes.LevelFull, integrations.InputsTurn, true},
		{runtypes.LevelNoToolContent, integrations.InputsTurn, true},
		{runtypes.LevelMetadata, integrations.InputsTurn, true},
		{runtypes.LevelFull, integrations.InputsTurn, false},
		{runtypes.LevelFull, integrations.InputsDelta, false},
		{runtypes.LevelFull, integrations.InputsThread, false},
	}
}

// report prints a line for each agent and way, scaled to 1,000 turns.
func report(ctx context.Context, w io.Writer, root, only, names string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "agent\tturns played\tcontent\tinputs\tlive\tevents\tMB\tMB, compressed")
	for _, name := range strings.Fields(names) {
		agent, ok := agents.Find(name)
		if !ok {
			return fmt.Errorf("unknown agent %q", name)
		}
		for _, way := range ways() {
			c, err := measure(ctx, root, only, agent, way)
			if err != nil {
				return err
			}
			scaled := func(n int64) float64 { return float64(n) * 1000 / float64(max(c.turns, 1)) }
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%v\t%.0f\t%.1f\t%.1f\n", name, c.turns, way.level, way.inputs, way.live,
				scaled(int64(c.events)), scaled(c.bytes)/1e6, scaled(c.wire)/1e6)
		}
	}
	return t.Flush()
}
