package opencode

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// rivalPackage is LangSmith's own plugin, as users name it in their settings.
const rivalPackage = "@langchain/langsmith-opencode"

// rivals are the other tracers of OpenCode. It reads the first of two spellings; its
// settings may hold comments, so its user has to take the plugin out.
func rivals() []integrations.Rival {
	return []integrations.Rival{{
		Name: "LangSmith's plugin for OpenCode",
		Paths: func(dir string, project bool, env func(string) string) []string {
			if project {
				return []string{filepath.Join(dir, "opencode.json"), filepath.Join(dir, ".opencode", "opencode.json")}
			}
			return []string{filepath.Join(filepath.Dir(filepath.Dir(shimPath(dir, false, env))), "opencode.json")}
		},
		On: func(settings []byte) (on, known bool) {
			var in struct {
				Plugin []json.RawMessage `json:"plugin"`
			}
			if json.Unmarshal(settings, &in) != nil {
				return strings.Contains(string(settings), rivalPackage), true
			}
			for _, each := range in.Plugin {
				if strings.Contains(string(each), rivalPackage) {
					return true, true
				}
			}
			return false, len(in.Plugin) > 0
		},
		Undo: "take " + rivalPackage + ` out of "plugin" in opencode.json`,
	}}
}
