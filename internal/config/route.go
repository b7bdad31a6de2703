package config

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tracesmith/tracesmith/internal/githead"
)

// maxRoutes bounds the rules of one file.
const maxRoutes = 256

// route is a rule for the folders it fits: where their turns go, and how much of them.
type route struct {
	name              string
	remote, org, path []string // patterns; any of a list fits, and every list that is there
	values            map[string]any
}

// routeSettings are what a route may say.
func routeSettings() []string { return []string{"content", "enabled", "project", "workspace_id"} }

// routesFrom reads a list of tables.
func routesFrom(value any) ([]route, error) {
	list, ok := value.([]any)
	if !ok || len(list) > maxRoutes {
		return nil, fmt.Errorf("want a list of at most %d tables", maxRoutes)
	}
	var found []route
	for n, each := range list {
		table, ok := each.(map[string]any)
		if !ok {
			return nil, errors.New("want a list of tables")
		}
		r := route{name: fmt.Sprintf("route %d", n+1), values: map[string]any{}}
		for _, key := range slices.Sorted(maps.Keys(table)) {
			if err := r.member(key, table[key]); err != nil {
				return nil, fmt.Errorf("route %d: %s: %w", n+1, key, err)
			}
		}
		found = append(found, r)
	}
	return found, nil
}

func (r *route) member(key string, value any) (err error) {
	switch key {
	case "name":
		r.name = fmt.Sprintf("route %q", asText(value))
	case "remote":
		r.remote, err = patterns(value)
	case "org":
		r.org, err = patterns(value)
	case "path":
		r.path, err = patterns(value)
	default:
		r.values[key], err = decision(key, value)
	}
	return err
}

// decision is what a route says of a setting, checked when it is read: a rule that could
// not be followed must be known before a folder fits it.
func decision(key string, value any) (any, error) {
	if !slices.Contains(routeSettings(), key) {
		return nil, errors.New("unknown member")
	}
	if key == "enabled" {
		if on, ok := value.(bool); ok {
			return on, nil
		}
		return nil, errors.New("want true or false")
	}
	text, ok := value.(string)
	if text = clean(text); !ok || text == "" || setText(new(string), text) != nil {
		return nil, errors.New("want a text")
	}
	if key == "content" {
		if text = strings.ToLower(text); !slices.Contains(contents(), Content(text)) {
			return nil, fmt.Errorf("want one of %q", contents())
		}
	}
	return text, nil
}

func patterns(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var found []string
	for _, each := range list {
		text := asText(each)
		if strings.Trim(text, "/") != "" {
			text = strings.TrimRight(text, "/")
		}
		if _, err := path.Match(text, ""); err != nil || text == "" {
			return nil, errors.New("want patterns such as github.com/acme/*")
		}
		found = append(found, text)
	}
	if len(found) == 0 {
		return nil, errors.New("want a pattern")
	}
	return found, nil
}

// spot is a folder as routes see it. Its repository is looked up when a route asks.
type spot struct {
	dirs   []string // its path, and the one it has without symbolic links
	home   string
	remote func() (repo, org string) // host/owner/name and owner, in small letters
}

// fits reports whether the route is for a folder.
func (r route) fits(at spot) bool {
	var repo, org string
	if len(r.remote)+len(r.org) > 0 {
		repo, org = at.remote()
	}
	if len(r.remote) > 0 && !slices.ContainsFunc(r.remote, func(p string) bool { return below(strings.ToLower(p), repo) }) {
		return false
	}
	if len(r.org) > 0 && !slices.ContainsFunc(r.org, func(p string) bool { return below(strings.ToLower(p), org) }) {
		return false
	}
	return len(r.path) == 0 || slices.ContainsFunc(r.path, func(p string) bool {
		if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
			p = filepath.ToSlash(at.home) + rest
		}
		return slices.ContainsFunc(at.dirs, func(dir string) bool { return below(filepath.ToSlash(p), filepath.ToSlash(dir)) })
	})
}

// below reports whether a pattern matches a path or one that it lies below.
func below(pattern, name string) bool {
	for name != "" && name != "." {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return true
		}
		parent := path.Dir(name)
		if parent == name {
			break
		}
		name = parent
	}
	return false
}

// Unknown is for the folder of a turn of which none is known: only rules that hold for
// every folder hold for it.
const Unknown = "?"

// spot describes the folder that settings are read for; ok is false where they are read
// for no turn.
func (l *loader) spot() (at spot, ok bool) {
	if !filepath.IsAbs(l.dir) {
		return spot{remote: func() (string, string) { return "", "" }}, l.dir != ""
	}
	at = spot{dirs: []string{filepath.Clean(l.dir)}, home: l.cfg.home}
	if physical, err := filepath.EvalSymlinks(l.dir); err == nil && physical != at.dirs[0] {
		at.dirs = append(at.dirs, physical)
	}
	at.remote = sync.OnceValues(func() (string, string) { return remoteOf(githead.Read(l.dir).Common) })
	return at, true
}

// route applies the first route that fits the folder. The workspaces of all of them
// are noted: one drainer serves them all. lower keeps a route from raising what is
// sent above what the user chose.
func (l *loader) route(list []route, source string, lower bool) {
	for _, r := range list {
		if id := asText(r.values["workspace_id"]); id != "" && !slices.Contains(l.cfg.workspaces, id) {
			l.cfg.workspaces = append(l.cfg.workspaces, id)
		}
	}
	at, ok := l.spot()
	if !ok {
		return
	}
	for _, r := range list {
		if !r.fits(at) {
			continue
		}
		by := source + ": " + r.name
		for _, key := range slices.Sorted(maps.Keys(r.values)) {
			l.routed(key, r.values[key], by, lower)
		}
		return
	}
}

func (l *loader) routed(key string, value any, by string, lower bool) {
	switch {
	case key == "project":
		l.cfg.routed = asText(value)
		l.cfg.source(key, by)
	case lower && key == "content" && !Content(asText(value)).lowers(l.cfg.Content),
		lower && value == true: // a rule does not switch on what the user switched off
	default:
		l.value(key, value, by)
	}
}
