package redact

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// maxBlanks bounds the blanks around an operator or after a scheme.
const maxBlanks = 8

// headerValue finds the credential after an authorization header's name, which
// ends at to: the scheme before it stays.
func headerValue(b []byte, from, to int) (int, int) {
	if !startsWord(b, from) {
		return 0, 0
	}
	bare, shut := to, closing(b, to)
	at, op := operator(b, shut)
	if op == "" {
		return 0, 0
	}
	at = skip(b, at, maxBlanks, isBlank)
	at, quote := opening(b, at)
	if quote.char == 0 && op != ":" && op != "=" {
		return 0, 0 // code: a literal would be in quotes
	}
	from, to = credential(b, at)
	if to < len(b) && b[to] == '(' || quote.char == 0 && shut > bare && chain(b[from:to]) && !drawn(b[from:to]) {
		return 0, 0 // "Authorization": auth.Header
	}
	return from, to
}

// bearerValue finds the credential after the word bearer, which ends at to.
func bearerValue(b []byte, from, to int) (int, int) {
	at := skip(b, to, maxBlanks, isBlank)
	if at == to || !startsWord(b, from) || from > 1 && b[from-1] == '-' && isAlnum(b[from-2]) { // a name: token-bearer
		return 0, 0
	}
	from, end := credential(b, at)
	if end-from < 10 {
		return 0, 0
	}
	return from, end
}

// basicValue finds the credential after the scheme basic and its blank, which end at
// to: base64 of a user, a colon and a password.
func basicValue(b []byte, from, to int) (int, int) {
	if !startsWord(b, from) {
		return 0, 0
	}
	end := skip(b, to, maxUserinfo, isBase64)
	end = skip(b, end, 2, func(c byte) bool { return c == '=' })
	if !isLogin(b[to:end]) {
		return 0, 0
	}
	return to, end
}

// isLogin reports whether v is base64 of a user and a password with a colon between.
func isLogin(v []byte) bool {
	if len(v) < 8 {
		return false
	}
	v = bytes.TrimRight(v, "=")
	text := make([]byte, base64.RawStdEncoding.DecodedLen(len(v)))
	n, err := base64.RawStdEncoding.Decode(text, v)
	if err != nil || bytes.IndexByte(text[:n], ':') < 0 {
		return false
	}
	for _, c := range text[:n] {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// maxCredential bounds what of a credential is looked at before it is judged. One
// that is found to be a secret is replaced to its end.
const maxCredential = 128

// credential returns the token after an optional scheme.
func credential(b []byte, at int) (from, to int) {
	at = afterScheme(b, at)
	to = skip(b, at, maxCredential, isToken)
	if to-at < 8 || !random(b[at:to]) {
		return 0, 0
	}
	to = skip(b, to, len(b), isToken)
	return at, skip(b, to, len(b), func(c byte) bool { return c == '=' })
}

// afterScheme steps over the scheme of an authorization header and its blanks.
func afterScheme(b []byte, at int) int {
	if scheme := []byte("AWS4-HMAC-SHA256 "); bytes.HasPrefix(b[at:], scheme) {
		return at + len(scheme)
	}
	word := skip(b, at, 10, isAlnum)
	if word == len(b) || !isBlank(b[word]) {
		return at
	}
	switch strings.ToLower(string(b[at:word])) {
	case "bearer", "basic", "token", "apikey", "digest":
		return skip(b, word, maxBlanks, isBlank)
	}
	return at
}

// random reports whether a value looks drawn rather than written: a digit, or
// letters of both cases where a word has at most its first one upper.
func random(value []byte) bool {
	hasLower := false
	for _, c := range value {
		switch {
		case isDigit(c):
			return true
		case isLower(c):
			hasLower = true
		case isUpper(c) && hasLower:
			return true
		}
	}
	return false
}

// maxUserinfo bounds what stands before the @ of a URL.
const maxUserinfo = 1 << 10

// minUser is the shortest user of a URL that may be a token. People and services
// have shorter names, or such as are made of words.
const minUser = 16

// userinfo finds the secret before the host of the URL whose :// ends at to: the
// password, or the user where he is a token himself: https://TOKEN@host. A user is
// one by his looks: see drawn.
func userinfo(b []byte, to int) (int, int) {
	if scheme := to - len("://"); scheme == 0 || !isAlnum(b[scheme-1]) {
		return 0, 0
	}
	window := b[to:min(len(b), to+maxUserinfo)]
	if end := bytes.IndexAny(window, "/ \t\r\n\"'`<>\\"); end >= 0 {
		window = window[:end]
	}
	host := bytes.LastIndexByte(window, '@')
	if host < 0 {
		return 0, 0
	}
	marked := 0
	if bytes.HasPrefix(window, []byte(markerStart)) { // a token that the hook found
		marked = bytes.IndexByte(window[:host], ']') + 1
	}
	user, password, _ := bytes.Cut(window[marked:host], []byte(":"))
	if len(user) >= minUser && drawn(user) && !bytes.ContainsAny(user, "?#=&$[{") {
		return to, to + host
	}
	if query := bytes.IndexAny(password, "?#"); query > 0 && digits(password[:query]) {
		return 0, 0 // host:port?address=a@b
	}
	if placeholder(password) || reference(password) && !literalPart(password) || bytes.Contains(password, []byte(markerStart)) {
		return 0, 0
	}
	return to + host - len(password), to + host
}
