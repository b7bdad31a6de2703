package openaicodex

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// rolloutName matches the file of a thread, or of a part of it.
const rolloutName = "rollout-*.jsonl"

// archive is the folder of Codex's own that threads are moved to, with the subagents that
// worked for them, when the user archives them.
const archive = "archived_sessions"

// past finds the threads of the past, those of Codex's own folder unless another place
// is named. A root thread is a session; what subagents, reviews and guardians wrote
// belongs to it.
func past(src integrations.Source, place integrations.Place) iter.Seq2[integrations.Session, error] {
	return func(yield func(integrations.Session, error) bool) {
		env := place.Env
		if env == nil {
			env = func(string) string { return "" }
		}
		home := cmp.Or(env("CODEX_HOME"), filepath.Join(place.Home, ".codex"))
		named := ""
		if place.Path != "" {
			named = filepath.Clean(place.Path)
		}
		l := library{roots: map[string]*root{}, seen: map[string]bool{}}
		for _, pattern := range rollouts(named, home) {
			paths, err := src.Glob(pattern)
			if err != nil && !yield(integrations.Session{}, err) {
				return
			}
			for _, path := range paths {
				l.add(src, path, named, home)
			}
		}
		for _, each := range l.sorted() {
			if !yield(each.session(), nil) {
				return
			}
		}
	}
}

// rollouts lists the patterns of the files that a place holds. A folder may be that of
// a day's sessions, of all sessions, Codex's own, a home, or one that was worked in:
// then the threads themselves say so.
func rollouts(named, home string) []string {
	own := filepath.Join(escape(home), "sessions", "*", "*", "*", rolloutName)
	archived := filepath.Join(escape(home), archive, rolloutName)
	dir := escape(named)
	switch {
	case named == "":
		return []string{own, archived}
	case filepath.Ext(named) == ".jsonl":
		return []string{filepath.Join(escape(filepath.Dir(named)), rolloutName)} // its other parts and its subagents too
	}
	list := []string{
		own, archived,
		filepath.Join(dir, archive, rolloutName),
		filepath.Join(dir, ".codex", archive, rolloutName),
	}
	for _, depth := range []string{"", "*", "*/*", "*/*/*"} {
		list = append(list,
			filepath.Join(dir, depth, rolloutName),
			filepath.Join(dir, "sessions", depth, rolloutName),
			filepath.Join(dir, ".codex", "sessions", depth, rolloutName))
	}
	return list
}

// library sorts rollouts by the session they belong to.
type library struct {
	roots map[string]*root
	seen  map[string]bool
}

// root is a session with its files.
type root struct {
	thread string
	parts  []string // of the root thread, by time
	others []string
	wanted bool
}

// add takes a rollout. named is the file or the folder that was asked for.
func (l *library) add(src integrations.Source, path, named, home string) {
	if l.seen[path] {
		return
	}
	l.seen[path] = true
	thread := rolloutThread(path)
	meta := metaOf(src, path)
	if thread == "" || meta == nil {
		return
	}
	kind, _ := meta.agent()
	id := thread
	if kind != "" {
		if id = meta.Session; id == "" || id == thread {
			return // older versions do not say whose it is
		}
	}
	r := l.roots[id]
	if r == nil {
		r = &root{thread: id}
		l.roots[id] = r
	}
	if kind != "" {
		r.others = append(r.others, path)
		return
	}
	r.parts = append(r.parts, path)
	switch {
	case named == "", filepath.Ext(named) == ".jsonl" && rolloutThread(named) == thread:
		r.wanted = true
	case filepath.Ext(named) == ".jsonl":
	case within(named, path), within(named, meta.CWD):
		r.wanted = true
	}
}

// within reports whether a path is the folder or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// sorted lists the sessions that were asked for, oldest first.
func (l *library) sorted() []*root {
	var list []*root
	for _, r := range l.roots {
		if r.wanted && len(r.parts) > 0 {
			slices.SortFunc(r.parts, func(a, b string) int { return cmp.Compare(filepath.Base(a), filepath.Base(b)) })
			slices.Sort(r.others)
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *root) int {
		return cmp.Or(cmp.Compare(filepath.Base(a.parts[0]), filepath.Base(b.parts[0])), cmp.Compare(a.thread, b.thread))
	})
	return list
}

func (r *root) session() integrations.Session {
	parts := slices.Clone(r.parts)
	return integrations.Session{
		ID:    r.thread,
		Files: slices.Concat(parts, r.others),
		Tell: func(src integrations.Source) (integrations.Told, error) {
			return retell(src, r.thread, parts)
		},
	}
}

// metaOf reads the first line of a rollout; nil if it has none of the right kind.
func metaOf(src integrations.Source, path string) *sessionMeta {
	for raw, err := range src.Lines(path, 0) {
		if err != nil {
			return nil
		}
		rec, _ := parseRecord(raw.Data)
		return rec.meta
	}
	return nil
}

// retell tells a thread as hooks would have: it began, and each of its turns was
// prompted. The reducer finds everything else in the rollouts; naming each turn lets
// it go through them one at a time.
func retell(src integrations.Source, thread string, parts []string) (integrations.Told, error) {
	var told integrations.Told
	r := newReducer(integrations.Options{})
	r.Session = thread
	for i, path := range parts {
		source := "startup"
		if i > 0 {
			source = "resume"
		}
		told.Events = append(told.Events, pastEvent("SessionStart", data{Session: thread, Transcript: path, Source: source}))
		rd := newReader(path, 0, nil)
		rd.root = true
		// A line that begins a turn is the first to see it: from its time on ids are made.
		begun := map[string]bool{}
		for raw, err := range src.Lines(path, 0) {
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err != nil {
				return told, fmt.Errorf("openaicodex: rollout: %w", err)
			}
			if !structural(raw.Data) {
				continue
			}
			rec, ok := parseRecord(raw.Data)
			if !ok {
				continue
			}
			if rec.meta != nil && told.CWD == "" {
				told.CWD = rec.meta.CWD
			}
			rd.take(&rec, func(id string, _ int64) bool {
				if !begun[id] {
					begun[id] = true
					told.Traces = append(told.Traces, r.id(rec.at, id, "root", id))
					told.Events = append(told.Events, pastEvent("UserPromptSubmit", data{Session: thread, Transcript: path, Turn: id}))
				}
				return false
			})
		}
	}
	return told, nil
}

func pastEvent(kind string, d data) integrations.Event {
	raw, err := marshalData(d)
	if err != nil {
		raw = nil // strings always encode
	}
	return integrations.Event{Kind: kind, Data: raw}
}
