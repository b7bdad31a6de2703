package claudecode

import (
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/hookstable"
	"github.com/tracesmith/tracesmith/internal/jsonedit"
)

// tested is the newest Claude Code that this package was tried with.
const tested = "2.1.332"

// plugin begins the name of LangSmith's own plugin in settings; behind it stands the
// marketplace that it came from:
//
//	{"enabledPlugins": {"langsmith-tracing@langsmith-claude-code-plugins": true}}
const plugin = "langsmith-tracing@"

// marketplace is where most have the plugin from.
const marketplace = "langsmith-claude-code-plugins"

func rivals() []integrations.Rival {
	return []integrations.Rival{{
		Name:  "LangSmith's plugin langsmith-tracing",
		Paths: pluginPaths,
		On:    pluginOn,
		Off:   pluginOff,
		Undo:  "claude plugin disable " + plugin + marketplace,
	}}
}

// pluginPaths are the settings that switch plugins on and off. A project has a second
// file, which is its user's own.
func pluginPaths(dir string, project bool, env func(string) string) []string {
	paths := []string{settingsPath(dir, project, env)}
	if project {
		paths = append(paths, filepath.Join(dir, ".claude", "settings.local.json"))
	}
	return paths
}

func pluginOn(settings []byte) (on, known bool) {
	tree, err := jsonedit.Parse(settings)
	if err != nil {
		return false, false
	}
	plugins, _ := tree.Root.Get("enabledPlugins")
	for _, each := range pluginEntries(plugins) {
		known = true
		on = on || !tree.Is(each, "false")
	}
	return on, known
}

// pluginOff says false of the plugin, under every marketplace that is named, or under
// the usual one.
func pluginOff(settings []byte) ([]byte, error) {
	for {
		tree, err := hookstable.Parse(orEmpty(settings))
		if err != nil {
			return nil, err
		}
		plugins, _ := tree.Root.Get("enabledPlugins")
		entries := pluginEntries(plugins)
		switch {
		case plugins == nil:
			return tree.Insert(tree.Root, "enabledPlugins", map[string]bool{plugin + marketplace: false})
		case len(entries) == 0:
			return tree.Insert(plugins, plugin+marketplace, false)
		}
		var next *jsonedit.Node
		for _, each := range entries {
			if !tree.Is(each, "false") {
				next = each
			}
		}
		if next == nil {
			return settings, nil
		}
		if settings, err = tree.Replace(next, false); err != nil {
			return nil, err
		}
	}
}

func pluginEntries(plugins *jsonedit.Node) []*jsonedit.Node {
	if plugins == nil || plugins.Kind != jsonedit.Object {
		return nil
	}
	var found []*jsonedit.Node
	for _, each := range plugins.Children {
		if strings.HasPrefix(each.Key, plugin) {
			found = append(found, each.Value)
		}
	}
	return found
}

func orEmpty(settings []byte) []byte {
	if strings.TrimSpace(string(settings)) == "" {
		return []byte("{}\n")
	}
	return settings
}
