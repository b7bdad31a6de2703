package plugins

import (
	"path"

	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/integrations/copilot"
	"github.com/tracesmith/tracesmith/integrations/cursor"
	openaicodex "github.com/tracesmith/tracesmith/integrations/openai-codex"
)

// object is a JSON object. Its keys are written in the order of the alphabet.
type object = map[string]any

// manifest is what every agent wants to know of a plugin.
func manifest() object {
	return object{
		"name": name, "description": description, "version": number(),
		"homepage": homepage, "repository": homepage, "license": licence,
		"author":   object{"name": "Tracesmith", "url": homepage},
		"keywords": []string{"tracing", "observability", "langsmith"},
	}
}

// marketplace lists the plugin of one agent, which is in the same repository.
func marketplace(agent string) object {
	return object{
		"name":     name,
		"owner":    object{"name": "Tracesmith", "url": homepage},
		"metadata": object{"description": description},
		"plugins": []object{{
			"name": name, "description": description, "source": "./" + folder(agent),
			"homepage": homepage, "license": licence,
		}},
	}
}

// claudeCode makes a plugin whose hooks run in sh, or Git Bash, on every system. The
// timeout of SessionEnd does nothing there: Claude Code has its hooks of plugins end
// within 1.5 s.
func claudeCode(f files) error {
	table, err := hooks(claudecode.Name, nil)
	if err != nil {
		return err
	}
	about := manifest()
	dir := folder(claudecode.Name)
	return firstError(
		f.put(path.Join(dir, ".claude-plugin", "plugin.json"), about),
		f.put(path.Join(dir, "hooks", "hooks.json"), table),
		f.put(".claude-plugin/marketplace.json", marketplace(claudecode.Name)),
	)
}

// codex makes a plugin with a second spelling of each command, for Windows. Its users
// are asked to trust it once, as with hooks that install registers.
func codex(f files) error {
	table, err := hooks(openaicodex.Name, func(entry map[string]any) {
		entry["commandWindows"] = inCmd(openaicodex.Name)
	})
	if err != nil {
		return err
	}
	about := manifest()
	about["hooks"] = "./hooks/hooks.json"
	about["interface"] = object{
		"displayName": "Tracesmith", "shortDescription": description, "developerName": "Tracesmith", "category": "Productivity",
	}
	dir := folder(openaicodex.Name)
	return firstError(
		f.put(path.Join(dir, ".codex-plugin", "plugin.json"), about),
		f.put(path.Join(dir, "hooks", "hooks.json"), table),
		f.put(".agents/plugins/marketplace.json", object{
			"name":      name,
			"interface": object{"displayName": "Tracesmith"},
			"plugins": []object{{
				"name":     name,
				"source":   object{"source": "local", "path": "./" + dir},
				"policy":   object{"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
				"category": "Productivity",
			}},
		}),
	)
}

// copilotCLI makes a plugin with a spelling of each command for either shell that Copilot
// CLI starts.
func copilotCLI(f files) error {
	table, err := hooks(copilot.Name, func(entry map[string]any) {
		entry["bash"], entry["powershell"] = entry["command"], inPowerShell(copilot.Name)
		delete(entry, "command")
	})
	if err != nil {
		return err
	}
	about := manifest()
	about["hooks"] = "hooks.json"
	dir := folder(copilot.Name)
	return firstError(
		f.put(path.Join(dir, "plugin.json"), about),
		f.put(path.Join(dir, "hooks.json"), table),
		f.put(".github/plugin/marketplace.json", marketplace(copilot.Name)),
	)
}

// cursorIDE makes a plugin for Linux and macOS: a hook of Cursor has one command, and
// what Cursor runs it with on Windows differs.
func cursorIDE(f files) error {
	table, err := hooks(cursor.Name, nil)
	if err != nil {
		return err
	}
	about := manifest()
	about["hooks"] = "hooks/hooks.json"
	dir := folder(cursor.Name)
	return firstError(
		f.put(path.Join(dir, ".cursor-plugin", "plugin.json"), about),
		f.put(path.Join(dir, "hooks", "hooks.json"), table),
		f.put(".cursor-plugin/marketplace.json", marketplace(cursor.Name)),
	)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
