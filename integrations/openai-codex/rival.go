package openaicodex

import (
	"errors"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/tracesmith/tracesmith/integrations"
)

// plugin is LangSmith's own tracer of Codex, as settings name it; behind it stands
// the marketplace that it came from.
const plugin = "tracing@langsmith"

func rivals() []integrations.Rival {
	return []integrations.Rival{{
		Name: "LangSmith's plugin " + plugin + "-codex-plugins",
		Paths: func(dir string, project bool, env func(string) string) []string {
			return []string{filepath.Join(filepath.Dir(hooksPath(dir, project, env)), configFile)}
		},
		On:   pluginOn,
		Off:  pluginOff,
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

// tomlLines tell lines of Codex's settings apart.
type tomlLines struct {
	header  *regexp.Regexp // begins the plugin's table as Codex writes it
	table   *regexp.Regexp // begins any table
	enabled *regexp.Regexp
}

var tomlLine = sync.OnceValue(func() tomlLines {
	return tomlLines{
		header:  regexp.MustCompile(`^\s*\[\s*plugins\s*\.\s*["']` + regexp.QuoteMeta(plugin) + `[^"']*["']\s*\]\s*(#.*)?$`),
		table:   regexp.MustCompile(`^\s*\[`),
		enabled: regexp.MustCompile(`^(\s*enabled\s*=\s*)(?:true|false)\b`),
	}
})

// pluginOff says "enabled = false" in the plugin's table: Codex runs none of a plugin's
// hooks then. Every other byte stays. What is written in a way that Codex does not is
// its owner's to change.
func pluginOff(settings []byte) ([]byte, error) {
	if on, _ := pluginOn(settings); !on {
		return settings, nil
	}
	is, lines := tomlLine(), strings.SplitAfter(string(settings), "\n")
	for i := 0; i < len(lines); i++ {
		if !is.header.MatchString(trimEnd(lines[i])) {
			continue
		}
		at := i + 1
		for at < len(lines) && !is.table.MatchString(lines[at]) && !is.enabled.MatchString(lines[at]) {
			at++
		}
		if at < len(lines) && is.enabled.MatchString(lines[at]) {
			lines[at] = is.enabled.ReplaceAllString(lines[at], "${1}false")
			continue
		}
		end := lines[i][len(trimEnd(lines[i])):]
		if end == "" { // the table's name is the last line
			end, lines[i] = "\n", lines[i]+"\n"
		}
		lines[i] += "enabled = false" + end
	}
	off := []byte(strings.Join(lines, ""))
	if on, _ := pluginOn(off); on || !sameButPlugin(settings, off) {
		return nil, errors.New("openaicodex: " + configFile + ": the plugin stands there in a way that is not ours to edit: switch it off first: " + rivals()[0].Undo)
	}
	return off, nil
}

func trimEnd(line string) string { return strings.TrimRight(line, "\r\n") }

// sameButPlugin reports whether two settings differ in nothing but whether the plugin
// is on.
func sameButPlugin(a, b []byte) bool {
	var trees [2]map[string]any
	for i, text := range [...][]byte{a, b} {
		if toml.Unmarshal(text, &trees[i]) != nil {
			return false
		}
		plugins, _ := trees[i]["plugins"].(map[string]any)
		for name, each := range plugins {
			if table, ok := each.(map[string]any); ok && strings.HasPrefix(name, plugin) {
				delete(table, "enabled")
			}
		}
	}
	return reflect.DeepEqual(trees[0], trees[1])
}
