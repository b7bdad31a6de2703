package redact

import (
	"bytes"
	"slices"
)

// maxGap bounds the line breaks and blanks between a bracket and what it holds.
const maxGap = 64

// listed finds the secrets in brackets: password=("a", "b"), passwords: [a, b]. From
// the first to the last they are replaced as one. at is after the bracket.
func listed(b []byte, p place, at int) (from, to int) {
	limit := min(len(b), at+maxValue)
	for at < limit {
		at = skip(b, at, maxGap, isSpace)
		open, quote := opening(b, at)
		end, secret := 0, false
		if quote.char != 0 {
			end = quoted(b, open, quote)
			secret = secretText(b[open:end], p.how) && (p.how == strong || random(b[open:end]))
			at = skip(b, end, maxEscapes, func(c byte) bool { return c == '\\' })
			at = skip(b, at, 1, isQuote)
		} else {
			end = skip(b, open, maxBare, inItem)
			at = end
			if secret = literalItem(b, p, b[open:end]); !secret {
				break // code
			}
		}
		if secret && to == 0 {
			from = open
		}
		if secret {
			to = end
		}
		next := skip(b, at, maxGap, isSpace)
		next = skip(b, next, 1, func(c byte) bool { return c == ',' })
		if next == at {
			break
		}
		at = next
	}
	return from, to
}

// inItem reports whether c may stand in an item of a list that is not in quotes.
func inItem(c byte) bool {
	switch c {
	case ',', '(', ')', '[', ']', '{', '}', ';', '=', '\\', '<', '>', '&', '|':
		return false
	}
	return !isSpace(c) && !isQuote(c)
}

// literalItem reports whether an item without quotes is a secret. It is where only
// a shell would write it, or where it looks drawn.
func literalItem(b []byte, p place, v []byte) bool {
	if !secretText(v, p.how) || mentions(v) || bytes.ContainsAny(v, ".$") {
		return false
	}
	return drawn(v) || p.how == strong && p.op == "=" && !p.spaced && shouted(b, p.name) && random(v)
}

// member finds the value in an object that was given to a sensitive name:
// "secret": {"value": "…"}. at is after the brace.
func member(b []byte, p place, at int) (int, int) {
	at, ok := valueKey(b, at)
	if !ok {
		return 0, 0
	}
	start := at
	at, op := operator(b, closing(b, at))
	if op != ":" && op != "=" && op != "=>" {
		return 0, 0
	}
	return value(b, place{name: start - gram, op: op, how: p.how, inner: true}, at)
}

// valueKey steps over the name of what holds a value, which a quote may precede.
func valueKey(b []byte, at int) (int, bool) {
	at = skip(b, at, maxGap, isSpace)
	if at > 0 && at < len(b) && b[at-1] == '\n' && (b[at] == '+' || b[at] == '-') { // a diff
		at = skip(b, at+1, maxGap, isBlank)
	}
	at, _ = opening(b, at)
	end := skip(b, at, maxWord, isWord)
	return end, is(valueWord, b[at:end])
}

// unassigned finds the value of a sensitive name that no operator follows. shut is
// after the quote that closes the name, if one does.
func unassigned(b []byte, n name, shut int) (int, int) {
	if from, to := element(b, n, shut); to > from {
		return from, to
	}
	if from, to := sentence(b, n, shut); to > from {
		return from, to
	}
	if from, to := login(b, n); to > from {
		return from, to
	}
	next := skip(b, shut, maxGap, isSpace)
	next = skip(b, next, 1, func(c byte) bool { return c == ',' })
	if next == shut {
		return 0, 0
	}
	next = skip(b, next, maxGap, isSpace)
	if shut > n.end && (b[n.start] == '-' || called(b, n)) {
		return argument(b, n, next)
	}
	if labelled(b, n.start) {
		return member(b, place{how: n.how}, next)
	}
	return 0, 0
}

// argument finds the value of a flag in a list of arguments, which at begins:
// ["--password", "…"]. A name there is the program's own.
func argument(b []byte, n name, at int) (int, int) {
	open, quote := opening(b, at)
	if quote.char == 0 {
		return 0, 0
	}
	end := quoted(b, open, quote)
	v := b[open:end]
	if called(b, n) && n.how < strong && !drawn(v) {
		return 0, 0 // t.Run("token", "case 12")
	}
	if !secretText(v, n.how) || v[0] == '-' || !random(v) || spaced(v) || identifier(v) && mentions(v) {
		return 0, 0
	}
	return open, end
}

// called reports whether the name in quotes is the first argument of a call:
// setenv("API_KEY", "…").
func called(b []byte, n name) bool {
	start := nameStart(b, n.from)
	for start > 0 && (b[start-1] == '.' || isWord(b[start-1])) && n.from-start < maxName {
		start-- // db.password
	}
	if start == 0 || !isQuote(b[start-1]) {
		return false
	}
	for start--; start > 0 && b[start-1] == '\\'; {
		start--
	}
	return start > 0 && b[start-1] == '('
}

// labelled reports whether what begins at start is itself a value, a name that is
// given to something: name: DB_PASSWORD.
func labelled(b []byte, start int) bool {
	for n := 0; start > 0 && n < maxBlanks && (isQuote(b[start-1]) || isBlank(b[start-1]) || b[start-1] == '\\'); n++ {
		start--
	}
	return start > 0 && (b[start-1] == ':' || b[start-1] == '=')
}

// maxLogin bounds what stands before the password of a .netrc file's entry.
const maxLogin = 128

// login finds the password in an entry of a .netrc file: machine h login u password
// p. "login with password …" is a sentence unless the rest says otherwise.
func login(b []byte, n name) (int, int) {
	if !bytes.EqualFold(b[n.start:n.end], []byte("password")) || n.end == len(b) || !isSpace(b[n.end]) {
		return 0, 0
	}
	before := b[max(0, n.start-maxLogin):n.start]
	if !bytes.Contains(before, []byte("login")) && !bytes.Contains(before, []byte("machine")) {
		return 0, 0
	}
	from := skip(b, n.end, maxGap, isSpace)
	to := unquoted(b, from)
	words := slices.DeleteFunc(bytes.Fields(before), func(word []byte) bool { return string(word) == "+" || string(word) == "-" }) // of a diff
	word := func(back int) string {
		if back > len(words) {
			return ""
		}
		return string(words[len(words)-back])
	}
	if word(2) != "login" && word(2) != "machine" {
		return 0, 0
	}
	v := b[from:to]
	if !secretText(v, strong) || !random(v) && word(2) != "machine" && word(4) != "machine" && word(3) != "default" {
		return 0, 0
	}
	return from, to
}
