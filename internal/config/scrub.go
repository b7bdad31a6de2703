package config

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tracesmith/tracesmith/internal/redact"
)

// scrub adds the rule that takes the home folder out of paths: it names the user.
func (l *loader) scrub() {
	if !l.cfg.ScrubPaths {
		return
	}
	home := l.cfg.home
	if !filepath.IsAbs(home) || len(filepath.Clean(home)) < 4 {
		l.ignore("scrub_paths", l.cfg.Source("scrub_paths"), "no home folder is known: no content is sent")
		if Metadata.lowers(l.cfg.Content) {
			l.cfg.Content = Metadata
			l.cfg.source("content", l.cfg.Source("scrub_paths"))
		}
		return
	}
	l.cfg.Rules = append(l.cfg.Rules[:len(l.cfg.Rules):len(l.cfg.Rules)], scrubRules(home)...)
}

// scrubRules match a home folder as paths spell it, with either slash and with the
// doubled ones of JSON and source code, and as agents make names of folders of it:
// -home-dev. A longer name is another folder: /home/developer.
func scrubRules(home string) []redact.Rule {
	parts := strings.FieldsFunc(filepath.Clean(home), func(r rune) bool { return r == '/' || r == '\\' })
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	start := `/`
	if filepath.VolumeName(home) != "" {
		start = `(?i)`
	}
	path := regexp.MustCompile(start + strings.Join(parts, `(?:/|\\+)`) + `\b`)
	for i := range parts {
		parts[i] = strings.NewReplacer(`\.`, `[.-]`, `_`, `[_-]`, `:`, `[:-]`).Replace(parts[i])
	}
	slug := regexp.MustCompile(`-` + strings.Join(parts, `-`) + `\b`)
	return []redact.Rule{{Pattern: path, With: "~"}, {Pattern: slug, With: "-~"}}
}
