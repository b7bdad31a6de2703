package setup

import (
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// Command is what an agent runs for an event. It holds no version, so that an agent
// that trusts a command by its bytes goes on trusting it, and it outlives the program:
// once that is gone or damaged the hook still exits with 0. So no exec: a shell that has
// become the program exits as that does.
func Command(shell integrations.Shell, program, agent string) (string, error) {
	switch shell {
	case integrations.Cmd:
		// It means the same to cmd and to PowerShell, of which agents take now the one and
		// now the other. So no operator, and no exit after it: a damaged program is told.
		quoted, err := quoteCmd(program)
		return "cmd /d /c if exist " + quoted + " " + quoted + " hook " + agent, err
	case integrations.PowerShell:
		quoted := quotePowerShell(program)
		return "if (Test-Path -LiteralPath " + quoted + ") { & " + quoted + " hook " + agent + " }; exit 0", nil
	}
	if shell == integrations.Argv {
		text, err := json.Marshal([]string{program, "hook", agent, "--stream"})
		return string(text), err
	}
	quoted := quoteSh(program)
	return "[ -x " + quoted + " ] && " + quoted + " hook " + agent + "; exit 0", nil
}

// quoteSh makes one word of sh out of a text.
func quoteSh(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteCmd quotes a path for cmd, which replaces %NAME% even within quotes, and for
// PowerShell, which does so with $NAME and takes typographic quotes for plain ones.
func quoteCmd(s string) (string, error) {
	if strings.ContainsAny(s, "\"%$`\r\n\u201c\u201d\u201e") {
		return "", errors.New("the program's path holds a character that cmd or PowerShell cannot quote: move it to another folder")
	}
	return `"` + s + `"`, nil
}

// quotePowerShell quotes a path for PowerShell, where a typographic quote ends a
// string as well.
func quotePowerShell(s string) string {
	return "'" + regexp.MustCompile("['\u2018\u2019\u201a\u201b]").ReplaceAllString(s, "$0$0") + "'"
}

// Ours returns what recognises the commands that Command has ever made for an agent,
// with any program's path, and the plain spellings that people write by hand. A longer
// command, such as a wrapper that calls us, is its owner's.
func Ours(agent string) func(command string) bool {
	programOf := spellings(agent)
	return func(command string) bool { return programOf(command) != "" }
}

// spellings returns what finds the program in a command of ours; empty: it is not.
func spellings(agent string) func(command string) string {
	const word = `((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\;&|])+)`
	const psWord = "('(?:[^'\u2018\u2019\u201a\u201b]|['\u2018\u2019\u201a\u201b]{2})*')"
	hook := `\s+hook\s+` + regexp.QuoteMeta(agent)
	guarded := []*regexp.Regexp{
		regexp.MustCompile(`^\[ -x ` + word + ` \] && (?:exec )?` + word + hook + `; exit 0$`),
		regexp.MustCompile(`^cmd /d /c if exist ("[^"]*") ("[^"]*")` + hook + `$`),
		regexp.MustCompile(`^if exist ("[^"]*") ("[^"]*")` + hook + ` & exit /b 0$`),
		regexp.MustCompile(`^if \(Test-Path -LiteralPath ` + psWord + `\) \{ & ` + psWord + hook + ` \}; exit 0$`),
	}
	plain := regexp.MustCompile(`^(?:exec\s+|&\s*)?(?:` + word + `|([^\s'"]+))` + hook + `(?:\s*(?:;\s*exit 0|\|\|\s*(?:true|:)|&\s*exit /b 0))?$`)
	return func(command string) string {
		command = strings.TrimSpace(command)
		var argv []string
		if json.Unmarshal([]byte(command), &argv) == nil {
			if len(argv) == 4 && argv[1] == "hook" && argv[2] == agent && argv[3] == "--stream" {
				return argv[0]
			}
			return ""
		}
		for _, each := range guarded {
			if m := each.FindStringSubmatch(command); m != nil && m[1] == m[2] {
				return unquote(m[1])
			}
		}
		m := plain.FindStringSubmatch(command)
		if m == nil {
			return ""
		}
		program := unquote(m[1] + m[2])
		switch path.Base(strings.ReplaceAll(program, `\`, "/")) {
		case "tracesmith", "tracesmith.exe":
			return program
		}
		return ""
	}
}

// unquote takes the quotes of any shell off a word of the kind that the quote
// functions make.
func unquote(word string) string {
	switch {
	case len(word) >= 2 && word[0] == '"' && strings.HasSuffix(word, `"`):
		return word[1 : len(word)-1]
	case len(word) >= 2 && word[0] == '\'' && strings.HasSuffix(word, "'"):
		word = strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
		return regexp.MustCompile("(['\u2018\u2019\u201a\u201b])['\u2018\u2019\u201a\u201b]").ReplaceAllString(word, "$1")
	}
	return word
}
