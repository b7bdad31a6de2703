package openaicodex

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// configFile holds what Codex and its user decide, beside the table of hooks.
const configFile = "config.toml"

// codexConfig is what is read of config.toml.
type codexConfig struct {
	Hooks struct {
		State map[string]struct {
			Hash    string `toml:"trusted_hash"`
			Enabled *bool  `toml:"enabled"`
		} `toml:"state"`
	} `toml:"hooks"`
	Plugins map[string]struct {
		Enabled *bool `toml:"enabled"`
	} `toml:"plugins"`
}

// hookTable is hooks.json, as far as the places of commands go.
type hookTable struct {
	Hooks map[string][]struct {
		Hooks []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	} `json:"hooks"`
}

// trusted reports whether Codex was told to trust our hooks of a table, and not told
// to leave one out. It keeps a hash of each entry it trusts, under the table's path,
// the event and the entry's place among those of the event. The hash itself cannot be
// checked: how it is made is Codex's own affair.
func trusted(path string, read func(path string) ([]byte, error)) (bool, error) {
	var table hookTable
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("openaicodex: trust: %w", err)
	case json.Unmarshal(text, &table) != nil:
		return false, fmt.Errorf("openaicodex: %s: it is not the JSON that Codex reads", filepath.Base(path)) // the error would quote it
	}
	text, err = read(filepath.Join(filepath.Dir(path), configFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("openaicodex: trust: %w", err)
	}
	var config codexConfig
	if err := toml.Unmarshal(text, &config); err != nil {
		return false, fmt.Errorf("openaicodex: %s: it is not TOML", configFile) // the error would quote it
	}
	for _, h := range hooks() {
		if h.Event != notified && !config.runs(path, h.Event, &table) {
			return false, nil
		}
	}
	return true, nil
}

// runs reports whether one of our entries for an event is trusted and on.
func (c *codexConfig) runs(path, event string, table *hookTable) bool {
	for group, each := range table.Hooks[event] {
		for at, hook := range each.Hooks {
			state := c.Hooks.State[fmt.Sprintf("%s:%s:%d:%d", path, snake(event), group, at)]
			if strings.Contains(hook.Command, "hook "+Name) && state.Hash != "" && (state.Enabled == nil || *state.Enabled) {
				return true
			}
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
