package config

import (
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// remoteOf reads the remote of a repository by hand, since a hook has no time for more:
// that of origin, else the only one. Includes and rewritten addresses are not followed.
// Where there is none both results are empty.
func remoteOf(gitDir string) (url, name string) {
	if gitDir == "" {
		return "", ""
	}
	text, err := readFile(filepath.Join(gitDir, "config"), maxFile)
	if err != nil {
		return "", ""
	}
	remotes := map[string]string{}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = ""
			if rest, ok := strings.CutPrefix(line, `[remote "`); ok {
				section, _, _ = strings.Cut(rest, `"`)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && section != "" && strings.EqualFold(strings.TrimSpace(key), "url") && remotes[section] == "" {
			remotes[section] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	found := remotes["origin"]
	if found == "" && len(remotes) == 1 {
		for _, only := range remotes {
			found = only
		}
	}
	url, _, name = runtypes.Repo{URL: found}.Web()
	return url, name
}
