package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what a run carries of the user's own words.
const (
	maxTags     = 64
	maxMetadata = 64
	maxText     = 1024
)

// field is one setting: its name in files and flags, its variables, strongest
// first, and how it is read and shown.
type field struct {
	key  string
	env  []variable
	set  func(*Config, string) error
	text func(*Config) string

	quiet bool // another setting shows what came of it
}

// variable is one of the environment.
type variable struct {
	name string
	read func(string) string // into what set takes; nil: as it is
}

// fields lists the settings in the order a user is shown them, with the variables
// that count for an agent.
func fields(agent string) []field {
	return append([]field{
		boolean("enabled", []variable{{name: "TRACESMITH"}, {"TRACE_TO_LANGSMITH", pluginSwitch}}, func(c *Config) *bool { return &c.Enabled }),
		{
			key: "endpoint", env: shared(agent, "ENDPOINT"),
			set:  func(c *Config, s string) (err error) { c.Endpoint, err = parseEndpoint(s); return err },
			text: func(c *Config) string { return c.Endpoint },
		},
		{
			key: "api_key", env: shared(agent, "API_KEY"),
			set: func(c *Config, s string) error { return c.setKey(Key{Text: s}) },
			text: func(c *Config) string {
				if c.Login {
					return "(signed in with LangSmith's command line)"
				}
				return c.Key().String()
			},
		},
		word("workspace_id", append(shared(agent, "WORKSPACE_ID"), variable{name: "LANGSMITH_TENANT_ID"}), func(c *Config) *string { return &c.WorkspaceID }),
		{
			key: "project", env: append(shared(agent, "PROJECT"), variable{name: "LANGSMITH_SESSION"}, variable{name: "LANGCHAIN_SESSION"}),
			set:  func(c *Config, s string) error { c.routed = ""; return setText(&c.Project, s) },
			text: func(c *Config) string { return c.RunProject() },
		},
		replicas(agent),
		boolean("live", []variable{{name: "TRACESMITH_LIVE"}}, func(c *Config) *bool { return &c.Live }),
		choice("upload", []variable{{name: "TRACESMITH_UPLOAD"}}, func(c *Config) *Upload { return &c.Upload }, Detached, Inline, Off),
		choice("content", append([]variable{{name: "TRACESMITH_CONTENT"}}, theirs(agent, "DEFAULT_MUTED", pluginMuted)...), func(c *Config) *Content { return &c.Content }, contents()...),
		boolean("scrub_paths", []variable{{name: "TRACESMITH_SCRUB_PATHS"}}, func(c *Config) *bool { return &c.ScrubPaths }),
		choice("inputs", []variable{{name: "TRACESMITH_INPUTS"}}, func(c *Config) *Inputs { return &c.Inputs }, Turn, Delta, Thread),
		boolean("hide_inputs", shared(agent, "HIDE_INPUTS"), func(c *Config) *bool { return &c.HideInputs }),
		boolean("hide_outputs", shared(agent, "HIDE_OUTPUTS"), func(c *Config) *bool { return &c.HideOutputs }),
		boolean("hide_metadata", shared(agent, "HIDE_METADATA"), func(c *Config) *bool { return &c.HideMetadata }),
		{
			key: "sampling_rate", env: append([]variable{{name: "TRACESMITH_SAMPLING_RATE"}}, shared(agent, "TRACING_SAMPLING_RATE")[1:]...),
			set: func(c *Config, s string) error {
				rate, err := strconv.ParseFloat(s, 64)
				if err != nil || !(rate >= 0 && rate <= 1) {
					return errors.New("want a number between 0 and 1")
				}
				c.Sampling = &rate
				return nil
			},
			text: func(c *Config) string {
				if c.Sampling == nil {
					return "1"
				}
				return strconv.FormatFloat(*c.Sampling, 'g', -1, 64)
			},
		},
		boolean("store", []variable{{name: "TRACESMITH_STORE"}}, func(c *Config) *bool { return &c.Store }),
		boolean("redact", append([]variable{{name: "TRACESMITH_REDACT"}}, theirs(agent, "REDACT", pluginRedact)...), func(c *Config) *bool { return &c.Redact }),
		rules(agent),
		allowed(),
		{
			key: "tags", env: []variable{{name: "TRACESMITH_TAGS"}},
			set:  func(c *Config, s string) error { return c.addTags(strings.Split(s, ",")) },
			text: func(c *Config) string { return strings.Join(c.Tags, ",") },
		},
		{
			key: "metadata", env: append([]variable{{name: "TRACESMITH_METADATA"}}, theirs(agent, "METADATA", nil)...),
			set:  (*Config).addMetadata,
			text: func(c *Config) string { return strings.Join(pairs(c.Metadata), ",") },
		},
	}, append(network(), otlp()...)...)
}

func fieldOf(key string) (field, bool) {
	for _, f := range fields("") {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// shared lists the variables of a setting that LangSmith's own tools have too: after
// ours those of its plugin for the agent, then those of all its tools.
func shared(agent, suffix string) []variable {
	list := []variable{{name: "TRACESMITH_" + suffix}}
	if p, ok := pluginOf(agent); ok {
		list = append(list, variable{name: p.prefix + suffix})
	}
	return append(list, variable{name: "LANGSMITH_" + suffix}, variable{name: "LANGCHAIN_" + suffix})
}

func boolean(key string, env []variable, at func(*Config) *bool) field {
	return field{
		key: key, env: env,
		set: func(c *Config, s string) error {
			v, err := parseBool(s)
			if err == nil {
				*at(c) = v
			}
			return err
		},
		text: func(c *Config) string { return strconv.FormatBool(*at(c)) },
	}
}

func word(key string, env []variable, at func(*Config) *string) field {
	return field{
		key: key, env: env,
		set:  func(c *Config, s string) error { return setText(at(c), s) },
		text: func(c *Config) string { return *at(c) },
	}
}

func choice[T ~string](key string, env []variable, at func(*Config) *T, options ...T) field {
	return field{
		key: key, env: env,
		set: func(c *Config, s string) error {
			if v := T(strings.ToLower(s)); slices.Contains(options, v) {
				*at(c) = v
				return nil
			}
			return fmt.Errorf("want one of %q", options)
		},
		text: func(c *Config) string { return string(*at(c)) },
	}
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, errors.New("want true or false")
}

// setText takes a value that goes into a header or a run's metadata.
func setText(to *string, s string) error {
	switch {
	case len(s) > maxText:
		return fmt.Errorf("longer than %d bytes", maxText)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("holds a control character")
	}
	*to = s
	return nil
}

// parseEndpoint wants an http or https URL. It reads it by hand because net/url is
// for the drainer, not the hook.
func parseEndpoint(s string) (string, error) {
	scheme, rest, ok := strings.Cut(strings.TrimRight(s, "/"), "://")
	host, _, _ := strings.Cut(rest, "/")
	scheme = strings.ToLower(scheme)
	switch {
	case !ok || host == "" || scheme != "https" && scheme != "http":
		return "", errors.New("want a URL such as " + DefaultEndpoint)
	case strings.Contains(host, "@"), strings.ContainsAny(rest, "?# \t\r\n"):
		return "", errors.New("want a URL without user, query or fragment")
	}
	return scheme + "://" + rest, nil
}

// addTags adds to the tags of weaker layers: they say different things.
func (c *Config) addTags(tags []string) error {
	for _, t := range tags {
		var tag string
		if err := setText(&tag, clean(t)); err != nil {
			return err
		}
		if tag == "" || slices.Contains(c.Tags, tag) {
			continue
		}
		if len(c.Tags) == maxTags {
			return fmt.Errorf("more than %d tags", maxTags)
		}
		c.Tags = append(c.Tags, tag)
	}
	return nil
}

// addMetadata takes name=value pairs, or a JSON object as LangSmith's plugins have it.
func (c *Config) addMetadata(s string) error {
	if !strings.HasPrefix(s, "{") {
		return c.addPairs(strings.Split(s, ","))
	}
	object, err := decodeJSON([]byte(s))
	if err != nil {
		return errors.New("want name=value pairs or a JSON object")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		text, ok := plainText(object[key])
		if !ok {
			return errors.New("want plain values")
		}
		if err := c.addPair(key, text); err != nil {
			return err
		}
	}
	return nil
}

// plainText is a value of a file as text; ok is false for lists and tables. Null is
// nothing.
func plainText(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string, bool, int64, float64, json.Number:
		return strings.TrimSpace(fmt.Sprint(v)), true
	}
	return "", false
}

func (c *Config) addPairs(pairs []string) error {
	for _, p := range pairs {
		if p = clean(p); p == "" {
			continue
		}
		k, v, ok := strings.Cut(p, "=")
		if !ok {
			return errors.New("want name=value pairs")
		}
		if err := c.addPair(k, v); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) addPair(key, value string) error {
	var k, v string
	if err := errors.Join(setText(&k, clean(key)), setText(&v, clean(value))); err != nil {
		return err
	}
	if k == "" || v == "" {
		return nil
	}
	if _, known := c.Metadata[k]; !known && len(c.Metadata) == maxMetadata {
		return fmt.Errorf("more than %d entries", maxMetadata)
	}
	if c.Metadata == nil {
		c.Metadata = map[string]string{}
	}
	c.Metadata[k] = v
	return nil
}

func pairs(m map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+"="+m[k])
	}
	return out
}
