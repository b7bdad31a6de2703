package redact

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isAlnum(c byte) bool { return isDigit(c) || isUpper(c) || isLower(c) }
func isWord(c byte) bool  { return isAlnum(c) || c == '_' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isSpace(c byte) bool { return isBlank(c) || c == '\n' || c == '\r' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

// isToken reports whether c may stand in a credential of an authorization header
// (RFC 7235, token68), or in the colon form some services use.
func isToken(c byte) bool {
	switch c {
	case '_', '.', '~', '+', '/', '-', ':':
		return true
	}
	return isAlnum(c)
}

// startsWord reports whether no word goes on across b[at]. The last letter of an
// escape sequence is no part of a word: \nAKIA… in JSON text, \u001bAKIA…
func startsWord(b []byte, at int) bool {
	if at == 0 || !isAlnum(b[at-1]) {
		return true
	}
	if at >= 2 && b[at-2] == '\\' {
		switch b[at-1] {
		case 'n', 'r', 't', 'b', 'f':
			return true
		}
	}
	return at >= 6 && b[at-6] == '\\' && b[at-5] == 'u' || afterColour(b, at)
}

// blob is how much base64 before a place tells that the place is in the middle of it.
const blob = 32

// inBlob reports whether b[at] is in the middle of base64, where any few letters turn
// up by chance.
func inBlob(b []byte, at int) bool {
	return at >= blob && (b[at-1] == '/' || b[at-1] == '+') && skip(b, at-blob, blob, isBase64) == at && drawn(b[at-blob:at])
}

func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' }

// skip returns the first position from which no byte of the kind follows, at most
// limit bytes on.
func skip(b []byte, from, limit int, is func(byte) bool) int {
	end := min(len(b), from+limit)
	for from < end && is(b[from]) {
		from++
	}
	return from
}
