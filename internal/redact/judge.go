package redact

import (
	"bytes"
	"strings"
)

// A value after a sensitive name is judged here. In doubt it is a secret where it
// is in quotes or in the form of an environment file, and code where it is bare.

// secretText reports whether a value may be a secret, whatever stands around it.
func secretText(v []byte, how trust) bool {
	switch {
	case len(v) < minValue,
		bytes.Contains(v, []byte(markerStart)),
		bytes.Contains(v, []byte(pemBegin)), // goes on over many lines: its own rule takes it whole
		reference(v) && !literalPart(v),
		filler(v), elided(v), location(v), typeName(v), placeholder(v):
		return false
	}
	return how.accepts(v)
}

// reference reports whether v names where the value is to be had: $NAME, ${…},
// $(…), %NAME%, {{…}}, <…>, id=… of a build's secret.
func reference(v []byte) bool {
	if len(v) < 2 {
		return false
	}
	last := v[len(v)-1]
	if template(v) || bytes.HasPrefix(v, []byte("id=")) || bytes.HasPrefix(v, []byte("type=")) {
		return true
	}
	switch v[0] {
	case '$':
		return v[1] == '(' || variable(v[1:])
	case '%':
		return last == '%'
	case '{':
		return last == '}'
	case '<':
		return last == '>'
	}
	return false
}

func template(v []byte) bool {
	return bytes.Contains(v, []byte("${")) || bytes.Contains(v, []byte("{{"))
}

// literalPart reports whether what a template leaves between its references is drawn
// itself: ${PREFIX}x9Abc12345.
func literalPart(v []byte) bool {
	if !template(v) {
		return false
	}
	for len(v) > 0 {
		open := bytes.IndexByte(v, '{')
		if open < 0 {
			return drawn(v)
		}
		if drawn(bytes.TrimRight(v[:open], "$")) {
			return true
		}
		shut := bytes.IndexByte(v[open:], '}')
		if shut < 0 {
			return false
		}
		v = bytes.TrimLeft(v[open+shut:], "}")
	}
	return false
}

// variable reports whether v is a variable's name as shells have them: all upper or
// all lower.
func variable(v []byte) bool {
	upper, lower := false, false
	for _, c := range v {
		switch {
		case isUpper(c):
			upper = true
		case isLower(c):
			lower = true
		case c != '_' && !isDigit(c):
			return false
		}
	}
	return upper != lower
}

// filler reports whether v is one character again and again: ******, xxxxxxxx.
func filler(v []byte) bool {
	for _, c := range v[1:] {
		if c != v[0] {
			return false
		}
	}
	return true
}

// elided reports whether v was cut down to what is no secret any more: lsv2_…
func elided(v []byte) bool {
	for _, dots := range []string{"…", "..."} {
		if rest, found := bytes.CutSuffix(v, []byte(dots)); found && len(rest) < minValue {
			return true
		}
	}
	return false
}

// location reports whether v is a path or a URL. A URL's own password is another
// rule's matter.
func location(v []byte) bool {
	if i := bytes.Index(v, []byte("://")); i > 0 && i < 12 {
		return true
	}
	rest := v
	switch {
	case bytes.HasPrefix(v, []byte("/")):
		if bytes.Count(v, []byte("/")) < 2 {
			return false
		}
	case bytes.HasPrefix(v, []byte("./")), bytes.HasPrefix(v, []byte("../")), bytes.HasPrefix(v, []byte("~/")):
		rest = v[1:]
	case len(v) > 2 && v[1] == ':' && v[2] == '\\':
		return true
	default:
		return false
	}
	run := 0
	for _, c := range rest {
		switch {
		case c == '/' || c == '.' || c == '-' || c == '_':
			run = 0
		case isAlnum(c):
			if run++; run > 20 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// digits reports whether v is nothing but digits.
func digits(v []byte) bool { return skip(v, 0, len(v), isDigit) == len(v) }

// number reports whether v is a number with its separators, or a hexadecimal
// constant.
func number(v []byte) bool {
	if hex, ok := bytes.CutPrefix(v, []byte("0x")); ok && len(hex) <= 16 {
		return true
	}
	return len(bytes.TrimLeft(v, "0123456789._,:-+")) == 0
}

// typeName reports whether v is a word that programs put in a value's place.
func typeName(v []byte) bool {
	v = bytes.TrimRight(v, "?[]")
	return is(typeWord, v)
}

// placeholder reports whether v is made of nothing but words about secrets.
func placeholder(v []byte) bool {
	if len(v) > 48 {
		return false
	}
	start, words := 0, 0
	for i := 0; i <= len(v); i++ {
		if i < len(v) && isAlnum(v[i]) && (i == 0 || !isUpper(v[i]) || !isLower(v[i-1])) {
			continue
		}
		if i > start {
			if !is(placeholderWord, v[start:i]) {
				return false
			}
			words++
		}
		start = i
		if i < len(v) && !isAlnum(v[i]) {
			start = i + 1
		}
	}
	return words > 0
}

// prose reports whether v is a sentence about a secret rather than a passphrase.
func prose(v []byte) bool {
	if !spaced(v) {
		return false
	}
	fields := strings.Fields(string(v[:min(len(v), 512)]))
	if len(fields) < 2 {
		return false
	}
	if len(v) > 256 {
		return true
	}
	for _, word := range fields {
		word = strings.Trim(word, ".,:;!?()'\"")
		if is(proseWord, []byte(word)) || is(placeholderWord, []byte(word)) {
			return true
		}
	}
	return false
}

// identifier reports whether v is a name or a chain of names, as code has them,
// without a digit.
func identifier(v []byte) bool {
	for _, c := range v {
		if !isLower(c) && !isUpper(c) && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// expression reports whether a bare value is code that computes the secret rather
// than the secret. raw is the value with the brackets that follow it.
func expression(b []byte, p place, start int, raw, v []byte) bool {
	switch {
	case p.op == "=" && !p.spaced && shouted(b, p.name):
		return v[0] == '(' || v[0] == '[' || chain(v) && mentions(v) // an environment file holds literals
	case p.op != "=" && p.op != ":" && p.op != "flag":
		return !literalOperand(b, p, v)
	case (p.op != "=" || p.spaced) && bytes.IndexByte([]byte("([{*!&@#<>,"), v[0]) >= 0:
		return true
	}
	if i := bytes.IndexAny(v, "([{"); i >= 0 && (i == 0 || chain(v[:i]) || v[0] == '/') {
		return true
	}
	if i := bytes.IndexByte(v, ','); i > 0 && identifier(v[:i]) {
		return true // minified code: a=b.password,c=
	}
	if (p.spaced || p.op == ":") && chain(v) && (mentionsLast(v) || len(v) < 40 && bytes.IndexByte(v, '.') > 0) {
		return true // privateKey: testKey2, token = exports2.HEX
	}
	if !identifier(v) || scrambled(v) {
		return false
	}
	if bytes.IndexByte(v, '.') >= 0 || mentions(v) || (len(raw) > len(v) && p.op != ":") {
		return true
	}
	switch {
	case p.op == "=" && !p.spaced:
		return false // a URL's query, a connection string
	case p.op == ":" && p.spaced:
		return !yaml(b, p, start+len(raw), v)
	default:
		return true
	}
}

// literalOperand reports whether the bare value after an operator of code, as == or
// =>, is a literal all the same: in a make file, in a query or a listing, or by its
// looks.
func literalOperand(b []byte, p place, v []byte) bool {
	if bytes.ContainsAny(v, "([{.,") || mentions(v) {
		return false
	}
	switch {
	case !bytes.ContainsAny(v, "0123456789"):
		return scrambled(v)
	case p.op == ":=" || p.op == "?=":
		return shouted(b, p.name) || !p.spaced && p.how == strong || drawn(v)
	case p.op == "=>" || !p.spaced:
		return p.how == strong || drawn(v)
	default:
		return drawn(v)
	}
}

// shouted reports whether the name that from is in has no lower case letter, as
// those of environment variables.
func shouted(b []byte, from int) bool {
	for _, c := range b[nameStart(b, from) : from+gram] {
		if isLower(c) {
			return false
		}
	}
	return true
}

// scrambled reports whether upper and lower case change as in no name of code:
// twice or more a lone lower letter or a run of upper ones.
func scrambled(v []byte) bool {
	odd := 0
	for i := 1; i+1 < len(v); i++ {
		before, here, after := isUpper(v[i-1]), isUpper(v[i]), isUpper(v[i+1])
		if before && after && isLower(v[i]) || here && after && !before {
			odd++
		}
	}
	return len(v) >= 10 && odd >= 2
}

// yaml reports whether a plain word is the whole value of a line in a YAML file.
func yaml(b []byte, p place, end int, v []byte) bool {
	if end < len(b) && b[end] != '\n' && b[end] != '\r' {
		return false
	}
	for _, c := range v {
		if !isLower(c) {
			return false
		}
	}
	line := nameStart(b, p.name)
	for line > 0 && p.name-line < maxName && (isBlank(b[line-1]) || b[line-1] == '-') {
		line--
	}
	return line == 0 || b[line-1] == '\n'
}

// mentions reports whether a chain of names speaks of a secret itself:
// password=user.password. What looks drawn has any three letters in it by chance.
func mentions(v []byte) bool {
	if drawn(v) {
		return false
	}
	folded := bytes.ToLower(v)
	for _, k := range names {
		if k.how >= weak && k.text != "key" && bytes.Contains(folded, []byte(k.text)) {
			return true
		}
	}
	return bytes.HasSuffix(folded, []byte("key"))
}

// mentionsLast reports whether the last of a chain of names is a secret's own:
// privateKey: test2048PrivateKey.
func mentionsLast(v []byte) bool {
	folded := bytes.ToLower(v)
	for _, k := range names {
		if k.how >= weak && bytes.HasSuffix(folded, []byte(k.text)) {
			return true
		}
	}
	return false
}

// chain reports whether v is a name or a chain of names, with digits or without.
func chain(v []byte) bool {
	for _, c := range v {
		if !isWord(c) && c != '.' {
			return false
		}
	}
	return true
}
