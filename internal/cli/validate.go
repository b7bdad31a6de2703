package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/regular"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxRunLine bounds one run's JSON: more than LangSmith takes in a request.
const maxRunLine = 64 << 20

// validateCommand checks runs against the coding agent contract.
func validateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE|-]",
		Short: "Check runs (JSON lines) against the coding agent metadata contract",
		Long: `Read runs as JSON lines from FILE or standard input and print each violation of
the contract. The exit code is 1 if there is one, or if there is no run.`,
		Args: argCount(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			in := a.stdin
			if len(args) == 1 && args[0] != "-" {
				f, err := regular.Open(args[0])
				if err != nil {
					return fmt.Errorf("validate: %w", err)
				}
				defer f.Close()
				in = f
			}
			runs, err := readRuns(in)
			if err != nil {
				return fmt.Errorf("validate: %w", err)
			}
			if len(runs) == 0 {
				return errors.New("validate: no runs in the input")
			}
			violations := runtypes.ValidateWire(runs)
			for _, v := range violations {
				fmt.Fprintln(a.stdout, v)
			}
			if len(violations) > 0 {
				return errReported
			}
			fmt.Fprintf(a.stderr, "%d runs keep the contract\n", len(runs))
			return nil
		},
	}
}

// readRuns reads runs as JSON lines; blank lines do not count.
func readRuns(in io.Reader) ([]runtypes.Wire, error) {
	var runs []runtypes.Wire
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxRunLine)
	for n := 1; s.Scan(); n++ {
		text := bytes.TrimSpace(s.Bytes())
		if len(text) == 0 {
			continue
		}
		var run runtypes.Wire
		if err := json.Unmarshal(text, &run); err != nil {
			return nil, fmt.Errorf("line %d is no run: %w", n, err)
		}
		runs = append(runs, run)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return runs, nil
}
