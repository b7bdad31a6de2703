package config

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
)

// maxProfile bounds what is read of the file of LangSmith's command line, as package
// exporter/profile does.
const maxProfile = 1 << 20

// profile applies what "langsmith login" has stored. It is read and never written
// here: package exporter/profile refreshes its tokens. A file that is missing or
// cannot be read says nothing.
func (l *loader) profile(env func(string) string) {
	path := profilePath(env)
	if path == "" {
		return
	}
	text, err := readFile(path, maxProfile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.ignore("profile", path, "cannot be read")
		}
		return
	}
	doc, err := decodeJSON(text)
	if err != nil {
		l.ignore("profile", path, err.Error())
		return
	}
	name, p := pickProfile(doc, clean(env("LANGSMITH_PROFILE")))
	if p == nil {
		return
	}
	source := path + " (profile " + name + ")"
	for key, member := range map[string]string{"endpoint": "api_url", "workspace_id": "workspace_id"} {
		if text := asText(p[member]); text != "" {
			l.set(key, text, source)
		}
	}
	tokens, _ := p["oauth"].(map[string]any)
	if asText(tokens["access_token"]) != "" {
		l.cfg.Login = true
		l.cfg.source("api_key", source)
	} else if key := asText(p["api_key"]); key != "" {
		l.set("api_key", key, source)
	}
}

func profilePath(env func(string) string) string {
	if path := env("LANGSMITH_CONFIG_FILE"); path != "" {
		return path
	}
	if dir := cmp.Or(env("HOME"), env("USERPROFILE")); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".langsmith", "config.json")
	}
	return ""
}

// pickProfile finds a profile by name, else the current one, else that named default.
func pickProfile(doc map[string]any, name string) (string, map[string]any) {
	all, _ := doc["profiles"].(map[string]any)
	names := []string{name}
	if name == "" {
		names = []string{asText(doc["current_profile"]), "default"}
	}
	for _, each := range names {
		if p, ok := all[each].(map[string]any); ok {
			return each, p
		}
	}
	return "", nil
}
