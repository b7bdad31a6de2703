package redact

import (
	"bytes"
	"encoding/json"
	"errors"
)

// walker goes through the string literals of a document from left to right. It
// keeps no tree: what is between two literals tells a key from a value.
type walker struct {
	doc   []byte
	index *index
	pass  Pass
	out   []byte
	done  int // what of doc is in out

	depth int     // how many documents this one is in
	inner []byte  // the document in the literal, without its secrets; nil: none, or none there
	text  []byte  // scratch: the decoded literal
	spans []span  // scratch
	next  int     // where the document goes on after the literal and blanks
	rule  verdict // of the value that comes next: what its key says
	label bool    // the value that comes next is a name

	frame          // what is open at this place
	outer  []frame // what is open around it
	deeper int     // how much more is open
}

func (w *walker) walk() error {
	for at := 0; ; {
		from, to, escaped, err := literal(w.doc, at)
		if err != nil {
			return err
		}
		if from < 0 {
			return w.between(at, len(w.doc))
		}
		if err := w.between(at, from-1); err != nil {
			return err
		}
		at = to + 1
		text := w.doc[from:to]
		if escaped {
			w.text = unescape(w.text[:0], text)
			text = w.text
		}
		w.next = skip(w.doc, at, len(w.doc), isSpace)
		if w.next < len(w.doc) && w.doc[w.next] == ':' {
			w.spans = w.index.scan(text, w.spans[:0])
			w.key(text)
		} else {
			w.value(text, escaped)
			if w.inner != nil {
				text, w.spans = w.inner, w.spans[:0]
				if err := w.write(from, to, text, true); err != nil {
					return err
				}
				continue
			}
		}
		if w.spans = w.pass.settle(text, w.spans); len(w.spans) == 0 {
			continue
		}
		if err := w.write(from, to, text, escaped); err != nil {
			return err
		}
	}
}

// between looks at what stands between two strings, where no text may be: it opens
// and closes objects and lists, and there are numbers.
func (w *walker) between(from, to int) error {
	for at := from; at < to; at++ {
		switch c := w.doc[at]; {
		case c == '{':
			w.open(frame{named: w.rule, holder: w.rule})
			w.rule = verdict{}
		case c == '[':
			w.open(frame{list: true, rule: w.rule})
		case c == '}' || c == ']':
			w.close()
		case isDigit(c):
			end := skip(w.doc[:to], at, to, isBare)
			w.number(at, end)
			at = end - 1
		case isBare(c) || c == '[' || c == ':' || c == ',' || isSpace(c):
		default:
			return errBare
		}
	}
	return nil
}

var errBare = errors.New("text outside of a string")

// isBare reports whether c is of the bytes of numbers, true, false and null.
func isBare(c byte) bool {
	switch c {
	case '+', '-', '.', 'E', 't', 'r', 'u', 'e', 'f', 'a', 'l', 's', 'n':
		return true
	}
	return isDigit(c)
}

// number replaces the number doc[from:to] if its key says that it is a secret.
func (w *walker) number(from, to int) {
	v := w.doc[from:to]
	if w.rule.how < weak || from > 0 && w.doc[from-1] == '-' || !digits(v) || !secretText(v, w.rule.how) {
		return
	}
	spans := w.pass.settle(v, []span{{0, len(v), w.rule.rule}})
	if len(spans) == 0 {
		return
	}
	w.out = append(w.out, w.doc[w.done:from]...)
	w.out = append(w.out, '"')
	w.out = replace(w.out, v, spans)
	w.out = append(w.out, '"')
	w.done = to
}

// key notes what the key says of the value that follows.
func (w *walker) key(text []byte) {
	w.label = false
	switch string(text) {
	case "name", "key", "Name", "Key":
		w.label, w.rule = true, verdict{}
		return
	}
	if w.rule = w.told(text); w.rule.how != none {
		return
	}
	if w.rule = w.judge(text); w.rule.how != none || w.rule.vendor != nil {
		return
	}
	if is(valueWord, text) {
		w.rule = w.named
	} else if w.holder.how != none && !is(innocent, text) {
		w.rule = verdict{rule: w.holder.rule, how: faint}
	}
}

// judge says what a name is worth, a header's too.
func (w *walker) judge(name []byte) verdict {
	if isHeader(name) {
		return verdict{rule: authHeader, how: weak}
	}
	if isCookie(name) {
		return verdict{rule: cookieRule, how: weak}
	}
	return w.index.sensitive(name)
}

// value finds the secrets in a value: all of it if its key says so, or the argument
// before it.
func (w *walker) value(text []byte, escaped bool) {
	w.spans, w.inner = w.spans[:0], nil
	if w.label {
		w.label = false
		w.named = w.judge(text)
	}
	if from, rule, ok := w.argument(text); ok {
		w.spans = append(w.spans, span{from, len(text), precise(text[from:], rule)})
		return
	}
	switch {
	case w.rule.vendor != nil:
		if name, ok := w.rule.vendor.knows(text); ok {
			w.spans = append(w.spans, span{0, len(text), name})
			return
		}
	case w.rule.how == none:
	case w.rule.rule == authHeader:
		if from, to := credential(text, 0); to > from {
			w.spans = append(w.spans, span{from, to, precise(text[from:to], authHeader)})
			return
		}
	case w.rule.rule == cookieRule:
		if w.spans = crumbs(text, 0, w.spans); len(w.spans) > 0 {
			return
		}
	case w.rule.how == data:
		if w.spans = dataValue(text, 0, len(text), w.spans); len(w.spans) > 0 {
			return
		}
	case secretText(text, w.rule.how):
		from := afterScheme(text, 0)
		w.spans = append(w.spans, span{from, len(text), precise(text[from:], w.rule.rule)})
		return
	}
	if !escaped || !w.document(text) {
		w.spans = w.index.scan(text, w.spans)
	}
}

// maxNested bounds how deep documents within strings are looked through as such.
const maxNested = 4

// document looks through a string that holds a JSON document, and reports whether it
// does.
func (w *walker) document(text []byte) bool {
	start := skip(text, 0, len(text), isSpace)
	if start == len(text) || text[start] != '{' && text[start] != '[' || w.depth == maxNested || !json.Valid(text) {
		return false
	}
	in := walker{doc: text, index: w.index, pass: w.pass, depth: w.depth + 1}
	if in.walk() != nil {
		return false
	}
	if in.done > 0 {
		in.out = append(in.out, text[in.done:]...)
		w.inner = in.out
	}
	return true
}

// write copies the document up to the literal doc[from:to], and the literal with
// its markers.
func (w *walker) write(from, to int, text []byte, escaped bool) error {
	w.out = append(w.out, w.doc[w.done:from]...)
	w.done = to
	if !escaped {
		w.out = replace(w.out, text, w.spans)
		return nil
	}
	var err error
	w.out, err = appendLiteral(w.out, replace(nil, text, w.spans))
	return err
}

// authHeader is the rule for the credential of an authorization header.
const authHeader = "auth-header"

func isHeader(name []byte) bool {
	return bytes.EqualFold(name, []byte("authorization")) || bytes.EqualFold(name, []byte("proxy-authorization"))
}
