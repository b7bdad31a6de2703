package runtypes

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// deepest is how far arrays and objects may nest, as in encoding/json.
const deepest = 10000

// verdict is what scan finds of a JSON document.
type verdict int

const (
	invalid verdict = iota // no JSON
	dirty                  // JSON that may hold something LangSmith refuses
	clean                  // JSON that it takes as it is
)

// scan looks at every byte of a document once, since nearly all documents are
// valid and clean: it accepts what json.Valid does and calls dirty what has a
// surrogate escape, invalid UTF-8, an integer of more than 18 digits or a number that
// may be more than a double holds.
func scan(raw []byte) verdict {
	s := scanner{raw: raw, verdict: clean}
	at := s.space(s.value(s.space(0), 0))
	if at != len(raw) {
		return invalid
	}
	return s.verdict
}

// scanner's methods take the offset where something begins and return the one
// behind it, or bad. They accept bad and pass it on.
type scanner struct {
	raw     []byte
	verdict verdict
}

const bad = -1

// at is the byte at an offset, 0 at the end.
func (s *scanner) at(i int) byte {
	if uint(i) < uint(len(s.raw)) {
		return s.raw[i]
	}
	return 0
}

func (s *scanner) space(i int) int {
	if i == bad {
		return bad
	}
	for c := s.at(i); c == ' ' || c == '\n' || c == '\t' || c == '\r'; c = s.at(i) {
		i++
	}
	return i
}

func (s *scanner) value(i, depth int) int {
	switch c := s.at(i); {
	case c == '"':
		return s.text(i + 1)
	case c == '{':
		return s.object(i+1, depth+1)
	case c == '[':
		return s.array(i+1, depth+1)
	case c == '-' || isDigit(c):
		return s.number(i)
	case c == 't':
		return s.word(i, "true")
	case c == 'f':
		return s.word(i, "false")
	case c == 'n':
		return s.word(i, "null")
	}
	return bad
}

func (s *scanner) word(i int, word string) int {
	if end := i + len(word); end <= len(s.raw) && string(s.raw[i:end]) == word {
		return end
	}
	return bad
}

func (s *scanner) array(i, depth int) int {
	if depth > deepest {
		return bad
	}
	if i = s.space(i); s.at(i) == ']' {
		return i + 1
	}
	for {
		i = s.space(s.value(i, depth))
		switch s.at(i) {
		case ',':
			i = s.space(i + 1)
		case ']':
			return i + 1
		default:
			return bad
		}
	}
}

func (s *scanner) object(i, depth int) int {
	if depth > deepest {
		return bad
	}
	if i = s.space(i); s.at(i) == '}' {
		return i + 1
	}
	for {
		if s.at(i) != '"' {
			return bad
		}
		if i = s.space(s.text(i + 1)); s.at(i) != ':' {
			return bad
		}
		i = s.space(s.value(s.space(i+1), depth))
		switch s.at(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			return i + 1
		default:
			return bad
		}
	}
}

func (s *scanner) number(i int) int {
	if s.at(i) == '-' {
		i++
	}
	from := i
	if i = s.digits(i); i == bad || i > from+1 && s.raw[from] == '0' {
		return bad
	}
	whole := i - from
	if s.at(i) == '.' {
		whole, i = 0, s.digits(i+1)
	}
	if c := s.at(i); c == 'e' || c == 'E' {
		if c = s.at(i + 1); c == '+' || c == '-' {
			i++
		}
		exponent := i + 1
		whole, i = 0, s.digits(exponent)
		if i > exponent+2 {
			s.verdict = dirty
		}
	}
	if whole > 18 || i > from+200 {
		s.verdict = dirty
	}
	return i
}

// digits wants one at least.
func (s *scanner) digits(i int) int {
	from := i
	for isDigit(s.at(i)) {
		i++
	}
	if i == from {
		return bad
	}
	return i
}

// text is a string behind its opening quote.
func (s *scanner) text(i int) int {
	for raw := s.raw; i < len(raw); {
		if i+8 <= len(raw) {
			special := specials(binary.LittleEndian.Uint64(raw[i:]))
			if special == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(special) / 8
		}
		switch c := raw[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			if i = s.escape(i + 1); i == bad {
				return bad
			}
		case c < ' ':
			return bad
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && size == 1 {
				s.verdict = dirty
			}
			i += size
		}
	}
	return bad
}

// escape is what follows a backslash.
func (s *scanner) escape(i int) int {
	switch s.at(i) {
	case 'n', '"', 't', '\\', '/', 'b', 'f', 'r':
		return i + 1
	case 'u':
		for k := 1; k <= 4; k++ {
			if !isHex(s.at(i + k)) {
				return bad
			}
		}
		if s.raw[i+1]|0x20 == 'd' {
			s.verdict = dirty // half a pair of surrogates, or a pair
		}
		return i + 5
	}
	return bad
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// specials looks at eight bytes of a string at once. It has the high bit set in
// the first that is not plain, printable ASCII other than the quote and the
// backslash; what it says of the bytes behind that one is of no use.
func specials(x uint64) uint64 {
	control := x - ' '*ones
	quote := x ^ '"'*ones
	backslash := x ^ '\\'*ones
	return (control&^x | (quote-ones)&^quote | (backslash-ones)&^backslash | x) & highs
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
