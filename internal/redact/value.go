package redact

import "bytes"

const (
	// minValue is the shortest value that counts as a secret.
	minValue = 6
	// maxValue and maxBare bound what is looked at, in quotes and without, before a
	// value is judged. One that is found to be a secret is replaced to its end,
	// however long.
	maxValue = 4 << 10
	maxBare  = 128
)

// place is where a value stands.
type place struct {
	name   int    // where the sensitive name begins
	op     string // what gives the value: = : := == => flag
	spaced bool   // there are blanks before the operator
	within byte   // the quote that the name stands in and that ends it not: "PWD=" + dir
	how    trust  // what the name is worth
	inner  bool   // the value is a member of the object that was given to the name
}

// value finds the secret that begins at at, after the operator.
func value(b []byte, p place, at int) (int, int) {
	start := skip(b, at, maxBlanks, isBlank)
	p.spaced = p.spaced || start > at
	if next := colour(b, start); next > start {
		start = skip(b, next, maxBlanks, isBlank)
	}
	for _, entity := range [...]string{"&quot;", "&#34;", "&#39;"} {
		start = len(b) - len(bytes.TrimPrefix(b[start:], []byte(entity)))
	}
	if p.op == ":" {
		start = scalar(b, start)
		if from, to := block(b, p, start); to > from {
			return from, to
		}
	}
	if p.op == "%3D" || p.op == "%3d" {
		return encoded(b, p, start)
	}
	start = afterScheme(b, start)
	if open, quote := opening(b, start); quote.char != 0 {
		if quote.char == p.within && open == at+1 {
			return 0, 0
		}
		end := quoted(b, open, quote)
		v := b[open:end]
		if p.op == "=" && !p.spaced && p.how == strong && shouted(b, p.name) && passwords(v) {
			return open, end
		}
		if (p.op == "||" || p.op == "??") && (spaced(v) || !random(v)) {
			return 0, 0
		}
		if !secretText(v, p.how) || quote.triple && (spaced(v) || end < len(b) && isBlank(b[end])) {
			return 0, 0
		}
		if len(v) == maxValue {
			end = wordEnd(b, end)
		}
		return open, end
	}
	if p.op == "||" || p.op == "??" {
		return 0, 0 // code
	}
	if bytes.HasPrefix(b[start:], []byte("[[")) && !bytes.HasPrefix(b[start+1:], []byte(markerStart)) { // Lua
		if end := start + 2 + max(0, bytes.Index(b[start+2:min(len(b), start+maxValue)], []byte("]]"))); secretText(b[start+2:end], p.how) && !spaced(b[start+2:end]) {
			return start + 2, end
		}
	}
	if start < len(b) && (b[start] == '(' || b[start] == '[') {
		if from, to := listed(b, p, start+1); to > from {
			return from, to
		}
	}
	if start < len(b) && b[start] == '{' && !p.inner {
		if from, to := member(b, p, start+1); to > from {
			return from, to
		}
	}
	return bare(b, p, start)
}

// bare judges a value without quotes.
func bare(b []byte, p place, start int) (int, int) {
	end := unquoted(b, start)
	if next, ok := annotated(b, start, end, p); ok {
		return value(b, place{name: p.name, op: "=", spaced: true, how: p.how}, next)
	}
	raw := b[start:end]
	trimmed := bytes.TrimRight(raw, ",)]}>.:")
	if template(trimmed) && bytes.HasPrefix(raw[len(trimmed):], []byte("}")) && bytes.Count(trimmed, []byte("{")) > bytes.Count(trimmed, []byte("}")) {
		trimmed = raw[:len(trimmed)+1] // password=x${SUFFIX}
	}
	how := p.how
	if how == likely && p.op != "flag" && (p.op != "=" || p.spaced) {
		how = faint // pass: 12 of 14
	}
	if !secretText(trimmed, how) || expression(b, p, start, raw, trimmed) {
		return 0, 0
	}
	if len(raw) == maxBare {
		return start, wordEnd(b, end)
	}
	return start, start + len(trimmed)
}

// quote is how a value is quoted.
type quote struct {
	char    byte // 0: not at all
	escapes int  // backslashes before it: text within text
	triple  bool // """…"""
}

// maxEscapes bounds the backslashes before a quote.
const maxEscapes = 8

// opening steps over an opening quote, which backslashes may escape and a letter
// may precede (b"…" in Python).
func opening(b []byte, at int) (int, quote) {
	i := at
	if i+1 < len(b) && (b[i] == 'b' || b[i] == 'r' || b[i] == 'u' || b[i] == '@') && isQuote(b[i+1]) {
		i++
	}
	end := skip(b, i, maxEscapes, func(c byte) bool { return c == '\\' })
	if end == len(b) || !isQuote(b[end]) {
		return at, quote{}
	}
	q := quote{char: b[end], escapes: end - i}
	again := b[i : end+1]
	if end++; bytes.HasPrefix(b[end:], again) && bytes.HasPrefix(b[end+len(again):], again) {
		q.triple = true
		end = skip(b, end+2*len(again), maxBlanks, isSpace)
	}
	return end, q
}

// quoted returns where the text in quotes ends. The closing quote has as many
// backslashes before it as the opening one, and one within has more.
func quoted(b []byte, from int, q quote) int {
	limit := min(len(b), from+maxValue)
	slashes, blank := 0, -1
	for i := from; i < limit; i++ {
		switch c := b[i]; {
		case c == '\\':
			slashes++
			continue
		case c == q.char && slashes <= q.escapes:
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
	limit := min(len(b), from+maxBare)
	for i := from; i < limit; i++ {
		switch c := b[i]; {
		case c == 0x1b || isSpace(c) || isQuote(c) || c == '&' || c == ';' || c == '<' || c == '|':
			return i
		case c == '\\' && i+1 < len(b) && (bytes.IndexByte([]byte(`nrt"'\`), b[i+1]) >= 0 || colour(b, i) > i):
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
	if p.op == ":" && start < len(b) && (b[start] == '&' || b[start] == '[') { // &'static str
		end = skip(b, start, maxName, func(c byte) bool { return isWord(c) || bytes.IndexByte([]byte("&'[];: "), c) >= 0 })
		for end > start && isBlank(b[end-1]) {
			end--
		}
		if kind := b[start:end]; !bytes.HasSuffix(kind, []byte("str")) && !bytes.HasSuffix(kind, []byte("]")) {
			return 0, false
		}
	} else if kind := bytes.TrimRight(b[start:end], ">?[]!"); p.op != ":" || end == start || !identifier(kind) && !bytes.HasPrefix(kind, []byte("Option<")) {
		return 0, false
	}
	next := skip(b, end, maxBlanks, isBlank)
	if next == end || next >= len(b) || b[next] != '=' || bytes.HasPrefix(b[next:], []byte("==")) {
		return 0, false
	}
	return next + 1, true
}
