package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Text decodes a string; ok is false for any other value.
func (t *Tree) Text(n *Node) (s string, ok bool) {
	if n == nil || t.text[n.start] != '"' {
		return "", false
	}
	return s, json.Unmarshal(t.text[n.start:n.end], &s) == nil
}

// Insert returns the text with a value added at the end of an object, under key,
// or of an array. It is laid out like its neighbours.
func (t *Tree) Insert(into *Node, key string, value any) ([]byte, error) {
	if into.Kind == Scalar {
		return nil, fmt.Errorf("jsonedit: insert %q: not an object or array", key)
	}
	if len(into.Children) == 0 {
		return t.fill(into, key, value)
	}
	last := into.Children[len(into.Children)-1]
	gap := t.gapBefore(into, len(into.Children)-1)
	prefix, lined := lastLine(gap)
	if !lined && len(into.Children) == 1 {
		gap = "" // nothing shows yet how the owner parts two of them
		if t.pretty() {
			gap = " "
		}
	}
	item, err := t.render(into, key, value, prefix, lined)
	if err != nil {
		return nil, err
	}
	return t.splice(last.Value.end, last.Value.end, ","+gap+item), nil
}

// fill puts a first child into an empty object or array.
func (t *Tree) fill(into *Node, key string, value any) ([]byte, error) {
	open, closing := t.text[into.start], t.text[into.end-1]
	lined := t.pretty() || len(t.Root.Children) == 0
	outer := t.indentOf(into.start)
	prefix := ""
	if lined {
		prefix = outer + t.unit()
	}
	item, err := t.render(into, key, value, prefix, lined)
	if err != nil {
		return nil, err
	}
	if lined {
		item = t.eol() + prefix + item + t.eol() + outer
	}
	return t.splice(into.start, into.end, string(open)+item+string(closing)), nil
}

// Replace returns the text with a scalar in the place of a value.
func (t *Tree) Replace(n *Node, value any) ([]byte, error) {
	text, err := encode(value, "", "")
	if err != nil {
		return nil, err
	}
	return t.splice(n.start, n.end, text), nil
}

// Is reports whether a value is the given literal, such as true.
func (t *Tree) Is(n *Node, literal string) bool {
	return n != nil && string(t.text[n.start:n.end]) == literal
}

// Delete returns the text without the i-th child, its comma and its blanks.
func (t *Tree) Delete(from *Node, i int) []byte {
	child := from.Children[i]
	switch {
	case len(from.Children) == 1:
		return t.splice(from.start+1, from.end-1, "")
	case i == 0:
		return t.splice(child.start, from.Children[1].start, "")
	}
	return t.splice(from.Children[i-1].Value.end, child.Value.end, "")
}

// render writes a child. Lined, its inner lines begin with prefix.
func (t *Tree) render(into *Node, key string, value any, prefix string, lined bool) (string, error) {
	name := ""
	if into.Kind == Object {
		quoted, err := encode(key, "", "")
		if err != nil {
			return "", err
		}
		name = quoted + ":"
		if lined || t.pretty() {
			name += " "
		}
	}
	unit := ""
	if lined {
		unit = t.unit()
	}
	text, err := encode(value, prefix, unit)
	return name + strings.ReplaceAll(text, "\n", t.eol()), err
}

func encode(value any, prefix, unit string) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if unit != "" {
		enc.SetIndent(prefix, unit)
	}
	if err := enc.Encode(value); err != nil {
		return "", fmt.Errorf("jsonedit: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func (t *Tree) splice(start, end int, with string) []byte {
	return slices.Concat(t.text[:start], []byte(with), t.text[end:])
}

// gapBefore is the blanks in front of the i-th child.
func (t *Tree) gapBefore(n *Node, i int) string {
	at := n.start + 1
	if i > 0 {
		at = n.Children[i-1].Value.end
	}
	gap := string(t.text[at:n.Children[i].start])
	return gap[strings.IndexByte(gap, ',')+1:]
}

// lastLine returns what stands after the last line end of a gap.
func lastLine(gap string) (prefix string, lined bool) {
	at := strings.LastIndexByte(gap, '\n')
	return gap[at+1:], at >= 0
}

// pretty reports whether the text is laid out in lines.
func (t *Tree) pretty() bool {
	return bytes.ContainsRune(bytes.TrimSpace(t.text), '\n')
}

// eol is the text's line end.
func (t *Tree) eol() string {
	if bytes.Contains(t.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// unit is one step of indentation: that of the root's first child.
func (t *Tree) unit() string {
	if len(t.Root.Children) > 0 {
		if prefix, lined := lastLine(t.gapBefore(t.Root, 0)); lined && prefix != "" {
			return prefix
		}
	}
	return "  "
}

// indentOf is the indentation of the line that holds an offset.
func (t *Tree) indentOf(at int) string {
	line := t.text[bytes.LastIndexByte(t.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
