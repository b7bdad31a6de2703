package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

var errUnclosed = errors.New("a string is not closed")

// literal finds the next string literal of a JSON document from at on: its text is
// doc[from:to], without the quotes. from is negative if there is none.
func literal(doc []byte, at int) (from, to int, escaped bool, err error) {
	quote := bytes.IndexByte(doc[at:], '"')
	if quote < 0 {
		return -1, -1, false, nil
	}
	from = at + quote + 1
	for to = from; to < len(doc); to++ {
		switch doc[to] {
		case '"':
			return from, to, escaped, nil
		case '\\':
			escaped = true
			to++
		}
	}
	return -1, -1, false, errUnclosed
}

// unescape appends the text of a valid string literal to dst. A lone surrogate
// becomes U+FFFD, as in encoding/json.
func unescape(dst, text []byte) []byte {
	dst = slices.Grow(dst, len(text)) // at once: it may be a file
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		c := text[i+1]
		text = text[i+2:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			var r rune
			r, text = codePoint(text)
			dst = utf8.AppendRune(dst, r)
		default: // a quote, a backslash, a slash
			dst = append(dst, c)
		}
	}
}

// codePoint decodes what follows \u, which may be half of a surrogate pair, and
// returns the rest.
func codePoint(text []byte) (rune, []byte) {
	r := hex4(text)
	if r < 0 {
		return utf8.RuneError, text
	}
	text = text[4:]
	if !utf16.IsSurrogate(r) {
		return r, text
	}
	if len(text) >= 6 && text[0] == '\\' && text[1] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(text[2:])); pair != utf8.RuneError {
			return pair, text[6:]
		}
	}
	return utf8.RuneError, text
}

// hex4 reads four hex digits; negative if there are none.
func hex4(text []byte) rune {
	if len(text) < 4 {
		return -1
	}
	var r rune
	for _, c := range text[:4] {
		switch {
		case isDigit(c):
			c -= '0'
		case lower(c) >= 'a' && lower(c) <= 'f':
			c = lower(c) - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// appendLiteral appends text as the inside of a string literal.
func appendLiteral(out, text []byte) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(text)); err != nil {
		return nil, fmt.Errorf("encode string: %w", err)
	}
	quoted := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return append(out, quoted[1:len(quoted)-1]...), nil
}
