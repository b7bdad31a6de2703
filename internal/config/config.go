package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/internal/redact"
)

// Upload says when what was captured leaves the machine.
type Upload string

// The upload modes.
const (
	Detached Upload = "detached" // a background process delivers
	Inline   Upload = "inline"   // the hook that ends a turn waits for delivery
	Off      Upload = "off"      // nothing is delivered until drain is called
)

// Inputs says how much of the conversation a model call repeats as its inputs.
type Inputs string

// The choices.
const (
	Turn   Inputs = "turn"   // this turn's messages so far
	Delta  Inputs = "delta"  // only what is new since the previous call
	Thread Inputs = "thread" // the whole conversation, older messages elided
)

// DefaultEndpoint is LangSmith's public API.
const DefaultEndpoint = "https://api.smith.langchain.com"

// Config is every setting. The zero value is not useful: see [Load].
type Config struct {
	Enabled     bool
	Endpoint    string
	APIKey      string
	WorkspaceID string
	Project     string // empty: the integration's name
	Live        bool   // post a turn while it runs
	Upload      Upload
	Content     Content
	Inputs      Inputs
	Store       bool // keep runs in the local store
	Redact      bool
	ScrubPaths  bool // write ~ for the home folder
	Tags        []string
	Metadata    map[string]string
	// What LangSmith gets {} for. The local store keeps it.
	HideInputs, HideOutputs, HideMetadata bool
	Sampling                              *float64  // part of the traces that LangSmith gets; nil: all
	Replicas                              []Replica // destinations instead of Endpoint, if there are any

	KeyCommand, KeyKeyring string // what prints the API key, or its entry in the system's keyring, in place of APIKey
	Proxy, NoProxy         string // in place of the environment's
	CAFile                 string // certificates to trust beside the system's
	ClientCert, ClientKey  string // files of what is shown to a server that asks
	AllowHTTP              bool   // to a server that is not this machine

	OTLP OTLP // where runs go as spans, beside LangSmith

	routed     string   // project of the route that fits the folder
	workspaces []string // that any route names
	locked     []string // settings that the policy decides on
	home       string

	// Rules are the user's own, for what to take out beside secrets.
	Rules  redact.Rules
	unruly error // why there are some that cannot be applied
	// Allow is what redaction leaves in.
	Allow redact.Allow

	// Login says that there is no key, but somebody is signed in with LangSmith's
	// command line: package exporter/profile has the token.
	Login bool

	// Ignored names settings that had no effect, with the reason: unknown keys,
	// and what a project's file may not say.
	Ignored []string

	sources map[string]string
}

// Options says where Load looks. The zero value yields the defaults.
type Options struct {
	Env   func(string) string
	Flags map[string]string // by setting name, as in the files
	Dir   string            // working directory; empty: no project file is looked for
	Agent string            // whose names of LangSmith's plugins count; empty: nobody's own
}

// Setting is one value as a user is shown it.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // flag, a variable's name, a file's path, or default
}

// SourceDefault is the source of a value that nobody set.
const SourceDefault = "default"

// Load reads the settings. The Config is usable even if there is an error, which
// names every file and value that could not be used: a hook counts it and goes on,
// a command prints it and stops.
func Load(o Options) (Config, error) {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	l := loader{cfg: defaults(), agent: o.Agent, dir: o.Dir}
	l.cfg.home = home(o.Env)
	managed, unreadable := readPolicy(PolicyFile(o.Env))
	managed.suggest(&l)
	l.profile(o.Env)
	for _, path := range pluginFiles(o.Agent, home(o.Env)) {
		l.pluginFile(path, true)
	}
	l.userFile(installedFile(o.Env))
	l.userFile(UserFile(o.Env))
	for _, path := range projectPluginFiles(o.Agent, o.Dir, home(o.Env)) {
		l.pluginFile(path, false)
	}
	l.projectFile(ProjectFile(o.Dir, home(o.Env)))
	l.environment(o.Env)
	for _, key := range slices.Sorted(maps.Keys(o.Flags)) {
		l.set(key, o.Flags[key], "flag")
	}
	if unreadable != nil {
		l.errs = append(l.errs, unreadable)
		l.shut(PolicyFile(o.Env))
	}
	managed.enforce(&l)
	l.withhold()
	l.scrub()
	l.silence()
	return l.cfg, errors.Join(l.errs...)
}

// Disabled reports whether the environment alone switches tracing off. It is the
// first thing that a hook asks, and it reads no file.
func Disabled(env func(string) string) bool {
	if text := clean(env("TRACESMITH")); text != "" {
		on, err := parseBool(text)
		return err == nil && !on
	}
	text := clean(env("TRACE_TO_LANGSMITH"))
	return text != "" && pluginSwitch(text) == "false"
}

// silence switches off what is to carry nothing.
func (l *loader) silence() {
	if l.cfg.Content == Nothing && l.cfg.Enabled {
		l.cfg.Enabled = false
		l.cfg.source("enabled", l.cfg.Source("content"))
	}
}

// RunProject is the project of runs that name none: what a route says of their folder,
// else the setting. Empty: the integration's name.
func (c Config) RunProject() string { return cmp.Or(c.routed, c.Project) }

// LangSmith reports whether runs go to LangSmith.
func (c Config) LangSmith() bool {
	return c.Key() != (Key{}) || c.Login || len(c.Replicas) > 0
}

// Source says where the value of a setting came from.
func (c Config) Source(key string) string {
	if s, ok := c.sources[key]; ok {
		return s
	}
	return SourceDefault
}

// Explain lists every setting with its source. The API key is masked.
func (c Config) Explain() []Setting {
	var out []Setting
	for _, f := range fields("") {
		if f.quiet {
			continue
		}
		out = append(out, Setting{Key: f.key, Value: f.text(&c), Source: c.Source(f.key)})
	}
	return out
}

// MaskKey hides a key but for its last four characters, and hides a short one whole.
func MaskKey(key string) string {
	switch {
	case key == "":
		return ""
	case len(key) < 12:
		return "****"
	}
	return "****" + key[len(key)-4:]
}

func defaults() Config {
	return Config{
		Enabled:  true,
		Endpoint: DefaultEndpoint,
		Live:     true,
		Upload:   Detached,
		Content:  Full,
		Inputs:   Turn,
		Store:    true,
		Redact:   true,
		sources:  map[string]string{},
	}
}

// loader applies one layer after the other, the weakest first.
type loader struct {
	cfg   Config
	errs  []error
	agent string
	dir   string
}

// set changes one setting, or notes why it did not.
func (l *loader) set(key, text, source string) {
	f, ok := fieldOf(key)
	if !ok {
		l.ignore(key, source, "unknown setting")
		return
	}
	if err := f.set(&l.cfg, text); err != nil {
		l.errs = append(l.errs, fmt.Errorf("config: %s: %s: %w", source, key, err))
		return
	}
	l.cfg.source(key, source)
	if slices.Contains(keySources(), key) {
		l.cfg.source("api_key", source)
	}
}

// source notes where a value came from. Tags and metadata come from several places.
func (c *Config) source(key, source string) {
	if before := c.sources[key]; before != "" && before != source && (key == "tags" || key == "metadata") {
		source = before + ", " + source
	}
	c.sources[key] = source
}

func (l *loader) ignore(key, source, why string) {
	l.cfg.Ignored = append(l.cfg.Ignored, fmt.Sprintf("%s: %s: %s", source, key, why))
}

// environment applies the variables, for each setting the first that is not blank.
func (l *loader) environment(env func(string) string) {
	for _, f := range fields(l.agent) {
		for _, v := range f.env {
			text := clean(env(v.name))
			if text == "" {
				continue
			}
			if v.read != nil {
				text = v.read(text)
			}
			l.set(f.key, text, v.name)
			break
		}
	}
	l.unsupported(env)
}

// clean trims blanks and one pair of quotes: values pasted into a .env file or a
// container's definition often keep theirs.
func clean(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}
