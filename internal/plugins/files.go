package plugins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/version"
)

const (
	name        = "tracesmith" // of every plugin, and of the marketplaces
	homepage    = "https://github.com/tracesmith/tracesmith"
	description = "Traces every turn to LangSmith. Needs the program tracesmith."
	licence     = "MIT"
)

// Files returns every file, by its slash-separated path from the repository's root.
func Files() (map[string][]byte, error) {
	f := files{}
	for _, plugin := range []func(files) error{claudeCode, codex, copilotCLI, cursorIDE, openCodePackage, piPackage} {
		if err := plugin(f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

type files map[string][]byte

// folder is where the plugin of an agent is.
func folder(agent string) string { return path.Join("integrations", agent, "plugin") }

// number is the version that a plugin bears: that of the release its tables are from.
func number() string { return strings.TrimSuffix(version.Version, "-dev") }

// put adds a file of JSON.
func (f files) put(name string, value any) error {
	var text bytes.Buffer
	w := json.NewEncoder(&text)
	w.SetEscapeHTML(false) // commands are read by people
	w.SetIndent("", "  ")
	if err := w.Encode(value); err != nil {
		return fmt.Errorf("plugins: %s: %w", name, err)
	}
	f[name] = text.Bytes()
	return nil
}

// table is what install would write into the empty settings of an agent, with a
// command of ours.
func table(agent, command string) ([]byte, error) {
	a, ok := agents.Find(agent)
	if !ok {
		return nil, fmt.Errorf("plugins: no agent %s", agent)
	}
	text, err := a.Setup.Add(nil, a.Hooks, command)
	if err != nil {
		return nil, fmt.Errorf("plugins: hooks of %s: %w", agent, err)
	}
	return text, nil
}

// hooks are the registered hooks of an agent, as JSON that was read. Each element that
// holds a command is handed to change, if there is one.
func hooks(agent string, change func(entry map[string]any)) (map[string]any, error) {
	text, err := table(agent, inSh(agent))
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("plugins: hooks of %s: %w", agent, err)
	}
	if change != nil {
		eachEntry(tree, change)
	}
	return tree, nil
}

func eachEntry(node any, visit func(map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		if _, ok := node["command"].(string); ok {
			visit(node)
			return
		}
		for _, child := range node {
			eachEntry(child, visit)
		}
	case []any:
		for _, child := range node {
			eachEntry(child, visit)
		}
	}
}
