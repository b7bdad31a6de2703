package redact

import (
	"bytes"
	"regexp"
	"sync"
)

// phrase knows a secret by the words around it, where no name is given a value: a
// statement, a command, a call.
type phrase struct {
	name     string   // as it stands in the marker
	keywords []string // it starts with one of these, in lower case
	pattern  string   // RE2, in any case, matched where a keyword begins; its last group that matches is the secret
	how      trust    // what the secret must show
	without  string   // and what there is no such phrase without, on the same line

	once  sync.Once
	start *regexp.Regexp
}

const (
	// maxPhrase bounds the text that a phrase is looked for in.
	maxPhrase = 512
	// quoteRE is a quote, which backslashes may escape; quotedRE is what it holds.
	quoteRE  = `\\{0,4}["'` + "`" + `]`
	quotedRE = quoteRE + `([^"'` + "`" + `\\\n]{6,})` + quoteRE
	// wordRE is a word of a command line, in quotes or not.
	wordRE = `(?:` + quotedRE + `|([^\s"'` + "`" + `\\|;&<>]{6,}))`
	// otherRE is one that is no secret.
	otherRE = `(?:` + quoteRE + `[^"'` + "`" + `\n]*` + quoteRE + `|[^\s"'` + "`" + `|;&]+)`
)

// phrases are such as databases, shells and programs have. A keyword ends in three
// letters that are rare, where it can.
var phrases = [...]phrase{
	// Statements of databases.
	{name: "password", keywords: []string{"identified"}, pattern: `identified(?:\s+with\s+` + otherRE + `)?\s+(?:by|as)(?:\s+password)?\s+` + quotedRE, how: strong},
	{name: "password", keywords: []string{"requirepass", "masterauth"}, pattern: `(?:requirepass|masterauth)[ \t]+` + wordRE, how: likely},
	{name: "password", keywords: []string{"auth"}, pattern: `(?-i:AUTH) (?:[a-z][\w-]* )?([^\s"'\\]{8,})(?:\\r|\\n|\s|$)`, how: faint},

	// What is said to a command by way of a pipe, and where else no option has a name.
	{name: "password", keywords: []string{"echo", "printf"}, pattern: `(?:echo|printf)[ \t]+(?:-\w+[ \t]+|['"]?%s(?:\\{1,2}n)?['"]?[ \t]+)*(?:['"]?[\w.-]+:)?` + wordRE +
		`['"]?[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-\w+[ \t]+)*-\w*s\b|(?:sudo[ \t]+)?chpasswd|(?:sudo[ \t]+)?passwd[ \t]+--stdin|gh[ \t]+(?:secret[ \t]+set|auth[ \t]+login)|gcloud[ \t]+secrets|(?:docker|podman|helm|nerdctl|oras|crane)\b[^\n|]*--password-stdin|[^\n|]*-(?:-pass|-passphrase|pass)[a-z-]*[ =](?:stdin|fd:0|0\b|-))`, how: strong, without: "|"},
	{name: "password", keywords: []string{"htpasswd"}, pattern: `htpasswd[ \t]+(?:-\w+[ \t]+)*-\w*b\w*[ \t]+(?:-\w+[ \t]+)*` + otherRE + `[ \t]+` + otherRE + `[ \t]+` + wordRE, how: strong},
	{name: "password", keywords: []string{"lftp"}, pattern: `lftp[ \t][^\n|;]*?(?:-u|--user)[ \t=]*[\w.@-]+,` + wordRE, how: strong},
	{name: "password", keywords: []string{"pass:"}, pattern: `pass:([^\s"'` + "`" + `\\|;&<>]{6,})`, how: likely},
	{name: "secret", keywords: []string{"gh secret"}, pattern: `gh secret set [^\n|;]*?(?:--body|-b)[ \t=]+` + wordRE, how: strong},
	{name: "secret", keywords: []string{"secret generic", "secret tls"}, pattern: `secret (?:generic|tls)\b(?:[^\n|;&]|\\\n)*?--from-literal[ =]['"]?[\w.-]+=` + wordRE, how: strong},
	{name: "password", keywords: []string{"nmcli"}, pattern: `nmcli[ \t][^\n|;]*?[ \t](?:password|wifi-sec\.psk)[ \t]+` + wordRE, how: strong},
	{name: "password", keywords: []string{"<auth-user-pass>"}, pattern: `<auth-user-pass>\s+[^\n]*\n[+ -]?([^\s<]{6,})`, how: strong},

	// Calls whose second argument is the password.
	{name: "password", keywords: []string{"basicauth(", "basic_auth(", "auth=(", "auth_basic(", "passwordauthentication(", "passwordcredentials("}, pattern: `[a-z_]+=?\(\s*` + otherRE + `\s*,\s*` + quotedRE, how: likely, without: ","},
	{name: "password", keywords: []string{"new pdo(", "mysqli_connect(", "new mysqli(", "getconn"}, pattern: `[a-z_ ]+\(\s*` + otherRE + `\s*,\s*` + otherRE + `\s*,\s*` + quotedRE, how: likely},
	{name: "password", keywords: []string{"-secu"}, pattern: `-securestring[ \t]+(?:-string[ \t]+)?` + quotedRE, how: strong},

	// What servers and tools show.
	{name: "private-key", keywords: []string{"private-lines"}, pattern: `private-lines: \d+\r?\n((?:[+ ]?[\w+/=]+\r?\n?)+)`, how: data}, // of PuTTY
	{name: "secret", keywords: []string{"::add-mask::"}, pattern: `::add-mask::([^\s"'\\]{6,})`, how: strong},
	{name: "url-password", keywords: []string{"%3a%2f%2f"}, pattern: `%3a%2f%2f[\w.%-]*?%3a([^\s"'&\\]{6,}?)%40`, how: strong, without: "%40"},
	{name: "vault-token", keywords: []string{"unseal key", "recovery key"}, pattern: `(?:unseal|recovery) key \d+: ([\w+/=]{32,128})`, how: faint},
	{name: "vault-token", keywords: []string{"root token:"}, pattern: `root token: ([\w.-]{20,128})`, how: faint},
	{name: "auth-header", keywords: []string{"aws4-hmac"}, pattern: `aws4-hmac-sha256\b[^\n]*?\bsignature=([0-9a-f]{64})`, how: faint},
	{name: "auth-header", keywords: []string{"dige"}, pattern: `digest [^\n]*?\bresponse=` + quoteRE + `([0-9a-f]{32,128})`, how: weak, without: "response="},
	{name: "private-key", keywords: []string{`"d":`, `"d\":`, `"d" :`}, pattern: `"d\\*"\s*:\s*` + quoteRE + `([\w-]{40,})` + quoteRE, how: faint}, // of a JSON Web Key
	{name: "secret", keywords: []string{`"sensitive`}, pattern: `"sensitive\\*"\s*:\s*true\s*,\s*(?:` + quoteRE + `type\\*"\s*:\s*` + otherRE + `\s*,\s*)?` + quoteRE + `value\\*"\s*:\s*` + quotedRE, how: strong},
	{name: "secret", keywords: []string{"\"random_password"}, pattern: `"random_password\\{0,4}"(?:[^}]|\n)*?\bresult\\{0,4}"\s*:\s*` + quotedRE, how: strong},
	{name: "secret", keywords: []string{"variab"}, pattern: `variable "[\w-]*(?:password|passwd|secret|token|_key|credential)s?"[ \t]*\{[^}]*?\bdefault[ \t]*=[ \t]*` + quotedRE, how: strong},
}

// find returns where the secret is in the phrase that begins at from; nothing if it is
// another one.
func (p *phrase) find(b []byte, from int) (int, int) {
	window := b[from:min(len(b), from+maxPhrase)]
	if p.without != "" {
		window = window[:lineEnd(window, 0)]
		if !bytes.Contains(window, []byte(p.without)) {
			return 0, 0
		}
	}
	p.once.Do(func() { p.start = regexp.MustCompile(`^(?i:` + p.pattern + `)`) })
	at := p.start.FindSubmatchIndex(window)
	for i := len(at) - 2; i > 0; i -= 2 {
		if at[i] < 0 {
			continue
		}
		v := b[from+at[i] : from+at[i+1]]
		if p.how == data {
			v = bytes.TrimRight(v, "\r\n")
			return from + at[i], from + at[i] + len(v)
		}
		if !secretText(v, p.how) || identifier(v) && mentions(v) {
			return 0, 0
		}
		return from + at[i], from + at[i+1]
	}
	return 0, 0
}
