package redact

import (
	"bytes"
	"strings"
)

// names end what is called a secret. Some are none alone: see qualified.
var names = [...]keyword{
	{text: "password", fold: true, kind: kindName, name: "password", how: strong},
	{text: "passwd", fold: true, kind: kindName, name: "password", how: strong},
	{text: "passphrase", fold: true, kind: kindName, name: "password", how: strong},
	{text: "passcode", fold: true, kind: kindName, name: "password", how: strong},
	{text: "pwd", fold: true, kind: kindName, name: "password", how: strong},
	{text: "passwort", fold: true, kind: kindName, name: "password", how: strong},
	{text: "kennwort", fold: true, kind: kindName, name: "password", how: strong},
	{text: "contraseña", kind: kindName, name: "password", how: strong},
	{text: "contrasena", fold: true, kind: kindName, name: "password", how: strong},
	{text: "mot_de_passe", fold: true, kind: kindName, name: "password", how: strong},
	{text: "motdepasse", fold: true, kind: kindName, name: "password", how: strong},
	{text: "senha", fold: true, kind: kindName, name: "password", how: strong},
	{text: "heslo", fold: true, kind: kindName, name: "password", how: strong},
	{text: "hasło", kind: kindName, name: "password", how: strong},
	{text: "пароль", kind: kindName, name: "password", how: strong},
	{text: "Пароль", kind: kindName, name: "password", how: strong},
	{text: "密码", kind: kindName, name: "password", how: strong},
	{text: "密碼", kind: kindName, name: "password", how: strong},
	{text: "パスワード", kind: kindName, name: "password", how: strong},
	{text: "비밀번호", kind: kindName, name: "password", how: strong},
	{text: "wachtwoord", fold: true, kind: kindName, name: "password", how: strong},
	{text: "pass", fold: true, kind: kindName, name: "password", how: likely},
	{text: "secret", fold: true, kind: kindName, name: "secret", how: weak},
	{text: "token", fold: true, kind: kindName, name: "token", how: weak},
	{text: "key", fold: true, kind: kindName, name: "api-key", how: weak},
	{text: "salt", fold: true, kind: kindName, name: "api-key", how: weak},
	{text: "amz-signature", fold: true, kind: kindName, name: "signed-url", how: weak},
	{text: "goog-signature", fold: true, kind: kindName, name: "signed-url", how: weak},
	{text: "?sig", kind: kindName, name: "signed-url", how: faint},
	{text: "&sig", kind: kindName, name: "signed-url", how: faint},
	{text: "?key", kind: kindName, name: "api-key", how: faint},
	{text: "&key", kind: kindName, name: "api-key", how: faint},
	{text: "?code", kind: kindName, name: "token", how: faint},
	{text: "&code", kind: kindName, name: "token", how: faint},
	{text: "psk", fold: true, kind: kindName, name: "password", how: weak},
	{text: "auth", fold: true, kind: kindName, name: "auth", how: faint},
}

// qualifiers make "key" a secret's name.
var qualifiers = [...]string{
	"api", "access", "private", "license", "account", "auth", "secret", "encryption", "signing", "master", "service",
	"subscription", "shared", "storage", "hmac", "jwt",
}

const (
	maxSuffix = 48
	maxName   = 64
)

// services before "pass" say whose password it is.
var services = [...]string{"db", "database", "sql", "pg", "mysql", "smtp", "mail", "ftp", "ssh", "user", "root", "admin", "login", "proxy", "http", "store", "key"}

// namedValue finds the value that is given to the sensitive name whose keyword is
// b[from:to].
func namedValue(k *keyword, b []byte, from, to int) (int, int) {
	end, how := nameEnd(k, b, from, to)
	if how == none {
		return 0, 0
	}
	n := name{start: nameStart(b, from), from: from, end: end, how: how}
	if inMarker(b, n.start, end) {
		return 0, 0
	}
	shut := closing(b, end)
	at, op := operator(b, shut)
	if op == "" && (isFlag(b, n) || isSet(b, n)) {
		at, op = skip(b, end, maxBlanks, isBlank), "flag"
	}
	if op == "" {
		return unassigned(b, n, shut)
	}
	p := place{name: from, op: op, spaced: isBlank(b[end]), how: how}
	if shut == end && n.start > 0 && isQuote(b[n.start-1]) {
		p.within = b[n.start-1]
	}
	return value(b, p, at)
}

// name is where a sensitive name stands.
type name struct {
	start int // of all its words
	from  int // of the keyword
	end   int
	how   trust
}

// inMarker reports whether b[start:end] is the rule's name in a marker.
func inMarker(b []byte, start, end int) bool {
	return bytes.HasSuffix(b[:start], []byte(markerStart)) && end < len(b) && b[end] == ']'
}

// verdict is what a name says of its value.
type verdict struct {
	rule   string // empty: nothing
	how    trust
	vendor vendor // whose word is in it; nil: nobody's
}

// sensitive judges the name of a key or a variable.
func (x *index) sensitive(name []byte) verdict {
	if len(name) < gram || len(name) > maxName {
		return verdict{}
	}
	var found verdict
	var hash uint32
	for i, c := range name {
		hash = step(hash, c)
		for n := x.first[hash]; n != 0; n = x.words[n].next {
			k := &x.words[n]
			from := i + 1 - len(k.text)
			if k.kind != kindName && k.kind != kindVendor || from < 0 || !k.at(name, from) {
				continue
			}
			if k.kind == kindVendor {
				if rest := name[i+1:]; len(rest) <= maxAfter && !ofDigest(rest) {
					found.vendor = x.vendors[k.rule]
				}
			} else if end, how := nameEnd(k, name, from, i+1); how != none && end == len(name) {
				return verdict{rule: k.name, how: how}
			}
		}
	}
	return found
}

// nameEnd returns where the name with the keyword b[from:to] ends, and what it is
// worth: words may follow (API_KEY_PROD), letters may not but for the plural's.
func nameEnd(k *keyword, b []byte, from, to int) (int, trust) {
	how := qualified(k, b, from)
	if how == none {
		return 0, none
	}
	for _, hump := range [...]string{"Key", "Value", "Base", "String"} {
		if bytes.HasPrefix(b[to:], []byte(hump)) {
			to += len(hump)
		}
	}
	if to < len(b) && lower(b[to]) == 's' && (to+1 == len(b) || !isAlnum(b[to+1])) {
		to++
		if how < strong {
			how = faint // tokens are mostly a text's
		}
	}
	if to < len(b) && isAlnum(b[to]) {
		return 0, none
	}
	limit := min(len(b), to+maxSuffix)
	for to < limit && (b[to] == '_' || b[to] == '-') {
		word := skip(b[:limit], to+1, maxSuffix, isAlnum)
		if word == to+1 {
			to++ // password__c, token_
			continue
		}
		if is(innocent, b[to+1:word]) {
			return 0, none
		}
		to = word
	}
	return to, how
}

// qualified returns what the keyword is worth where it is: "key" and "salt" need
// another word before them, "pwd" is also a folder, and "pass" many things.
func qualified(k *keyword, b []byte, from int) trust {
	switch k.text {
	case "key":
		return endsIn(wordsBefore(b, from), qualifiers[:], k.how)
	case "salt":
		return endsIn(wordsBefore(b, from), []string{"apikey"}, k.how)
	case "pwd":
		if from > 0 && isUpper(b[from-1]) && isUpper(b[from]) { // OLDPWD
			return none
		}
	case "auth":
		if start := nameStart(b, from); start != from && (start != from-1 || b[start] != '_') {
			return none
		}
	case "pass":
		return passTrust(k, b, from)
	}
	return k.how
}

// passTrust judges "pass": a test does it, a compiler has some, and it is short for
// a password.
func passTrust(k *keyword, b []byte, from int) trust {
	if from > 0 && isAlnum(b[from-1]) && (isLower(b[from]) || isUpper(b[from-1])) {
		return endsIn(wordsBefore(b, from), services[:], strong) // dbpass, DBPASS; not bypass
	}
	if how := endsIn(wordsBefore(b, from), services[:], strong); how != none {
		return how
	}
	if from > 0 && b[from-1] == '_' && shouted(b, from) {
		return strong // an environment's variable: GMAIL_PASS
	}
	return k.how
}

// endsIn returns how if the words end in one of the list.
func endsIn(words string, list []string, how trust) trust {
	for _, word := range list {
		if strings.HasSuffix(words, word) {
			return how
		}
	}
	return none
}

// wordsBefore returns the letters before from in lower case, without what
// separates words.
func wordsBefore(b []byte, from int) string {
	var buf [12]byte
	n := len(buf)
	for from > 0 && n > 0 {
		from--
		c := b[from]
		switch {
		case c == '_' || c == '-' || c == ' ' || c == '.':
			continue
		case !isAlnum(c):
			return string(buf[n:])
		}
		n--
		buf[n] = lower(c)
	}
	return string(buf[n:])
}

// closing steps over what may close a name: a quote, escaped or not, a bracket.
func closing(b []byte, at int) int {
	if bytes.HasPrefix(b[at:], []byte(`\u003`)) || bytes.HasPrefix(b[at:], []byte(`\x3`)) {
		return at // an operator
	}
	at = skip(b, at, 4, func(c byte) bool { return c == '\\' })
	for _, entity := range [...]string{"&quot;", "&#34;", "&#39;", "\u200b"} {
		if bytes.HasPrefix(b[at:], []byte(entity)) {
			return at + len(entity)
		}
	}
	at = skip(b, at, 1, isQuote)
	return skip(b, at, 1, func(c byte) bool { return c == ']' })
}

// operator returns the operator that gives a value, and where it ends.
func operator(b []byte, at int) (int, string) {
	at = skip(b, colour(b, at), maxBlanks, isBlank)
	at = accessors(b, colour(b, at))
	for _, op := range [...]string{":=", "===", "==", "=>", "!=", "?=", "=", ":", "||", "??", "%3D", "%3d"} {
		if bytes.HasPrefix(b[at:], []byte(op)) {
			return at + len(op), op
		}
	}
	for _, other := range [...][2]string{{`\u003d`, "="}, {`\u003D`, "="}, {`\x3d`, "="}, {`\x3D`, "="}, {"：", ":"}, {"＝", "="}} {
		if bytes.HasPrefix(b[at:], []byte(other[0])) {
			return at + len(other[0]), other[1]
		}
	}
	return at, ""
}

// accessors steps over what C# has between a property and its value: { get; set; }.
func accessors(b []byte, at int) int {
	if !bytes.HasPrefix(b[at:], []byte("{ get;")) {
		return at
	}
	window := b[at:min(len(b), at+maxName)]
	if end := bytes.IndexByte(window, '}'); end > 0 {
		return skip(b, at+end+1, maxBlanks, isBlank)
	}
	return at
}

// isFlag reports whether the name is that of a command line flag: --password,
// -storepass.
func isFlag(b []byte, n name) bool {
	return n.end < len(b) && isBlank(b[n.end]) && b[n.start] == '-'
}

// isSet reports whether the word before the name says that what follows is its value:
// setenv NAME value.
func isSet(b []byte, n name) bool {
	if n.end == len(b) || !isBlank(b[n.end]) || n.start == 0 || !isBlank(b[n.start-1]) {
		return false
	}
	words := bytes.Fields(b[max(0, n.start-maxName):n.start])
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	for _, word := range [...]string{"setenv", "setx", "ENV", "-gx", "-Ux", "-x", "#define"} {
		before := len(last) - len(word)
		if before >= 0 && string(last[before:]) == word && (before == 0 || !isAlnum(last[before-1])) {
			return true
		}
	}
	return string(last) == "set" && len(words) > 1 && (bytes.HasSuffix(words[len(words)-2], []byte("configure")) || bytes.HasSuffix(words[len(words)-2], []byte("config")))
}

// nameStart returns where the name begins that from is in.
func nameStart(b []byte, from int) int {
	start := from
	for start > 0 && from-start < maxName && (isWord(b[start-1]) || b[start-1] == '-') {
		start--
	}
	return start
}
