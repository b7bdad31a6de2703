// Command convert writes rules.json, beside this folder, from the rules that the
// gitleaks project publishes. Run it in the module's root:
//
//	go run ./internal/redact/gitleaks/convert
//
// It fetches the version below through the module proxy and links nothing of it. A
// rule that has neither form that package redact looks for must be listed in
// leftOut with the reason; anything else is an error.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
)

const (
	module  = "github.com/zricethezav/gitleaks/v8"
	version = "v8.30.1"
	out     = "internal/redact/gitleaks/rules.json"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	published, err := fetch()
	if err != nil {
		return err
	}
	rules := document{Source: module + " " + version, LeftOut: map[string]string{}}
	var faults []error
	for _, r := range published {
		if reason := leftOut[r.ID]; reason != "" {
			rules.LeftOut[r.ID] = reason
		} else if err := rules.add(r); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	text, err := rules.text()
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}

// rule is one of gitleaks'.
type rule struct {
	ID       string   `toml:"id"`
	Regex    string   `toml:"regex"`
	Entropy  float64  `toml:"entropy"`
	Keywords []string `toml:"keywords"`
}

// fetch reads the rules of the published version.
func fetch() ([]rule, error) {
	info, err := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	if err != nil {
		return nil, fmt.Errorf("convert: download: %w", err)
	}
	var at struct{ Dir string }
	if err := json.Unmarshal(info, &at); err != nil {
		return nil, fmt.Errorf("convert: download: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(at.Dir, "config", "gitleaks.toml"))
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	var doc struct {
		Rules []rule `toml:"rules"`
	}
	if err := toml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	return doc.Rules, nil
}

// document is what package redact reads.
type document struct {
	Source  string            `json:"source"`
	LeftOut map[string]string `json:"left_out"` // by rule: why
	Tokens  []token           `json:"tokens"`
	Vendors []vendor          `json:"vendors"`
}

// token is a rule for what begins with fixed letters.
type token struct {
	Name     string   `json:"name"`
	Keywords []string `json:"keywords"` // in lower case
	Pattern  string   `json:"pattern"`
	Word     bool     `json:"word,omitempty"` // only at the start of a word
	Entropy  float64  `json:"entropy,omitempty"`
}

// vendor is a rule for a value of a certain shape that is given to a name with the
// vendor's in it.
type vendor struct {
	Name    string   `json:"name"`
	Words   []string `json:"words"` // in lower case
	Value   string   `json:"value"`
	Entropy float64  `json:"entropy,omitempty"`
}

// text is the document with one rule to a line, so that a new version can be read as
// a diff.
func (d *document) text() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	line := func(before string, v any) error {
		b.WriteString(before)
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("convert: %w", err)
		}
		b.Truncate(b.Len() - 1)
		return nil
	}
	err := errors.Join(line("{\"source\": ", d.Source), line(",\n\"left_out\": ", d.LeftOut))
	b.WriteString(",\n\"tokens\": [")
	for i, t := range d.Tokens {
		err = errors.Join(err, line(comma(i), t))
	}
	b.WriteString("\n],\n\"vendors\": [")
	for i, v := range d.Vendors {
		err = errors.Join(err, line(comma(i), v))
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), err
}

func comma(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}
