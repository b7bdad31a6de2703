package redact

import "bytes"

// scalar steps over what YAML may have before a value: an anchor, a tag.
func scalar(b []byte, at int) int {
	for at+1 < len(b) && (b[at] == '&' && isWord(b[at+1]) || b[at] == '!' && (b[at+1] == '!' || isLower(b[at+1]))) {
		end := skip(b, at+1, maxName, func(c byte) bool { return isWord(c) || c == '!' || c == '-' })
		next := skip(b, end, maxBlanks, isBlank)
		if next == end || next == len(b) || b[next] == '=' { // a type of Rust
			return at
		}
		at = next
	}
	return at
}

// block finds the value that a YAML file has in the lines below the name: as a block,
// after | or >, or as the items of a list.
func block(b []byte, p place, start int) (from, to int) {
	at := start
	items := true
	if at < len(b) && (b[at] == '|' || b[at] == '>') {
		items = false
		at = skip(b, at+1, 2, func(c byte) bool { return c == '+' || c == '-' || isDigit(c) })
	}
	at = skip(b, skip(b, at, maxBlanks, isBlank), 1, func(c byte) bool { return c == '\r' })
	if at >= len(b) || b[at] != '\n' {
		return 0, 0
	}
	outer, _ := indentation(b, lineStart(b, p.name))
	limit := min(len(b), at+maxValue)
	for line := at + 1; line < limit; line = nextLine(b, line) {
		indent, open := indentation(b, line)
		end := lineEnd(b, open)
		text := bytes.TrimRight(b[open:min(end, open+maxValue)], " \t\r")
		if items {
			rest, ok := bytes.CutPrefix(text, []byte("- "))
			if !ok || indent < outer {
				break
			}
			open, text = open+2, rest
			if q, quote := opening(b, open); quote.char != 0 {
				open = q
				text = b[q:quoted(b, q, quote)]
			}
		} else if indent <= outer || len(text) == 0 {
			break
		}
		if !secretText(text, p.how) || spaced(text) || items && !literalItem(b, p, text) && !(p.how == strong && random(text)) {
			break
		}
		if to == 0 {
			from = open
		}
		to = open + len(text)
	}
	return from, to
}

// passwords reports whether a text of many words in an environment file is a
// passphrase for all the words it has that sentences have: one of them is drawn.
func passwords(v []byte) bool {
	if !spaced(v) || len(v) > maxBare {
		return false
	}
	for _, word := range bytes.Fields(v) {
		if len(word) >= minValue && telling(word, strong) && !reference(word) {
			return true
		}
	}
	return false
}

// encoded finds the value in a query that is itself a parameter of a URL:
// ?next=%2F%3Ftoken%3D….
func encoded(b []byte, p place, start int) (int, int) {
	end := unquoted(b, start)
	for _, next := range [...]string{"%26", "%23"} {
		if cut := bytes.Index(b[start:end], []byte(next)); cut >= 0 {
			end = start + cut
		}
	}
	if v := b[start:end]; !secretText(v, p.how) || !random(v) {
		return 0, 0
	}
	return start, end
}
