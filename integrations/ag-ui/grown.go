package agui

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// grown is text that comes in pieces. A producer that counts in UTF-16 may cut a
// character in two, half at the end of one delta and half at the beginning of the next:
// here they meet again.
type grown struct {
	text []byte
	half uint16 // of the character at the end, which stands as U+FFFD so far; 0: whole
}

// seam is what a delta's ends have of characters cut in two; 0: nothing.
type seam struct{ head, tail uint16 }

// replacement is how Go reads half a character.
const replacement = "\uFFFD"

func (g *grown) String() string { return string(g.text) }

func (g *grown) add(piece *string, ends seam) {
	text := Text(piece)
	if text == "" {
		return
	}
	if g.half != 0 && ends.head != 0 {
		whole := utf16.DecodeRune(rune(g.half), rune(ends.head))
		g.text = utf8.AppendRune(g.text[:len(g.text)-len(replacement)], whole)
		text = text[len(replacement):]
	}
	g.text = append(g.text, text...)
	g.half = ends.tail
}

// seamOf finds the halves at the ends of a JSON string.
func seamOf(raw json.RawMessage) (s seam) {
	const escape = len(`"\udc00`)
	if len(raw) <= escape {
		return s
	}
	if half := escaped(raw[1:escape]); half >= 0xdc00 && half <= 0xdfff {
		s.head = half
	}
	last := len(raw) - escape
	before := last
	for before > 0 && raw[before-1] == '\\' {
		before--
	}
	if half := escaped(raw[last : len(raw)-1]); (last-before)%2 == 0 && half >= 0xd800 && half <= 0xdbff {
		s.tail = half
	}
	return s
}

// escaped is the code of an escape such as \udc00; 0: it is none.
func escaped(raw []byte) uint16 {
	if raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	code, err := strconv.ParseUint(string(raw[2:]), 16, 16)
	if err != nil {
		return 0
	}
	return uint16(code)
}

// deltaProperty is an event's text with its ends.
func deltaProperty() eventProp {
	p := text("delta", func(e *Event) **string { return &e.Delta })
	readText, writeText := p.read, p.write
	p.read = func(r *reader, e *Event, raw json.RawMessage) string {
		code := readText(r, e, raw)
		e.ends = seam{}
		if e.Delta != nil {
			e.ends = seamOf(raw)
		}
		return code
	}
	p.write = func(e *Event) json.RawMessage {
		raw := writeText(e)
		if e.ends.head != 0 && len(raw) > len(replacement) {
			raw = append(appendEscape(json.RawMessage{'"'}, e.ends.head), raw[1+len(replacement):]...)
		}
		if e.ends.tail != 0 && len(raw) > len(replacement) {
			raw = append(appendEscape(raw[:len(raw)-1-len(replacement)], e.ends.tail), '"')
		}
		return raw
	}
	return p
}

func appendEscape(out json.RawMessage, half uint16) json.RawMessage {
	return strconv.AppendUint(append(out, `\u`...), uint64(half), 16)
}
