package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Bounds of a run that is shown.
const (
	maxText   = 64 << 10 // bytes of one text
	maxRun    = 4 << 20  // bytes of all its texts
	leastText = 256      // bytes of a text where nothing is left of that
	maxDepth  = 200      // of what is nested: more is cut
)

// shortener cuts long texts in decoded JSON. A text that was cut becomes an object:
// {"…": BYTES, "text": "its beginning"}, BYTES being the size of the whole.
type shortener struct {
	text  int // bytes that are kept of one
	all   int // bytes that are kept of all together
	depth int
}

// value returns v cut; what needs no cut is returned as it is.
func (s *shortener) value(v any) any {
	s.depth++
	defer func() { s.depth-- }()
	switch v := v.(type) {
	case string:
		return s.string(v)
	case []any:
		if s.depth > maxDepth {
			return marker(len(v), "[…]")
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.value(v[i])
		}
		return out
	case map[string]any:
		if s.depth > maxDepth {
			return marker(len(v), "{…}")
		}
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[cut(key, s.text)] = s.value(v[key])
		}
		return out
	}
	return v
}

func (s *shortener) string(text string) any {
	most := min(s.text, max(s.all, leastText))
	if len(text) <= most {
		s.all -= len(text)
		return text
	}
	s.all -= most
	return marker(len(text), cut(text, most))
}

func marker(size int, text string) map[string]any { return map[string]any{"…": size, "text": text} }

// cut takes the beginning of a text, between characters.
func cut(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// decoded is v as JSON reads it back, numbers as they are written.
func decoded(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decode(text)
}

func decode(raw json.RawMessage) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func indented(raw json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	err := json.Indent(&out, raw, "", "  ")
	return out.Bytes(), err
}
