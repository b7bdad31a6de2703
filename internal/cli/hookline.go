package cli

import (
	"path"
	"regexp"
	"strings"
)

// hookLine is the shell command that agents run for an event. It outlives the
// program: once that is gone the hook still exits with 0.
func hookLine(program, agent string) string {
	quoted := quote(program)
	return "[ -x " + quoted + " ] && exec " + quoted + " hook " + agent + "; exit 0"
}

// quote makes one word of sh out of a text.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ourHook recognises the commands that install registers, with any program's path,
// and the plain spellings that people write by hand. A longer command, such as a
// wrapper that calls us, is its owner's.
func ourHook(agent string) func(command string) bool {
	const word = `((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\;&|])+)`
	hook := `\s+hook\s+` + regexp.QuoteMeta(agent)
	guarded := regexp.MustCompile(`^\[ -x ` + word + ` \] && exec ` + word + hook + `; exit 0$`)
	plain := regexp.MustCompile(`^(?:exec\s+)?` + word + hook + `(?:\s*(?:;\s*exit 0|\|\|\s*(?:true|:)))?$`)
	return func(command string) bool {
		command = strings.TrimSpace(command)
		if m := guarded.FindStringSubmatch(command); m != nil {
			return m[1] == m[2]
		}
		m := plain.FindStringSubmatch(command)
		if m == nil {
			return false
		}
		program := path.Base(strings.ReplaceAll(strings.Trim(m[1], `'"`), `\`, "/"))
		return program == "tracesmith" || program == "tracesmith.exe"
	}
}
