package agentkit

import (
	"bytes"
	"encoding/json"
)

// Slim returns the members of a JSON object that keep names and that are no longer
// than limit bytes, as an object of their own, without decoding the others: a hook's
// payload may hold megabytes of which a few fields are read. A document that it
// cannot follow comes back whole, for a decoder to judge.
func Slim(doc []byte, limit int, keep ...string) []byte {
	out := make([]byte, 0, min(len(doc), 4<<10))
	out = append(out, '{')
	ok := members(doc, func(key, value []byte) {
		if len(value) > limit || !named(key, keep) {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	})
	if !ok {
		return doc
	}
	return append(out, '}')
}

// Member returns one member's value undecoded; nil if there is none.
func Member(doc []byte, name string) json.RawMessage {
	var found json.RawMessage
	members(doc, func(key, value []byte) {
		if named(key, []string{name}) {
			found = value
		}
	})
	return found
}

// named reports whether a quoted key is one of the names. A key with escapes is none:
// no agent writes its field names so.
func named(key []byte, names []string) bool {
	inner := key[1 : len(key)-1]
	for _, name := range names {
		if string(inner) == name {
			return true
		}
	}
	return false
}

// members walks an object's members. It looks at strings and brackets only and
// reports whether the document could be followed to its end.
func members(doc []byte, visit func(key, value []byte)) bool {
	i := blanks(doc, 0)
	if i >= len(doc) || doc[i] != '{' {
		return false
	}
	i = blanks(doc, i+1)
	if i < len(doc) && doc[i] == '}' {
		return blanks(doc, i+1) == len(doc)
	}
	for {
		end := text(doc, i)
		if end < 0 {
			return false
		}
		key := doc[i:end]
		if i = blanks(doc, end); i >= len(doc) || doc[i] != ':' {
			return false
		}
		i = blanks(doc, i+1)
		if end = value(doc, i); end < 0 {
			return false
		}
		visit(key, doc[i:end])
		switch i = blanks(doc, end); {
		case i >= len(doc):
			return false
		case doc[i] == '}':
			return blanks(doc, i+1) == len(doc)
		case doc[i] != ',':
			return false
		}
		i = blanks(doc, i+1)
	}
}

func blanks(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\t' || doc[i] == '\r') {
		i++
	}
	return i
}

// text is the end of the string that begins at i; -1 if there is none.
func text(doc []byte, i int) int {
	if i >= len(doc) || doc[i] != '"' {
		return -1
	}
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			return i + 1
		case '\\':
			i++ // what is escaped
		}
	}
	return -1
}

// value is the end of the value that begins at i; -1 if there is none.
func value(doc []byte, i int) int {
	if i >= len(doc) {
		return -1
	}
	switch doc[i] {
	case '"':
		return text(doc, i)
	case '{', '[':
		depth := 0
		for i < len(doc) {
			switch doc[i] {
			case '"':
				end := text(doc, i)
				if end < 0 {
					return -1
				}
				i = end
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	start := i
	for i < len(doc) && bytes.IndexByte([]byte(" \n\t\r,}]"), doc[i]) < 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
