package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tracesmith/tracesmith/internal/regular"
)

const (
	projectName = ".tracesmith.toml"
	maxFile     = 256 << 10
	maxDepth    = 64
)

// UserFile is where the user's file would be; empty if there is no home.
func UserFile(env func(string) string) string {
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tracesmith", "config.toml")
	}
	if runtime.GOOS == "windows" {
		if dir := env("AppData"); dir != "" {
			return filepath.Join(dir, "tracesmith", "config.toml")
		}
		return ""
	}
	if dir := home(env); dir != "" {
		return filepath.Join(dir, ".config", "tracesmith", "config.toml")
	}
	return ""
}

// ProjectFile finds the project's file from dir upwards; empty if there is none.
// It stops at a repository's root and never looks into or above the home folder:
// what lies there is not a project.
func ProjectFile(dir, home string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	for range maxDepth {
		if home != "" && dir == filepath.Clean(home) {
			return ""
		}
		if path := filepath.Join(dir, projectName); exists(path) {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir || exists(filepath.Join(dir, ".git")) {
			return ""
		}
		dir = parent
	}
	return ""
}

func home(env func(string) string) string {
	if runtime.GOOS == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// userFile applies all of the user's file.
func (l *loader) userFile(path string) {
	var routes []route
	for key, value := range l.read(path) {
		switch key {
		case "routes":
			var err error
			if routes, err = routesFrom(value); err != nil {
				l.errs = append(l.errs, fmt.Errorf("config: %s: %w", path, err))
			}
		case "api_key_command":
			l.keyCommand(value, path)
		default:
			l.value(key, value, path)
		}
	}
	l.route(routes, path+" [[routes]]", false) // over what the file says of all folders
}

// projectFile applies what a file that came with a clone may say.
func (l *loader) projectFile(path string) {
	for key, value := range l.read(path) {
		switch key {
		case "tags", "metadata":
			l.value(key, value, path)
		case "enabled", "content":
			level := Content(strings.ToLower(asText(value)))
			if value == false || key == "content" && slices.Contains(contents(), level) && level.lowers(l.cfg.Content) {
				l.value(key, value, path)
				continue
			}
			if key == "content" && level == l.cfg.Content {
				continue
			}
			l.ignore(key, path, "a project may only lower what is sent")
		default:
			l.ignore(key, path, "not allowed in a project's file")
		}
	}
}

// read yields a file's entries in a stable order. A missing file has none.
func (l *loader) read(path string) func(func(string, any) bool) {
	return func(yield func(string, any) bool) {
		if path == "" {
			return
		}
		doc, err := decodeFile(path)
		if err != nil {
			l.errs = append(l.errs, err)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(doc)) {
			if !yield(key, doc[key]) {
				return
			}
		}
	}
}

func decodeFile(path string) (map[string]any, error) {
	text, err := readFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(path, text)
}

// readFile reads a small file.
func readFile(path string, limit int) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if len(text) > limit {
		return nil, fmt.Errorf("config: %s: larger than %d bytes", path, limit)
	}
	return text, nil
}

// decode parses TOML. Errors give the position but none of the text: a line that
// does not parse may hold a key.
func decode(path string, text []byte) (map[string]any, error) {
	var doc map[string]any
	// Editors on Windows put a byte order mark in front, which TOML does not know.
	err := toml.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &doc)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		row, col := at.Position()
		return nil, fmt.Errorf("config: %s:%d:%d: not valid TOML", path, row, col)
	}
	if err != nil {
		return nil, fmt.Errorf("config: %s: not valid TOML", path)
	}
	return doc, nil
}

// value applies one entry of a file.
func (l *loader) value(key string, value any, path string) {
	var err error
	switch v := value.(type) {
	case string:
		if v = clean(v); v != "" {
			l.set(key, v, path)
		}
		return
	case bool, int64, float64, json.Number:
		l.set(key, fmt.Sprint(v), path)
		return
	case []any:
		err = l.list(key, v, path)
	case map[string]any:
		err = l.table(key, v, path)
	default:
		err = errors.New("unexpected kind of value")
	}
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("config: %s: %s: %w", path, key, err))
	}
}

func (l *loader) list(key string, list []any, path string) error {
	if key == "routes" || key == "api_key_command" {
		return errors.New("not allowed here")
	}
	if key == "replicas" {
		found, err := l.cfg.replicasFrom(list, true) // no project's file comes here
		if err == nil {
			l.cfg.Replicas = found
			l.cfg.source(key, path)
		}
		return err
	}
	if key == "redact_extra_rules" {
		l.cfg.source(key, path)
		l.cfg.setRules(rulesFrom(list))
		return nil
	}
	if key == "redact_allow" {
		l.cfg.source(key, path)
		return l.cfg.setAllow(list)
	}
	if key != "tags" {
		return errors.New("unexpected list")
	}
	var tags []string
	for _, v := range list {
		tag, ok := v.(string)
		if !ok {
			return errors.New("want a list of strings")
		}
		tags = append(tags, tag)
	}
	l.cfg.source(key, path)
	return l.cfg.addTags(tags)
}

func (l *loader) table(key string, table map[string]any, path string) error {
	if key != "metadata" {
		if _, known := fieldOf(key); !known {
			l.ignore(key, path, "unknown setting")
			return nil
		}
		return errors.New("unexpected table")
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		text, ok := plainText(table[name])
		if !ok {
			return errors.New("want plain values")
		}
		if err := l.cfg.addPair(name, text); err != nil {
			return err
		}
	}
	l.cfg.source(key, path)
	return nil
}
