package redact

import "bytes"

// cookieRule is the rule for what a cookie holds.
const cookieRule = "cookie"

// cookies appends the secrets in a cookie header's value, whose name is b[from:to]; the
// cookies' names stay.
func cookies(b []byte, from, to int, out []span) []span {
	start := nameStart(b, from)
	at, op := operator(b, closing(b, to))
	switch {
	case op == ":" || op == "=":
	case bytes.HasPrefix(b[start:], []byte("--")) && to < len(b) && isBlank(b[to]):
		at = to
	default:
		return nil
	}
	at = skip(b, at, maxBlanks, isBlank)
	at, _ = opening(b, at)
	return crumbs(b, at, out[:0])
}

// crumbs appends the secrets among the pairs that begin at at: name=value; name=value.
func crumbs(b []byte, at int, out []span) []span {
	limit := min(len(b), at+maxValue)
	for at < limit {
		at = skip(b, at, maxBlanks, isSpace)
		name := skip(b, at, maxName, inCookieName)
		if name == at {
			break
		}
		to := name
		if name < len(b) && b[name] == '=' {
			to = skip(b, name+1, limit-name, inCookie)
			if holdsSession(b[at:name], b[name+1:to]) {
				out = append(out, span{name + 1, to, cookieRule})
			}
		}
		if to == len(b) || b[to] != ';' {
			break
		}
		at = to + 1
	}
	return out
}

// holdsSession reports whether a cookie lets its bearer in: by its looks, or by its name.
func holdsSession(name, value []byte) bool {
	if bytes.HasPrefix(value, []byte(markerStart)) || reference(value) || placeholder(value) {
		return false
	}
	if len(value) >= minUser && drawn(value) {
		return true
	}
	if len(value) < 8 || !random(value) || digits(value) {
		return false
	}
	folded := bytes.ToLower(name)
	for _, word := range []string{"sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember"} {
		if bytes.Contains(folded, []byte(word)) {
			return true
		}
	}
	return false
}

func isCookie(name []byte) bool {
	return bytes.EqualFold(name, []byte("cookie")) || bytes.EqualFold(name, []byte("set-cookie"))
}

func inCookieName(c byte) bool {
	return isWord(c) || c == '-' || c == '.' || c == '%' || c == '[' || c == ']'
}

func inCookie(c byte) bool {
	return !isSpace(c) && !isQuote(c) && c != ';' && c != ',' && c != '\\' && c > ' '
}
