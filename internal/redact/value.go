package redact

import "bytes"

const (
	// minValue is the shortest value that counts as a secret.
	minValue = 6
	// maxValue bounds what is looked at before a value is judged. One that is
	// found to be a secret is replaced to its end, however long.
	maxValue = 4 << 10
)

// place is where a value stands.
type place struct {
	name   int    // where the sensitive name begins
	op     string // what gives the value: = : := == => flag
	spaced bool   // there are blanks before the operator
	within byte   // the quote that the name stands in and that ends it not: "PWD=" + dir
	weak   bool   // the name is also used for what is no secret: token, key
}

// value finds the secret that begins at at, after the operator.
func value(b []byte, p place, at int) (int, int) {
	start := skip(b, at, maxBlanks, isBlank)
	p.spaced = p.spaced || start > at
	start = afterScheme(b, start)
	open, quote := opening(b, start)
	if quote != 0 {
		if quote == p.within && open == at+1 {
			return 0, 0
		}
		end := quoted(b, open, quote, open-start-1)
		if end-open == maxValue {
			end = wordEnd(b, end)
		}
		if !secretText(b[open:end], p.weak) {
			return 0, 0
		}
		return open, end
	}
	end := unquoted(b, start)
	if next, ok := annotated(b, start, end, p); ok {
		return value(b, place{name: p.name, op: "=", spaced: true, weak: p.weak}, next)
	}
	raw := b[start:end]
	trimmed := bytes.TrimRight(raw, ",)]}>.:")
	if !secretText(trimmed, p.weak) || expression(b, p, start, raw, trimmed) {
		return 0, 0
	}
	if end-start == maxValue {
		return start, wordEnd(b, end)
	}
	return start, start + len(trimmed)
}

// opening steps over an opening quote, which backslashes may escape and a letter
// may precede (b"…" in Python). quote is 0 if there is none.
func opening(b []byte, at int) (int, byte) {
	i := at
	if i+1 < len(b) && (b[i] == 'b' || b[i] == 'r' || b[i] == 'u' || b[i] == '@') && isQuote(b[i+1]) {
		i++
	}
	i = skip(b, i, 8, func(c byte) bool { return c == '\\' })
	if i < len(b) && isQuote(b[i]) {
		return i + 1, b[i]
	}
	return at, 0
}

// quoted returns where the text in quotes ends. escapes is how many backslashes
// stand before the opening quote: the closing one has as many, and one within has
// more.
func quoted(b []byte, from int, quote byte, escapes int) int {
	limit := min(len(b), from+maxValue)
	slashes, blank := 0, -1
	for i := from; i < limit; i++ {
		switch c := b[i]; {
		case c == '\\':
			slashes++
			continue
		case c == quote && slashes <= escapes:
			return i - slashes
		case c == '\n' || c == '\r':
			limit = i
		case isBlank(c) && blank < 0:
			blank = i
		}
		slashes = 0
	}
	if blank >= 0 {
		return blank // it is never closed: the quote means nothing
	}
	return limit
}

// unquoted returns where a bare value ends.
func unquoted(b []byte, from int) int {
	limit := min(len(b), from+maxValue)
	for i := from; i < limit; i++ {
		switch c := b[i]; {
		case isSpace(c) || isQuote(c) || c == '&' || c == ';' || c == '<' || c == '|':
			return i
		case c == '\\' && i+1 < len(b) && bytes.IndexByte([]byte(`nrt"'\`), b[i+1]) >= 0:
			return i
		}
	}
	return limit
}

// wordEnd returns where the run of bytes without a blank or quote ends.
func wordEnd(b []byte, from int) int {
	for from < len(b) && !isSpace(b[from]) && !isQuote(b[from]) && b[from] != '\\' {
		from++
	}
	return from
}

// annotated reports whether what follows the name is its type and the value comes
// later: password: string = "…".
func annotated(b []byte, start, end int, p place) (int, bool) {
	if p.op != ":" || end == start || !identifier(b[start:end]) {
		return 0, false
	}
	next := skip(b, end, maxBlanks, isBlank)
	if next == end || next >= len(b) || b[next] != '=' || bytes.HasPrefix(b[next:], []byte("==")) {
		return 0, false
	}
	return next + 1, true
}
