package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/tracesmith/tracesmith/internal/redact"
)

const (
	// maxRules bounds the user's own rules.
	maxRules = 64
	// maxProgram bounds what a pattern compiles to. The time that it takes grows with
	// that: (a{0,1000}){3} would keep a drainer busy for minutes with each megabyte.
	maxProgram = 1000
)

// replacement stands where a rule gives none.
const replacement = "[SECRET_DETECTED]"

// rules is the setting of the user's own rules: a list in files, JSON in variables, of
// tables with pattern and replace.
func rules(agent string) field {
	return field{
		key: "redact_extra_rules",
		env: append([]variable{{name: "TRACESMITH_REDACT_EXTRA"}}, theirs(agent, "REDACT_EXTRA", nil)...),
		set: func(c *Config, s string) error {
			var list []any
			if json.Unmarshal([]byte(s), &list) != nil {
				c.setRules(nil, errors.New("want a JSON array of objects with pattern and replace"))
				return nil
			}
			c.setRules(rulesFrom(list))
			return nil
		},
		text: func(c *Config) string {
			if len(c.Rules) == 0 {
				return ""
			}
			return fmt.Sprintf("%d of your own", len(c.Rules))
		},
	}
}

// setRules takes the rules, or notes why they cannot be applied.
func (c *Config) setRules(found redact.Rules, err error) { c.Rules, c.unruly = found, err }

// Unruly is why the user's own rules cannot be applied, and no content is sent; nil if
// they can.
func (c Config) Unruly() error { return c.unruly }

// Restraint tells what one shell's settings hide beside secrets from what another's do:
// it is empty where that is nothing, and the same for the same.
func (c Config) Restraint() string {
	parts := []string{"restraint"}
	for _, rule := range c.Rules {
		parts = append(parts, rule.Pattern.String(), rule.With+rule.Allow.String())
	}
	for name, hidden := range map[string]bool{"inputs": c.HideInputs, "outputs": c.HideOutputs, "metadata": c.HideMetadata} {
		if hidden {
			parts = append(parts, "hide "+name)
		}
	}
	if len(parts) == 1 {
		return ""
	}
	slices.Sort(parts[1+2*len(c.Rules):])
	return digest(parts...)
}

// withhold keeps content back where there are rules that cannot be applied: they must
// not be passed over, whatever else the settings say.
func (l *loader) withhold() {
	if l.cfg.unruly == nil {
		return
	}
	by := l.cfg.Source("redact_extra_rules")
	l.ignore("redact_extra_rules", by, l.cfg.unruly.Error()+": no content is sent")
	if Metadata.lowers(l.cfg.Content) {
		l.cfg.Content = Metadata
	}
	l.cfg.source("content", by)
}

// costly reports whether a pattern takes long, whatever the text.
func costly(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return true
	}
	prog, err := syntax.Compile(re.Simplify())
	return err != nil || len(prog.Inst) > maxProgram
}

// rulesFrom reads a list of tables. Its errors show no pattern, which may hold what it
// is to hide.
func rulesFrom(list []any) (redact.Rules, error) {
	if len(list) > maxRules {
		return nil, fmt.Errorf("more than %d rules", maxRules)
	}
	var found redact.Rules
	for n, each := range list {
		table, _ := each.(map[string]any)
		pattern, ok := table["pattern"].(string)
		if !ok || pattern == "" || len(pattern) > maxText {
			return nil, fmt.Errorf("rule %d has no pattern of at most %d bytes", n+1, maxText)
		}
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("rule %d is no regular expression that Go knows", n+1)
		}
		if costly(pattern) {
			return nil, fmt.Errorf("rule %d has repetitions that take too long", n+1)
		}
		if compiled.MatchString("") {
			return nil, fmt.Errorf("rule %d matches where there is nothing", n+1)
		}
		rule := redact.Rule{Pattern: compiled, With: replacement}
		if name, _ := table["name"].(string); ruleName(name) {
			rule.With = redact.Marker(name)
		}
		if text, given := table["replace"].(string); given {
			rule.With = text
		}
		if list, given := table["allow"]; given {
			patterns, _ := list.([]any)
			if rule.Allow, err = allowFrom(patterns); err != nil || len(patterns) == 0 {
				return nil, fmt.Errorf("rule %d allows what is no list of patterns that Go knows", n+1)
			}
		}
		found = append(found, rule)
	}
	return found, nil
}
