package copilot

import (
	"cmp"
	"encoding/json"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
)

// past finds the sessions of the past, those of Copilot's own folder unless another place
// is named: a log, a folder that holds some, or one that was worked in.
func past(src integrations.Source, where integrations.Place) iter.Seq2[integrations.Session, error] {
	return func(yield func(integrations.Session, error) bool) {
		env := where.Env
		if env == nil {
			env = func(string) string { return "" }
		}
		own := filepath.Join(escape(cmp.Or(env("COPILOT_HOME"), filepath.Join(where.Home, ".copilot"))), stateDir, "*", logName)
		seen := map[string]bool{}
		var found []origin
		for _, p := range places(where.Path, own) {
			paths, err := src.Glob(p.pattern)
			if err != nil && !yield(integrations.Session{}, err) {
				return
			}
			for _, path := range paths {
				if o, ok := originOf(src, path); ok && !seen[path] && (p.worked == "" || within(p.worked, o.cwd)) {
					seen[path] = true
					found = append(found, o)
				}
			}
		}
		slices.SortStableFunc(found, func(a, b origin) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path))
		})
		for _, o := range found {
			if !yield(o.session(src), nil) {
				return
			}
		}
	}
}

// pattern is where logs may be; worked is the folder that they have to be of, if any.
type pattern struct{ pattern, worked string }

func places(named, own string) []pattern {
	if named == "" {
		return []pattern{{own, ""}}
	}
	named = filepath.Clean(named)
	dir := escape(named)
	if filepath.Ext(named) == ".jsonl" {
		return []pattern{{dir, ""}}
	}
	var list []pattern
	for _, inner := range []string{"", "*", filepath.Join(stateDir, "*"), filepath.Join(".copilot", stateDir, "*")} {
		list = append(list, pattern{filepath.Join(dir, inner, logName), ""})
	}
	return append(list, pattern{own, named})
}

// within reports whether a path is the folder or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// escape makes a pattern that matches a path alone. Windows has no escapes.
func escape(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// origin is what the first line of a log says.
type origin struct {
	id, path, cwd string
	at            time.Time
}

func originOf(src integrations.Source, path string) (origin, bool) {
	id := sessionOf(path)
	for raw, err := range src.Lines(path, 0) {
		if err != nil || id == "" {
			break
		}
		rec, ok := parseRecord(raw.Data)
		o := origin{id: id, path: path, at: rec.at}
		if first, opens := rec.data.(*opening); opens && first.Context != nil {
			o.cwd = first.Context.CWD
		}
		return o, ok
	}
	return origin{}, false
}

func (o origin) session(src integrations.Source) integrations.Session {
	return integrations.Session{
		ID: o.id, Files: []string{o.path}, Procs: procs(src, filepath.Dir(o.path)), Noted: true,
		Tell: o.retell,
	}
}

// procs lists the processes that have the session open: each keeps a file beside the log
// while it lives, and leaves it when it is killed.
func procs(src integrations.Source, dir string) []integrations.Proc {
	paths, err := src.Glob(filepath.Join(escape(dir), "inuse.*.lock"))
	if err != nil {
		return nil
	}
	var list []integrations.Proc
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "inuse."), ".lock")
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			list = append(list, integrations.Proc{PID: pid})
		}
	}
	return list
}

// retell tells a session as its first hook would have: it began. The reducer finds
// everything else in the log.
func (o origin) retell(src integrations.Source) (integrations.Told, error) {
	raw, err := json.Marshal(data{Session: o.id, Log: o.path, Source: "new", Stamp: 1})
	if err != nil {
		return integrations.Told{}, err
	}
	told := integrations.Told{CWD: o.cwd, Events: []integrations.Event{{Kind: sessionStart, Data: raw}}}
	told.Traces, err = traces(src, told.Events[0])
	return told, err
}

// traces lists the roots that the reducer will post, without building what is below them.
func traces(src integrations.Source, first integrations.Event) ([]uuid.UUID, error) {
	r := newReducer(integrations.Options{})
	if _, err := r.Apply(src, first); err != nil {
		return nil, err
	}
	var list []uuid.UUID
	last := int64(-1)
	for {
		ended, err := r.read(src)
		if err != nil {
			return nil, err
		}
		if r.Turn != nil && r.Turn.Line != last && r.reader.root != nil {
			last = r.Turn.Line
			list = append(list, r.root(r.Turn, r.reader.root).ID)
		}
		if !ended {
			return list, nil
		}
		r.Turn, r.reader.root = nil, nil
		clear(r.Agents)
		clear(r.reader.agents)
	}
}
