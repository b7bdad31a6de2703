package redact

import (
	"bytes"
	"strings"
)

// names end what is called a secret. "key" alone is none: see qualified.
var names = [...]keyword{
	{text: "password", fold: true, kind: kindName, name: "password"},
	{text: "passwd", fold: true, kind: kindName, name: "password"},
	{text: "passphrase", fold: true, kind: kindName, name: "password"},
	{text: "pwd", fold: true, kind: kindName, name: "password"},
	{text: "secret", fold: true, kind: kindName, name: "secret"},
	{text: "token", fold: true, kind: kindName, name: "token"},
	{text: "key", fold: true, kind: kindName, name: "api-key"},
	{text: "salt", fold: true, kind: kindName, name: "api-key"},
}

// qualifiers make "key" a secret's name.
var qualifiers = [...]string{
	"api", "access", "private", "license", "account", "auth", "secret", "encryption", "signing", "master", "service",
}

const (
	maxSuffix = 48
	maxName   = 64
)

// namedValue finds the value that is given to the sensitive name whose keyword is
// b[from:to].
func namedValue(k *keyword, b []byte, from, to int) (int, int) {
	end, ok := nameEnd(k, b, from, to)
	start := nameStart(b, from)
	if !ok || inMarker(b, start, end) {
		return 0, 0
	}
	shut := closing(b, end)
	at, op := operator(b, shut)
	if op == "" && isFlag(b, from, end) {
		at, op = skip(b, end, 1, isBlank), "flag"
		if at == end {
			op = ""
		}
	}
	if op == "" {
		return element(b, from, end)
	}
	p := place{name: from, op: op, spaced: isBlank(b[end]), weak: k.name != "password"}
	if shut == end && start > 0 && isQuote(b[start-1]) {
		p.within = b[start-1]
	}
	return value(b, p, at)
}

// inMarker reports whether b[start:end] is the rule's name in a marker.
func inMarker(b []byte, start, end int) bool {
	return bytes.HasSuffix(b[:start], []byte(markerStart)) && end < len(b) && b[end] == ']'
}

// element finds the text of an XML element: <password>…</password>.
func element(b []byte, from, end int) (int, int) {
	start := nameStart(b, from)
	if start == 0 || b[start-1] != '<' || end >= len(b) || b[end] != '>' {
		return 0, 0
	}
	to := unquoted(b, end+1)
	if !bytes.HasPrefix(b[to:], []byte("</")) || !secretText(b[end+1:to], true) {
		return 0, 0
	}
	return end + 1, to
}

// sensitive returns the rule for the value of a key or variable of this name,
// empty if it is no secret's name.
func (x *index) sensitive(name []byte) string {
	if len(name) < gram || len(name) > maxName {
		return ""
	}
	var hash uint32
	for i, c := range name {
		hash = step(hash, c)
		for n := x.first[hash]; n != 0; n = x.words[n].next {
			k := &x.words[n]
			from := i + 1 - len(k.text)
			if k.kind != kindName || from < 0 || !k.at(name, from) {
				continue
			}
			if end, ok := nameEnd(k, name, from, i+1); ok && end == len(name) {
				return k.name
			}
		}
	}
	return ""
}

// nameEnd returns where the name with the keyword b[from:to] ends, and whether it
// is a secret's: words may follow (API_KEY_PROD), letters may not (tokens).
func nameEnd(k *keyword, b []byte, from, to int) (int, bool) {
	if !qualified(k, b, from) {
		return 0, false
	}
	for _, hump := range [...]string{"Key", "Value", "Base"} {
		if bytes.HasPrefix(b[to:], []byte(hump)) {
			to += len(hump)
		}
	}
	if to < len(b) && isAlnum(b[to]) {
		return 0, false
	}
	limit := min(len(b), to+maxSuffix)
	for to < limit && (b[to] == '_' || b[to] == '-') {
		word := skip(b[:limit], to+1, maxSuffix, isAlnum)
		if word == to+1 {
			to++ // password__c, token_
			continue
		}
		if is(innocent, b[to+1:word]) {
			return 0, false
		}
		to = word
	}
	return to, true
}

// qualified reports whether the keyword stands for a secret where it is: "key" and
// "salt" need another word before them, and "pwd" is also a folder.
func qualified(k *keyword, b []byte, from int) bool {
	switch k.text {
	case "key":
		before := wordsBefore(b, from)
		for _, q := range qualifiers {
			if strings.HasSuffix(before, q) {
				return true
			}
		}
		return false
	case "salt":
		return strings.HasSuffix(wordsBefore(b, from), "apikey")
	case "pwd":
		return from == 0 || !isUpper(b[from-1]) || !isUpper(b[from]) // OLDPWD
	}
	return true
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
	at = skip(b, at, 4, func(c byte) bool { return c == '\\' })
	at = skip(b, at, 1, isQuote)
	return skip(b, at, 1, func(c byte) bool { return c == ']' })
}

// operator returns the operator that gives a value, and where it ends.
func operator(b []byte, at int) (int, string) {
	at = skip(b, at, maxBlanks, isBlank)
	for _, op := range [...]string{":=", "===", "==", "=>", "!=", "?=", "=", ":"} {
		if bytes.HasPrefix(b[at:], []byte(op)) {
			return at + len(op), op
		}
	}
	return at, ""
}

// isFlag reports whether the name is that of a command line flag: --password.
func isFlag(b []byte, from, end int) bool {
	if end >= len(b) || !isBlank(b[end]) {
		return false
	}
	return bytes.HasPrefix(b[nameStart(b, from):], []byte("--"))
}

// nameStart returns where the name begins that from is in.
func nameStart(b []byte, from int) int {
	start := from
	for start > 0 && from-start < maxName && (isWord(b[start-1]) || b[start-1] == '-') {
		start--
	}
	return start
}
