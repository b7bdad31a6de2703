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
		for path, err := range transcripts(src, place, config) {
			if err != nil {
				yield(integrations.Session{}, err)
				return
			}
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

// transcripts yields the files of a place, one folder after the other: a pattern for
// all of them may match more than a source lists.
func transcripts(src integrations.Source, place integrations.Place, config string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if path := filepath.Clean(place.Path); filepath.Ext(path) == ".jsonl" {
			each(src, escape(path), yield)
			return
		}
		for _, pattern := range folders(place, config) {
			more := each(src, pattern, func(folder string, err error) bool {
				if err != nil {
					return yield("", err)
				}
				return each(src, filepath.Join(escape(folder), transcriptName), yield)
			})
			if !more {
				return
			}
		}
	}
}

// each yields what matches a pattern, and reports whether more is wanted.
func each(src integrations.Source, pattern string, yield func(string, error) bool) bool {
	paths, err := src.Glob(pattern)
	if err != nil {
		return yield("", err)
	}
	for _, path := range paths {
		if !yield(path, nil) {
			return false
		}
	}
	return true
}

// folders lists the patterns of the folders that may hold a place's transcripts. The
// place may be the folder of one project's transcripts, of all projects, of Claude
// Code's settings, a home, or one that was worked in.
func folders(place integrations.Place, config string) []string {
	projects := escape(filepath.Join(config, "projects"))
	if place.Path == "" {
		return []string{filepath.Join(projects, "*")}
	}
	named := filepath.Clean(place.Path)
	dir := escape(named)
	return []string{
		dir,
		filepath.Join(dir, "*"),
		filepath.Join(dir, "projects", "*"),
		filepath.Join(dir, ".claude", "projects", "*"),
		filepath.Join(projects, folderOf(named)),
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
