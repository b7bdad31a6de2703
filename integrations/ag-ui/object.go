package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// kind is what a JSON value is, told by its first byte.
type kind byte

const (
	noKind kind = iota
	nullKind
	boolKind
	numberKind
	stringKind
	arrayKind
	objectKind
)

func kindOf(raw []byte) kind {
	if len(raw) == 0 {
		return noKind
	}
	switch raw[0] {
	case 'n':
		return nullKind
	case 't', 'f':
		return boolKind
	case '"':
		return stringKind
	case '[':
		return arrayKind
	case '{':
		return objectKind
	}
	return numberKind
}

// tidy checks that raw is one JSON value and returns it without space between its
// tokens. Numbers and escapes keep their bytes; bytes that are no UTF-8 are replaced.
// The result shares nothing with raw.
func tidy(raw []byte) (json.RawMessage, error) {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil, fmt.Errorf("agui: not JSON: %w", err)
	}
	return buf.Bytes(), nil
}

// member is one key of an object with its value, both as they were written.
type member struct {
	key   string
	raw   string // the key with its quotes and escapes
	value json.RawMessage
}

// membersOf splits a tidy object, elementsOf a tidy array.
func membersOf(raw json.RawMessage) []member {
	var all []member
	for at := 1; at < len(raw)-1; at++ {
		end := skipValue(raw, at)
		m := member{raw: string(raw[at:end]), key: textOf(raw[at:end])}
		at = end + 1
		end = skipValue(raw, at)
		m.value = raw[at:end:end]
		all = append(all, m)
		at = end
	}
	return all
}

func elementsOf(raw json.RawMessage) []json.RawMessage {
	all := []json.RawMessage{}
	for at := 1; at < len(raw)-1; at++ {
		end := skipValue(raw, at)
		all = append(all, raw[at:end:end])
		at = end
	}
	return all
}

// skipValue returns the end of the value that begins at a place of tidy JSON.
func skipValue(raw []byte, at int) int {
	depth, quoted := 0, false
	for i := at; i < len(raw); i++ {
		c := raw[i]
		if quoted {
			switch c {
			case '\\':
				i++
			case '"':
				quoted = false
			}
			continue
		}
		switch c {
		case '"':
			quoted = true
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(raw)
}

// textOf is the string that a JSON string literal stands for.
func textOf(raw []byte) string {
	if len(raw) >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// appendString appends s as a JSON string, leaving <, > and & as they are.
func appendString(out []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(out, '"'), s...), '"')
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // a string always encodes
		return append(out, `""`...)
	}
	return append(out, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// isPlain reports whether a string needs no escapes in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
