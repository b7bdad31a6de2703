package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/redactbench/plant"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the secrets are drawn from")
	each := flag.Int("n", 5, "secrets of each kind in each place")
	root := flag.String("root", ".", "the repository's folder")
	verbose := flag.Bool("v", false, "tell what was missed and what was found in vain")
	flag.Parse()
	if err := run(os.Stdout, *seed, *each, *root, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "redactbench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, seed uint64, each int, root string, verbose bool) error {
	d := plant.New(seed)
	details := io.Discard
	if verbose {
		details = w
	}
	prefixes, err := recall(tokens(d, each), details)
	if err != nil {
		return err
	}
	names, err := recall(assignments(d, plant.Named(), each), details)
	if err != nil {
		return err
	}
	files, err := recall(assignments(d, plant.Credentials(), each), details)
	if err != nil {
		return err
	}
	benign, err := repository(root)
	if err != nil {
		return err
	}
	benign = append(benign, generated(d)...)
	size, vain := 0, 0
	for _, t := range benign {
		size += len(t.body)
		vain += falseFinds(t, details)
	}
	found := prefixes.found + names.found + files.found
	precision := float64(found) / float64(found+vain)

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "recall, by prefix\t%.4f\tgoal 1.0\t%d of %d, %d kinds\n", prefixes.rate(), prefixes.found, prefixes.all, prefixes.kinds)
	fmt.Fprintf(table, "recall, NAME=value\t%.4f\tgoal 0.95\t%d of %d, %d forms\n", names.rate(), names.found, names.all, names.kinds)
	fmt.Fprintf(table, "recall, files and commands\t%.4f\tgoal 0.95\t%d of %d, %d forms\n", files.rate(), files.found, files.all, files.kinds)
	fmt.Fprintf(table, "precision\t%.4f\tgoal 0.99\t%d found in vain in %.1f MB of %d benign texts\n", precision, vain, float64(size)/1e6, len(benign))
	speed(table, benign)
	if err := table.Flush(); err != nil {
		return err
	}
	if prefixes.rate() < 1 || names.rate() < 0.95 || files.rate() < 0.95 || precision < 0.99 {
		return errors.New("a goal is missed")
	}
	return nil
}

// score is how many of the planted were found.
type score struct{ found, all, kinds int }

func (s score) rate() float64 { return float64(s.found) / float64(s.all) }

// recall passes each document and looks for what is left of its secret.
func recall(all []planted, details io.Writer) (score, error) {
	missed := map[string]int{}
	kinds := map[string]bool{}
	s := score{all: len(all)}
	for _, p := range all {
		kinds[p.Kind] = true
		doc, err := redact.JSON(p.doc)
		if err != nil {
			return s, fmt.Errorf("%s in %s: %w", p.Kind, p.place, err)
		}
		if !p.Left(doc) {
			s.found++
			continue
		}
		if missed[p.Kind]++; missed[p.Kind] <= 3 {
			fmt.Fprintf(details, "missed %s in %s: %s\n", p.Kind, p.place, near(string(p.doc), p.Secret))
		}
	}
	s.kinds = len(kinds)
	for _, kind := range slices.Sorted(maps.Keys(missed)) {
		fmt.Fprintf(details, "missed %d of kind %s\n", missed[kind], kind)
	}
	return s, nil
}

// near is the secret with what stands around it.
func near(doc, secret string) string {
	at := strings.Index(doc, secret[:min(len(secret), 8)])
	if at < 0 {
		return secret
	}
	return doc[max(0, at-40):min(len(doc), at+len(secret)+20)]
}

// falseFinds is how many secrets are found in a text that has none.
func falseFinds(t text, details io.Writer) (n int) {
	rules := map[string]int{}
	pass := redact.Pass{Found: func(rule string) { n++; rules[rule]++ }}
	clean := pass.Text(t.body)
	if n > 0 {
		fmt.Fprintf(details, "in vain in %s: %v\n", t.name, rules)
		for rest, shown := clean, 0; shown < 3; shown++ {
			at := strings.Index(rest, "[redacted:")
			if at < 0 {
				break
			}
			fmt.Fprintf(details, "\t%q\n", rest[max(0, at-60):min(len(rest), at+40)])
			rest = rest[at+10:]
		}
	}
	return n
}
