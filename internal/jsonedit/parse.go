package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDepth bounds the nesting that Parse follows.
const maxDepth = 200

// Kind is what a node is.
type Kind byte

// The kinds of node.
const (
	Scalar Kind = iota // a string, number, boolean or null
	Object
	Array
)

// Node is a value and where it stands in the text.
type Node struct {
	Kind     Kind
	Children []Child // of an object or array, in order

	start, end int
}

// Child is a member of an object or an element of an array.
type Child struct {
	Key   string // of a member
	Value *Node

	start int // of the key, or of the value itself
}

// Get returns the member of a key, and its index for Delete. As readers of JSON
// do, it takes the last of several. A nil node has no members.
func (n *Node) Get(key string) (*Node, int) {
	if n == nil || n.Kind != Object {
		return nil, -1
	}
	for i := len(n.Children) - 1; i >= 0; i-- {
		if n.Children[i].Key == key {
			return n.Children[i].Value, i
		}
	}
	return nil, -1
}

// Tree is a parsed text.
type Tree struct {
	Root *Node
	text []byte
}

// ErrNotJSON is matched by every error of Parse.
var ErrNotJSON = errors.New("not valid JSON")

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads strict JSON, after a byte order mark if there is one.
func Parse(text []byte) (*Tree, error) {
	p := parser{text: text}
	if bytes.HasPrefix(text, byteOrderMark) {
		p.at = len(byteOrderMark)
	}
	if body := text[p.at:]; !json.Valid(body) {
		return nil, p.explain(body)
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	return &Tree{Root: root, text: text}, nil
}

// explain says where the text stops to be JSON, and names the usual cause.
func (p *parser) explain(body []byte) error {
	var any json.RawMessage
	at := len(body)
	if syntax := (*json.SyntaxError)(nil); errors.As(json.Unmarshal(body, &any), &syntax) {
		at = max(0, int(syntax.Offset)-1)
	}
	line := 1 + bytes.Count(body[:min(at, len(body))], []byte("\n"))
	hint := ""
	if at < len(body) {
		switch c := body[at]; {
		case c == '/' || c == '#':
			hint = ": comments are not allowed"
		case (c == '}' || c == ']') && bytes.HasSuffix(bytes.TrimSpace(body[:at]), []byte(",")):
			hint = ": trailing commas are not allowed"
		}
	}
	return fmt.Errorf("line %d: %w%s", line, ErrNotJSON, hint)
}

// parser walks a text that is known to be valid, to note where values stand.
type parser struct {
	text []byte
	at   int
}

func (p *parser) value(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: nested too deep", ErrNotJSON)
	}
	p.blanks()
	n := &Node{start: p.at}
	var err error
	switch p.text[p.at] {
	case '{':
		n.Kind = Object
		err = p.children(n, '}', depth)
	case '[':
		n.Kind = Array
		err = p.children(n, ']', depth)
	case '"':
		p.quoted()
	default:
		for p.at < len(p.text) && !bytes.ContainsRune([]byte(" \t\r\n,]}"), rune(p.text[p.at])) {
			p.at++
		}
	}
	n.end = p.at
	return n, err
}

func (p *parser) children(n *Node, closing byte, depth int) error {
	p.at++
	for {
		p.blanks()
		switch p.text[p.at] {
		case closing:
			p.at++
			return nil
		case ',':
			p.at++
			p.blanks()
		}
		child := Child{start: p.at}
		if n.Kind == Object {
			if err := json.Unmarshal(p.quoted(), &child.Key); err != nil {
				return fmt.Errorf("%w: key", ErrNotJSON)
			}
			p.blanks()
			p.at++ // the colon
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		child.Value = value
		n.Children = append(n.Children, child)
	}
}

// quoted passes over a string and returns it with its quotes.
func (p *parser) quoted() []byte {
	start := p.at
	for p.at++; p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	return p.text[start:p.at]
}

func (p *parser) blanks() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}
