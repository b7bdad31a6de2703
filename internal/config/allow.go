package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/internal/redact"
)

// allowed is the setting of what redaction leaves in: a list of patterns in files, JSON
// in variables. A project's file has no say.
func allowed() field {
	return field{
		key: "redact_allow",
		env: []variable{{name: "TRACESMITH_REDACT_ALLOW"}},
		set: func(c *Config, s string) error {
			var list []any
			if json.Unmarshal([]byte(s), &list) != nil {
				return errors.New("want a JSON array of patterns")
			}
			return c.setAllow(list)
		},
		text: func(c *Config) string {
			if len(c.Allow) == 0 {
				return ""
			}
			return fmt.Sprintf("%d patterns", len(c.Allow))
		},
	}
}

// setAllow takes the patterns. Where one is none, none counts: nothing is left in that
// should not be.
func (c *Config) setAllow(list []any) error {
	c.Allow = nil
	found, err := allowFrom(list)
	if err == nil {
		c.Allow = found
	}
	return err
}

func allowFrom(list []any) (redact.Allow, error) {
	if len(list) > maxRules {
		return nil, fmt.Errorf("more than %d patterns", maxRules)
	}
	var patterns []string
	for n, each := range list {
		pattern, ok := each.(string)
		if !ok || pattern == "" || len(pattern) > maxText {
			return nil, fmt.Errorf("pattern %d is no text of at most %d bytes", n+1, maxText)
		}
		patterns = append(patterns, pattern)
	}
	return redact.NewAllow(patterns)
}

// ruleName reports whether a rule may be named so in a marker.
func ruleName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}
