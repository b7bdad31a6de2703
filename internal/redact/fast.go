package redact

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Fast replaces prefix-shaped tokens in the strings of a JSON document. What is
// around them stays as it is, byte for byte; a document without any is returned
// itself. It does not decode: a token that the document spells with escapes is
// left to the full pass.
func Fast(doc []byte) (out []byte, err error) {
	defer recoverInto(&out, &err)
	x := fastIndex()
	done := 0 // what of doc is in out
	var spans []span
	for at := 0; ; {
		from, to, _, err := literal(doc, at)
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
		if spans = x.scan(doc[from:to], spans[:0]); len(spans) > 0 {
			out = append(out, doc[done:from]...)
			out = replace(out, doc[from:to], spans)
			done = to
		}
	}
	if done == 0 {
		return doc, nil
	}
	out = append(out, doc[done:]...)
	if !json.Valid(out) {
		return nil, errors.New("redact: not valid JSON")
	}
	return out, nil
}

// recoverInto turns a panic into an error, and lets nothing out beside it.
func recoverInto[T any](out *T, err *error) {
	if cause := recover(); cause != nil {
		var none T
		// The cause may quote the text: say its type only.
		*out, *err = none, fmt.Errorf("redact: panic: %T", cause)
	}
}
