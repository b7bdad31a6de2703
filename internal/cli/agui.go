package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// aguiFlags say how a stream of AG-UI events is read and what becomes of it.
type aguiFlags struct {
	format   string
	strict   bool
	messages bool
	run      aguiRunFlags
}

// aguiCommand reads the events of an agent that speaks AG-UI.
func aguiCommand(a *app) *cobra.Command {
	var flags aguiFlags
	cmd := &cobra.Command{
		Use:   "ag-ui [FILE|-]",
		Short: "Trace a stream of AG-UI events",
		Long: `Read the events of an agent that speaks AG-UI from FILE or standard input: server-sent
events, JSON lines, a JSON array or protobuf. Deliver the runs they tell of while they
come, and say in one line what there was:

  curl -N … | tracesmith ag-ui

With --messages, print what the events assemble to as one JSON object: runs, messages,
tool calls, their metadata, and what was wrong with the stream.`,
		Args: argCount(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := flags.options()
			if err != nil {
				return err
			}
			in, done, err := a.input(args)
			if err != nil {
				return fmt.Errorf("ag-ui: %w", err)
			}
			defer done()
			if !flags.messages {
				return oneLine(a.aguiRuns(cmd.Context(), in, opts, flags))
			}
			return a.aguiMessages(in, opts, flags.strict)
		},
	}
	cmd.Flags().BoolVar(&flags.messages, "messages", false, "print what the events assemble to as one JSON object")
	cmd.Flags().BoolVar(&flags.strict, "strict", false, "fail on what the protocol forbids")
	cmd.Flags().StringVar(&flags.format, "format", "", "sse, jsonl, array or protobuf (default: told by the stream)")
	flags.run.define(cmd)
	cmd.AddCommand(aguiProxyCommand(a))
	return cmd
}

func (f *aguiFlags) options() (agui.Options, error) {
	switch format := agui.Format(f.format); format {
	case "", agui.SSE, agui.Lines, agui.Array, agui.Protobuf:
		return agui.Options{Format: format}, nil
	}
	return agui.Options{}, usagef("ag-ui: unknown format %q (known: sse, jsonl, array, protobuf)", f.format)
}

// input opens the file that a command was given, or standard input.
func (a *app) input(args []string) (in io.Reader, done func(), err error) {
	if len(args) == 0 || args[0] == "-" {
		return a.stdin, func() {}, nil
	}
	f, err := regular.Open(args[0])
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

// aguiMessages prints what a stream assembles to. A strict reader fails afterwards.
func (a *app) aguiMessages(in io.Reader, opts agui.Options, strict bool) error {
	assembled := agui.NewAssembler()
	decoder := agui.NewDecoder(in, opts)
	events := 0
	for {
		frame, err := decoder.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("ag-ui: read: %w", err)
		}
		if frame.Event != nil {
			events++
		}
		assembled.Apply(frame)
	}
	assembled.Close()
	if events == 0 {
		return errors.New("ag-ui: no AG-UI event in the input (say the format with --format)")
	}
	summary, err := assembled.Summary().JSON()
	if err != nil {
		return fmt.Errorf("ag-ui: %w", err)
	}
	if _, err := a.stdout.Write(summary); err != nil {
		return fmt.Errorf("ag-ui: print: %w", err)
	}
	if strict {
		return refusal(assembled.Problems())
	}
	return nil
}

// refusal is the first problem for which a strict reader refuses a stream.
func refusal(problems []agui.Problem) error {
	for _, p := range problems {
		if p.Refused() {
			what := p.Code
			if p.Detail != "" {
				what += " (" + p.Detail + ")"
			}
			return fmt.Errorf("ag-ui: strict: event %d: %s", p.Event, what)
		}
	}
	return nil
}
