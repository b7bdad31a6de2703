package redact

import (
	"fmt"
	"slices"
)

// Fast is the built-in rules' [Pass.Fast].
func Fast(doc []byte) ([]byte, error) { return Pass{}.Fast(doc) }

// Fast replaces prefix-shaped tokens in the strings of a JSON document. What is
// around them stays as it is, byte for byte; a document without any is returned
// itself. It does not decode: a token that the document spells with escapes is
// left to the full pass. A string that is not closed is an error.
func (p Pass) Fast(doc []byte) (out []byte, err error) {
	defer recoverInto(&out, &err)
	x := fastIndex()
	done := 0 // what of doc is in out
	var spans []span
	for at := 0; ; {
		from, to, escaped, err := literal(doc, at)
		if err != nil {
			return nil, fmt.Errorf("redact: %w", err)
		}
		if from < 0 {
			break
		}
		at = to + 1
		if to-from < minValue {
			continue
		}
		text := doc[from:to]
		spans = x.scan(text, spans[:0])
		if escaped {
			spans = slices.DeleteFunc(spans, func(s span) bool { return inEscape(text, s.from) })
		}
		if spans = p.settle(text, spans); len(spans) > 0 {
			out = append(out, doc[done:from]...)
			out = replace(out, text, spans)
			done = to
		}
	}
	if done == 0 {
		return doc, nil
	}
	return append(out, doc[done:]...), nil
}

// inEscape reports whether text[at] is the letter of an escape sequence: the npm_
// in \npm_ is a line end and pm_.
func inEscape(text []byte, at int) bool {
	slashes := 0
	for at > slashes && text[at-slashes-1] == '\\' {
		slashes++
	}
	return slashes%2 == 1
}

// recoverInto turns a panic into an error, and lets nothing out beside it.
func recoverInto[T any](out *T, err *error) {
	if cause := recover(); cause != nil {
		var none T
		// The cause may quote the text: say its type only.
		*out, *err = none, fmt.Errorf("redact: panic: %T", cause)
	}
}
