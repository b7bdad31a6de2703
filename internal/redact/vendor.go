package redact

import (
	"math"
	"regexp"
)

const (
	// maxAfter bounds what follows a vendor's name within the name of a value.
	maxAfter = 20
	// maxShape bounds a value that is known by its look.
	maxShape = 256
)

// vendorValue finds the value that is given to the name with the vendor's word
// b[from:to] in it, and the rule that knows its look.
func vendorValue(v vendor, b []byte, to int) span {
	end := skip(b, to, maxAfter, inVendorName)
	if ofDigest(b[to:end]) {
		return span{}
	}
	at := skip(b, end, maxEscapes, isCloser)
	op := skip(b, at, 3, isGiver)
	if op == at {
		return span{}
	}
	from := skip(b, op, maxEscapes, func(c byte) bool { return isSpace(c) || isCloser(c) || c == '=' || c == '>' })
	to = skip(b, from, maxShape, inShape)
	for to > from && (b[to-1] == '.' || b[to-1] == ':') {
		to--
	}
	name, ok := v.knows(b[from:to])
	if !ok {
		return span{}
	}
	return span{from, to, name}
}

// knows returns the rule whose values look like text.
func (v vendor) knows(text []byte) (string, bool) {
	if !drawn(text) {
		return "", false
	}
	for _, s := range v {
		s.once.Do(func() { s.whole = regexp.MustCompile(`^(?:` + s.pattern + `)$`) })
		if s.whole.Match(text) && entropy(text) >= s.entropy {
			return s.name, true
		}
	}
	return "", false
}

func inVendorName(c byte) bool { return isWord(c) || isBlank(c) || c == '.' || c == '-' }
func isCloser(c byte) bool     { return isQuote(c) || c == '\\' || c == ']' }
func isGiver(c byte) bool {
	return c == '=' || c == ':' || c == '>' || c == ',' || c == '|' || c == '?'
}

// inShape reports whether c may stand in a value that is known by its look.
func inShape(c byte) bool { return isToken(c) || c == '=' || c == '%' }

// ofDigest reports whether a name is that of a checksum or a version: they look drawn
// and are no secrets.
func ofDigest(name []byte) bool {
	for start := 0; start < len(name); {
		end := skip(name, start, len(name), isAlnum)
		if is(digestWord, name[start:end]) {
			return true
		}
		start = end + 1
	}
	return false
}

// entropy is Shannon's, in bits for each byte.
func entropy(text []byte) float64 {
	var counts [256]int
	for _, c := range text {
		counts[c]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
