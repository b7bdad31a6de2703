package redact

import "bytes"

// option is one of a command that takes a password.
type option struct {
	flag  string
	shape shape
	tools []string // names of the commands, of which one stands before the flag
}

// shape is how an option takes its password.
type shape uint8

const (
	attached shape = 1 << iota // -pX
	apart                      // -p X
	afterID                    // -u user:X, in either way
	crumb                      // -b name=X
)

// options are the short options of common commands. A long one that is named after
// what it takes, as --password, needs no entry.
var options = [...]option{
	{flag: "-u", shape: attached | apart | afterID, tools: []string{"curl"}},
	{flag: "-U", shape: attached | apart | afterID, tools: []string{"curl"}},
	{flag: "--user", shape: apart | afterID, tools: []string{"curl"}},
	{flag: "--proxy-user", shape: apart | afterID, tools: []string{"curl"}},
	{flag: "-a", shape: apart | afterID, tools: []string{"http", "https", "xh"}},
	{flag: "-a", shape: apart, tools: []string{"redis-cli"}},
	{flag: "-p", shape: attached, tools: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mariadb", "mariadb-dump", "mariadb-admin", "7z", "7za"}},
	{flag: "-b", shape: apart | crumb, tools: []string{"curl"}},
	{flag: "-k", shape: apart, tools: []string{"openssl"}},
	{flag: "-p", shape: attached | apart, tools: []string{"sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "login"}},
	{flag: "-P", shape: attached | apart, tools: []string{"zip", "unzip", "sqlcmd", "bcp", "lftp"}},
	{flag: "-w", shape: attached | apart, tools: []string{"ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami"}},
}

// maxCommand bounds what of a command line is looked at before an option.
const maxCommand = 256

// flags are the keywords of the options: a blank or, in a list of arguments, a quote,
// and the flag.
func flags() []string {
	var list []string
	for i := range options {
		if i == 0 || options[i].flag != options[i-1].flag {
			list = append(list, " "+options[i].flag, `"`+options[i].flag, "'"+options[i].flag)
		}
	}
	return list
}

// optionValue finds the password that the option b[from:to] takes.
func optionValue(b []byte, from, to int) (int, int) {
	flag := b[from+1 : to]
	for i := range options {
		o := &options[i]
		if o.flag != string(flag) {
			continue
		}
		if start, end := o.value(b, to); end > start && o.of(command(b[max(0, from-maxCommand):from])) {
			return start, end
		}
	}
	return 0, 0
}

// value finds the password after the option, which ends at at.
func (o *option) value(b []byte, at int) (int, int) {
	start := skip(b, at, maxBlanks, isBlank)
	if next := nextArgument(b, at); next > at {
		start = next
	}
	switch {
	case start == len(b):
		return 0, 0
	case start > at || b[at] == '=':
		if o.shape&apart == 0 {
			return 0, 0
		}
		at = max(start, at+1)
	case o.shape&attached == 0:
		return 0, 0
	}
	open, quote := opening(b, at)
	end := unquoted(b, open)
	if quote.char != 0 {
		end = quoted(b, open, quote)
	}
	from, ok := o.password(b[open:end])
	if !ok {
		return 0, 0
	}
	return open + from, end
}

// nextArgument returns where the next item of a list of arguments begins, if what
// ends at at is all of an item.
func nextArgument(b []byte, at int) int {
	shut := closing(b, at)
	comma := skip(b, skip(b, shut, maxBlanks, isSpace), 1, func(c byte) bool { return c == ',' })
	if shut == at || b[comma-1] != ',' {
		return at
	}
	return skip(b, comma, maxBlanks, isSpace)
}

// password returns where in an option's argument the password begins.
func (o *option) password(arg []byte) (int, bool) {
	from := 0
	if o.shape&afterID != 0 {
		if from = bytes.IndexByte(arg, ':') + 1; from < 2 {
			return 0, false
		}
	}
	if o.shape&crumb != 0 {
		from = bytes.IndexByte(arg, '=') + 1
		return from, from > 1 && holdsSession(arg[:from-1], arg[from:])
	}
	v := arg[from:]
	return from, len(v) > 0 && v[0] != '-' && secretText(v, strong) && !bytes.Contains(v, []byte("$("))
}

// of reports whether one of the option's commands is in the line.
func (o *option) of(line []byte) bool {
	for _, tool := range o.tools {
		for rest := line; ; {
			at := bytes.Index(rest, []byte(tool))
			if at < 0 {
				break
			}
			start := bytes.LastIndexAny(rest[:at], " \t\r\n\"',") + 1
			end := at + skip(rest[at:], 0, len(rest), inArgument)
			if o.is(rest[start:end]) {
				return true
			}
			rest = rest[end:]
		}
	}
	return false
}

// inArgument reports whether c may stand in a word of a command line, or in an item of
// a list of arguments.
func inArgument(c byte) bool { return !isSpace(c) && !isQuote(c) && c != '\\' && c != ',' }

// is reports whether a word of a command line names one of the option's commands:
// curl, /usr/bin/curl, $(curl, "curl.exe, +curl in a diff.
func (o *option) is(word []byte) bool {
	word = bytes.TrimSuffix(word, []byte(".exe"))
	for _, tool := range o.tools {
		at := len(word) - len(tool)
		if at < 0 || string(word[at:]) != tool {
			continue
		}
		if at == 0 || at == 1 && (word[0] == '+' || word[0] == '-') || bytes.IndexByte([]byte("/\\\"'`($"), word[at-1]) >= 0 {
			return true
		}
	}
	return false
}

// command returns the part of a text that belongs to the command at its end: after
// the last separator, or line break that no backslash takes back.
func command(b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case '|', ';', '&':
			return b[i+1:]
		case '\n':
			if i == 0 || b[i-1] != '\\' {
				return b[i+1:]
			}
		}
	}
	return b
}
