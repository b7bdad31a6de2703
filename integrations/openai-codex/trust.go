package openaicodex

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tracesmith/tracesmith/integrations"
)

// configFile holds what Codex and its user decide, beside the table of hooks.
const configFile = "config.toml"

// plugin is LangSmith's own tracer of Codex, as settings name it; behind it stands
// the marketplace that it came from.
const plugin = "tracing@langsmith"

// codexConfig is what is read of config.toml.
type codexConfig struct {
	Hooks struct {
		State map[string]struct {
			Hash string `toml:"trusted_hash"`
		} `toml:"state"`
	} `toml:"hooks"`
	Plugins map[string]struct {
		Enabled *bool `toml:"enabled"`
	} `toml:"plugins"`
}

// trusted reports whether Codex was told to trust the hooks of a table. It keeps a
// hash of each entry it trusts, under the table's path, the event and the entry's
// place. The hash itself cannot be checked: how it is made is Codex's own affair.
func trusted(path string, read func(path string) ([]byte, error)) (bool, error) {
	text, err := read(filepath.Join(filepath.Dir(path), configFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("openaicodex: trust: %w", err)
	}
	var config codexConfig
	if err := toml.Unmarshal(text, &config); err != nil {
		return false, fmt.Errorf("openaicodex: %s: it is not TOML", configFile) // the error would quote it
	}
	for _, h := range hooks() {
		if h.Event != notified && !config.trusts(path, h.Event) {
			return false, nil
		}
	}
	return true, nil
}

func (c *codexConfig) trusts(path, event string) bool {
	prefix := path + ":" + snake(event) + ":"
	for key, state := range c.Hooks.State {
		if strings.HasPrefix(key, prefix) && state.Hash != "" {
			return true
		}
	}
	return false
}

// snake spells an event as config.toml does: session_start.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// rivals are LangSmith's own plugin. Codex has no switch for it but removing it, or a
// line of config.toml, which is its owner's to change.
func rivals() []integrations.Rival {
	return []integrations.Rival{{
		Name: "LangSmith's plugin " + plugin + "-codex-plugins",
		Paths: func(dir string, project bool, env func(string) string) []string {
			return []string{filepath.Join(filepath.Dir(hooksPath(dir, project, env)), configFile)}
		},
		On:   pluginOn,
		Undo: "codex plugin remove " + plugin + "-codex-plugins",
	}}
}

func pluginOn(settings []byte) (on, known bool) {
	var config codexConfig
	if toml.Unmarshal(settings, &config) != nil {
		return false, false
	}
	for name, p := range config.Plugins {
		if strings.HasPrefix(name, plugin) {
			known = true
			on = on || p.Enabled == nil || *p.Enabled
		}
	}
	return on, known
}
