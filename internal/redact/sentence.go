package redact

import (
	"bytes"
	"strings"
)

// maxOwner bounds the words that say whose a secret is.
const maxOwner = 48

// sentence finds the secret that a sentence or a statement gives to a name: the
// password is …, password for bob: …, the token `…`, WITH PASSWORD '…'. shut is after
// the quote that closes the name, if one does. It must show itself: most sentences
// about secrets tell none.
func sentence(b []byte, n name, shut int) (int, int) {
	if shut > n.end || n.end == len(b) || b[n.start] == '-' {
		return 0, 0
	}
	at := skip(b, n.end, maxBlanks, isBlank)
	told := at
	switch {
	case at < len(b) && b[at] == '(': // PASSWORD('…'), setPassword("…")
		if n.how != strong || !n.setter(b) {
			return 0, 0
		}
		at++
	case at == n.end:
		return 0, 0
	default:
		at = verb(b, at)
	}
	open, quote := opening(b, at)
	end := 0
	switch {
	case quote.char != 0:
		end = quoted(b, open, quote)
	case at == told:
		return 0, 0
	default:
		end = unquoted(b, at)
		for end > at && strings.IndexByte(".,:)]}?", b[end-1]) >= 0 {
			end--
		}
	}
	v := b[open:end]
	if !secretText(v, n.how) || spaced(v) || !telling(v, n.how) || location(v) {
		return 0, 0
	}
	return open, end
}

// setter reports whether the name is that of a statement or of a function that sets it.
func (n name) setter(b []byte) bool {
	before := wordsBefore(b, n.from)
	return before == "" || strings.HasSuffix(before, "set") || strings.HasSuffix(before, "with") || shouted(b, n.from)
}

// verb steps over "is", "was" and "for bob:" with their blanks; at itself if there is
// none.
func verb(b []byte, at int) int {
	window := b[at:min(len(b), at+maxOwner)]
	if end := bytes.IndexByte(window, '\n'); end >= 0 {
		window = window[:end]
	}
	from := at
	for _, word := range [...]string{"for ", "of "} {
		if rest, ok := bytes.CutPrefix(window, []byte(word)); ok {
			if colon := bytes.Index(rest, []byte(": ")); colon > 0 {
				return at + len(word) + colon + len(": ")
			}
			end := bytes.Index(rest, []byte(" is "))
			if end < 0 {
				return at
			}
			from, window = at+len(word)+end+1, rest[end+1:]
		}
	}
	for _, word := range [...]string{"is ", "was ", "is: ", "is now "} {
		if bytes.HasPrefix(window, []byte(word)) {
			from = at + len(word)
		}
	}
	return skip(b, from, maxBlanks, isBlank)
}

// telling reports whether a word in a sentence is a secret rather than one about it:
// base64-encoded, sha256.
func telling(v []byte, how trust) bool {
	if drawn(v) && len(v) >= 12 {
		return true
	}
	if how != strong || !hasDigit(v) || chain(v) && mentions(v) {
		return false
	}
	letters, upper := false, false
	for _, c := range v {
		letters = letters || isLower(c) || isUpper(c)
		upper = upper || isUpper(c)
	}
	last := v[len(v)-1]
	return letters && (upper || isDigit(last) || last == '!' || last == '#' || last == '$') && !technical(v)
}

func hasDigit(v []byte) bool { return bytes.ContainsAny(v, "0123456789") }

// technical reports whether v begins as the name of a method or a format does that has
// a number.
func technical(v []byte) bool {
	folded := bytes.ToLower(v)
	for _, word := range [...]string{"sha", "base", "oauth", "rfc", "argon", "aes", "rsa", "ed25519", "pbkdf", "utf", "x509", "iso", "ntlm", "bcrypt", "scrypt", "http", "md5", "pkcs", "line", "v1", "v2"} {
		if bytes.HasPrefix(folded, []byte(word)) {
			return true
		}
	}
	return false
}
