package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// plugin is how LangSmith's own plugin for an agent is configured. Whoever comes from
// it need not change anything.
type plugin struct {
	agent  string
	prefix string // of its variables
	home   string // its file below the home folder
	dir    string // and below a project's
}

// plugins lists them.
func plugins() []plugin {
	return []plugin{
		{"claude-code", "CC_LANGSMITH_", ".claude/langsmith.json", ".claude/langsmith.json"},
		{"openai-codex", "LANGSMITH_CODEX_", ".codex/langsmith.json", ".codex/langsmith.json"},
		{"cursor", "LANGSMITH_CURSOR_", ".cursor/langsmith.json", ".cursor/langsmith.json"},
		{"pi", "LANGSMITH_PI_", ".pi/langsmith.json", ".pi/langsmith.json"},
		{"opencode", "LANGSMITH_OPENCODE_", ".config/opencode/langsmith.json", ".opencode/langsmith.json"},
	}
}

func pluginOf(agent string) (plugin, bool) {
	for _, p := range plugins() {
		if p.agent == agent {
			return p, true
		}
	}
	return plugin{}, false
}

// theirs lists the variables of a setting that only the plugins have.
func theirs(agent, suffix string, read func(string) string) []variable {
	var list []variable
	if p, ok := pluginOf(agent); ok {
		list = append(list, variable{p.prefix + suffix, read})
	}
	return append(list, variable{"LANGSMITH_" + suffix, read})
}

// pluginSwitch reads TRACE_TO_LANGSMITH: what the plugins do not take for true
// switches off.
func pluginSwitch(text string) string {
	on, err := parseBool(text)
	return fmt.Sprint(on && err == nil)
}

// pluginMuted reads the switch of what is called muting there: anything but false
// leaves content out.
func pluginMuted(text string) string {
	if muted, err := parseBool(text); err == nil && !muted {
		return string(Full)
	}
	return string(Metadata)
}

// pluginRedact reads the switch of redaction, which only a clear no switches off.
func pluginRedact(text string) string {
	on, err := parseBool(text)
	return fmt.Sprint(on || err != nil)
}

// pluginFiles lists the plugins' files of the user, the weakest first.
func pluginFiles(agent, home string) []string {
	if home == "" {
		return nil
	}
	list := []string{filepath.Join(home, ".langsmith-plugins.json")}
	if p, ok := pluginOf(agent); ok {
		list = append(list, filepath.Join(home, filepath.FromSlash(p.home)))
	}
	return list
}

// projectPluginFiles lists the plugins' files of a project, the weakest first.
func projectPluginFiles(agent, dir, home string) []string {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) == filepath.Clean(home) {
		return nil
	}
	list := []string{filepath.Join(dir, "langsmith-plugins.json")}
	if p, ok := pluginOf(agent); ok {
		list = append(list, filepath.Join(dir, filepath.FromSlash(p.dir)))
	}
	return list
}

// pluginFile applies a file of the plugins: all of the user's own, and of a project's
// what lowers. One that cannot be read switches off, as it does there.
func (l *loader) pluginFile(path string, whole bool) {
	text, err := readFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var doc map[string]any
	if err == nil {
		if doc, err = decodeJSON(text); err != nil {
			err = fmt.Errorf("config: %s: %w", path, err)
		}
	}
	if err != nil {
		l.errs = append(l.errs, err)
		l.set("enabled", "false", path)
		l.set("content", string(Metadata), path)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		l.pluginValue(key, doc[key], path, whole)
	}
}

// pluginValue applies one member of a plugins' file.
func (l *loader) pluginValue(key string, value any, path string, whole bool) {
	switch key {
	case "enabled":
		if on, ok := value.(bool); whole || !on || !ok {
			l.set("enabled", fmt.Sprint(on && ok), path)
			return
		}
	case "defaultMuted":
		muted, ok := value.(bool)
		if muted || !ok {
			l.set("content", string(Metadata), path)
		} else if whole {
			l.set("content", string(Full), path)
		}
		return
	case "metadata":
		l.value(key, value, path)
		return
	case "redact_extra_rules":
		if list, ok := value.([]any); ok && len(list) == 0 && !whole {
			return
		}
	case "parent_headers":
		l.ignore(key, path, "not supported")
		return
	}
	names := map[string]string{"api_url": "endpoint", "api_key": "api_key", "project": "project", "redact": "redact", "replicas": "replicas", "redact_extra_rules": "redact_extra_rules"}
	if name, known := names[key]; known && whole {
		l.value(name, value, path)
		return
	}
	why := "unknown setting"
	if !whole {
		why = "a project may only lower what is sent"
	}
	l.ignore(key, path, why)
}

// honouredParent is the one variable of the plugins that says where turns hang and is
// read here too, by whoever builds the turns: runtypes.EnvParentClaudeCode.
const honouredParent = "CC_LANGSMITH_PARENT_DOTTED_ORDER"

// unsupported notes variables of the plugins that have no effect here.
func (l *loader) unsupported(env func(string) string) {
	for _, v := range theirs(l.agent, "PARENT_DOTTED_ORDER", nil) {
		if v.name != honouredParent && clean(env(v.name)) != "" {
			l.ignore("parent_dotted_order", v.name, "not supported")
		}
	}
}

// decodeJSON reads an object. Its error shows nothing of the text, which may hold a
// key.
func decodeJSON(text []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil || doc == nil {
		return nil, errors.New("not a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a JSON object")
	}
	return doc, nil
}

// asText is a string of a decoded document; empty for anything else.
func asText(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}
