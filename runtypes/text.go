package runtypes

import (
	"strings"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// AppendText appends s as a JSON string, as encoding/json writes it without HTML
// escaping.
func AppendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		n := plainText(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		dst = appendRune(dst, r, s[:size])
		s = s[size:]
	}
	return append(dst, '"')
}

// plainText counts the leading bytes of s that stand for themselves.
func plainText(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// appendRune appends a character that is not plain; text is how it was written.
func appendRune(dst []byte, r rune, text string) []byte {
	if short := strings.IndexRune("\"\\\b\f\n\r\t", r); short >= 0 && r != utf8.RuneError {
		return append(dst, '\\', `"\bfnrt`[short])
	}
	switch {
	case r < ' ':
		return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
	case r == utf8.RuneError && len(text) == 1: // no UTF-8
		return append(dst, `\ufffd`...)
	case r == '\u2028' || r == '\u2029': // line ends to JavaScript
		return append(dst, '\\', 'u', '2', '0', '2', hex[r&0xf])
	}
	return append(dst, text...)
}
