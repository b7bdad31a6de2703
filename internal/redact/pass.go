package redact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Allow says which finds are no secrets: those that one of the patterns matches from
// their first byte to their last. The zero value allows nothing.
type Allow []*regexp.Regexp

// NewAllow compiles patterns in Go's syntax. An error says which one is none, by its
// number, and does not show it.
func NewAllow(patterns []string) (Allow, error) {
	var all Allow
	for n, pattern := range patterns {
		re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil {
			return nil, fmt.Errorf("redact: pattern %d is no regular expression that Go knows", n+1)
		}
		all = append(all, re)
	}
	return all, nil
}

// String tells one list from another.
func (all Allow) String() string {
	var b strings.Builder
	for _, re := range all {
		b.WriteString(re.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// permits reports whether a find may stay.
func (all Allow) permits(found []byte) bool {
	for _, re := range all {
		if re.Match(found) {
			return true
		}
	}
	return false
}

// strike removes the finds that may stay.
func (all Allow) strike(text []byte, spans []span) []span {
	if len(all) == 0 {
		return spans
	}
	return slices.DeleteFunc(spans, func(s span) bool { return all.permits(text[s.from:s.to]) })
}

// Pass is the full pass. The zero value is the built-in rules and is ready to use; a
// Pass is safe for concurrent use if Found is.
type Pass struct {
	Allow Allow
	Found func(rule string) // called for each secret that is replaced; nil: nobody counts
}

// Text replaces secrets in a text.
func (p Pass) Text(s string) string {
	if len(s) < minValue {
		return s
	}
	b := []byte(s)
	spans := p.scan(b, nil)
	if len(spans) == 0 {
		return s
	}
	return string(replace(nil, b, spans))
}

// JSON replaces secrets in the strings and keys of a JSON document. The order of
// keys, the digits of numbers and the blanks stay; a document without secrets is
// returned itself. A string that is not closed, or text outside of strings, is an
// error; what else may be wrong with a document stays wrong.
func (p Pass) JSON(raw json.RawMessage) (out json.RawMessage, err error) {
	defer recoverInto(&out, &err)
	if len(raw) == 0 {
		return raw, nil
	}
	w := walker{doc: raw, index: fullIndex(), pass: p}
	if err := w.walk(); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	if w.done == 0 {
		return raw, nil
	}
	return append(w.out, raw[w.done:]...), nil
}

// Text is the built-in rules' [Pass.Text].
func Text(s string) string { return Pass{}.Text(s) }

// JSON is the built-in rules' [Pass.JSON].
func JSON(raw json.RawMessage) (json.RawMessage, error) { return Pass{}.JSON(raw) }

// scan appends the secrets in b that are replaced, and counts them.
func (p Pass) scan(b []byte, spans []span) []span {
	return p.settle(b, fullIndex().scan(b, spans))
}

// settle drops what may stay of the finds in text, and counts the rest.
func (p Pass) settle(text []byte, spans []span) []span {
	spans = p.Allow.strike(text, spans)
	if p.Found != nil {
		for _, s := range spans {
			p.Found(s.rule)
		}
	}
	return spans
}
