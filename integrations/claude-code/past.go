package claudecode

import (
	"encoding/json"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// transcriptName matches the file of a session: its id is a UUID.
const transcriptName = "????????-????-????-????-????????????.jsonl"

// past finds the transcripts of sessions, those of the user's settings folder
// unless another place is named.
func past(src integrations.Source, place integrations.Place) iter.Seq2[integrations.Session, error] {
	return func(yield func(integrations.Session, error) bool) {
		config := filepath.Dir(settingsPath(place.Home, false, place.Env))
		procs, kept := register(src, config)
		seen := map[string]bool{}
		for _, pattern := range transcripts(place, config) {
			paths, err := src.Glob(pattern)
			if err != nil && !yield(integrations.Session{}, err) {
				return
			}
			for _, path := range paths {
				if seen[path] {
					continue
				}
				seen[path] = true
				s := pastSession(src, path)
				s.Procs = procs[s.ID]
				s.Noted = kept && strings.HasPrefix(path, config)
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// transcripts lists the patterns of the files that a place holds. A folder may be
// that of one project's transcripts, of all projects, of Claude Code's settings, a
// home, or one that was worked in.
func transcripts(place integrations.Place, config string) []string {
	projects := escape(filepath.Join(config, "projects"))
	named := filepath.Clean(place.Path)
	dir := escape(named)
	switch {
	case place.Path == "":
		return []string{filepath.Join(projects, "*", transcriptName)}
	case filepath.Ext(named) == ".jsonl":
		return []string{dir}
	}
	return []string{
		filepath.Join(dir, transcriptName),
		filepath.Join(dir, "*", transcriptName),
		filepath.Join(dir, "projects", "*", transcriptName),
		filepath.Join(dir, ".claude", "projects", "*", transcriptName),
		filepath.Join(projects, folderOf(named), transcriptName),
	}
}

// folderOf is the name that Claude Code gives the folder of the sessions that began
// in a directory.
func folderOf(dir string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			return c
		}
		return '-'
	}, dir)
}

// escape makes a pattern that matches a path alone. Windows has no escapes.
func escape(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// register reads which processes work on which session. The file of one that was
// killed stays behind. kept is false where there is no such record at all: older
// versions keep none.
func register(src integrations.Source, config string) (procs map[string][]integrations.Proc, kept bool) {
	dir := escape(filepath.Join(config, "sessions"))
	if found, err := src.Glob(dir); err != nil || len(found) == 0 {
		return nil, false
	}
	paths, err := src.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, false
	}
	procs = map[string][]integrations.Proc{}
	for _, path := range paths {
		raw, err := src.File(path)
		if err != nil {
			continue // its process has just ended
		}
		var proc struct {
			PID     int    `json:"pid"`
			Start   string `json:"procStart"`
			Session string `json:"sessionId"`
		}
		if json.Unmarshal(raw, &proc) == nil && proc.PID > 0 {
			procs[proc.Session] = append(procs[proc.Session], integrations.Proc{PID: proc.PID, Start: proc.Start})
		}
	}
	return procs, true
}

// pastSession gathers the files of a transcript's session.
func pastSession(src integrations.Source, path string) integrations.Session {
	s := integrations.Session{
		ID:    strings.TrimSuffix(filepath.Base(path), ".jsonl"),
		Files: []string{path},
	}
	subagents := escape(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents"))
	for _, pattern := range []string{
		filepath.Join(subagents, "agent-*.jsonl"),
		filepath.Join(subagents, "workflows", "*", "agent-*.jsonl"),
	} {
		found, err := src.Glob(pattern)
		if err == nil {
			s.Files = append(s.Files, found...)
		}
	}
	files := slices.Clone(s.Files)
	s.Tell = func(src integrations.Source) (integrations.Told, error) {
		return retell(src, files[0], files[1:])
	}
	return s
}
