package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxRedact bounds the text that redact takes: it is looked at as a whole, since a
// secret may go over many lines.
const maxRedact = 256 << 20

// redactCommand shows what is taken out of a text before it leaves the machine.
func redactCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "redact [FILE|-]",
		Short: "Show what redaction would do to a text or to JSON lines",
		Long: `Read FILE or standard input, and print it as it would leave the machine: with each
secret replaced by a marker that names the rule, and with what your own rules take out
and your allow list leaves in. Input whose every line is a JSON document is taken as
such: there a key tells of its value. Nothing is sent or stored.

It is what happens to content in the level full. What a lower level leaves out is decided
by what a text is part of, a prompt or a tool's output, and not by the text: to see that,
set TRACESMITH_CONTENT, take a turn, and look at it with: tracesmith sent

The number of secrets of each kind goes to standard error.`,
		Args: argCount(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			in, done, err := a.input(args)
			if err != nil {
				return fmt.Errorf("redact: %w", err)
			}
			defer done()
			return a.redact(in)
		},
	}
}

func (a *app) redact(in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxRedact+1))
	if err != nil {
		return fmt.Errorf("redact: read: %w", err)
	}
	if len(text) > maxRedact {
		return fmt.Errorf("redact: the text has more than %d MB", maxRedact>>20)
	}
	dir, err := a.getwd()
	if err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	settings, err := a.settings("", dir)
	if err != nil {
		return fmt.Errorf("redact: %w", oneLine(err))
	}
	if err := settings.Unruly(); err != nil {
		return fmt.Errorf("redact: redact_extra_rules: %w: no content is sent (see: tracesmith doctor)", err)
	}
	counts := map[string]int{}
	pass := redact.Pass{Allow: settings.Allow, Found: func(rule string) { counts[rule]++ }}
	clean, err := redacted(text, settings.Rules, pass)
	if err != nil {
		return err
	}
	if _, err := a.stdout.Write(clean); err != nil {
		return err
	}
	fmt.Fprintln(a.stderr, found(counts))
	return nil
}

// redact takes the secrets out of a run but for those that the settings of its folder
// leave in.
func (s *shaper) redact(run *runtypes.Run) error {
	settings := s.in(run.Identity.Integration, run.Identity.WorkingDirectory)
	return redact.Pass{Allow: settings.Allow}.Run(run)
}

// redacted applies both kinds of rules in the order in which runs meet them.
func redacted(text []byte, rules redact.Rules, pass redact.Pass) ([]byte, error) {
	if !jsonLines(text) {
		return []byte(pass.Text(rules.Text(string(text)))), nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		doc := bytes.TrimRight(line, "\r\n")
		clean, err := rules.JSON(doc)
		if err == nil {
			clean, err = pass.JSON(clean)
		}
		if err != nil {
			return nil, err
		}
		out.Write(clean)
		out.Write(line[len(doc):])
	}
	return out.Bytes(), nil
}

// jsonLines reports whether every line is a JSON object or list, or blank, and one is
// there.
func jsonLines(text []byte) bool {
	some := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '{' && line[0] != '[' || !json.Valid(line) {
			return false
		}
		some = true
	}
	return some
}

// found says how many secrets there were of each kind, the most frequent first.
func found(counts map[string]int) string {
	if len(counts) == 0 {
		return "no secrets"
	}
	kinds := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		if counts[x] != counts[y] {
			return counts[y] - counts[x]
		}
		return strings.Compare(x, y)
	})
	total := 0
	for i, kind := range kinds {
		total += counts[kind]
		kinds[i] = fmt.Sprintf("%s %d", kind, counts[kind])
	}
	return fmt.Sprintf("%d secrets: %s", total, strings.Join(kinds, ", "))
}
